# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plain-text tables, and times in their cells."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence


def width(text: str) -> int:
    """Columns that a terminal needs for ``text``; Chinese characters take two."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a table with aligned columns, the header underlined; no line ends in spaces."""
    lines = [list(header), *[list(row) for row in rows]]
    widths = [max(width(line[column]) for line in lines) for column in range(len(header))]
    lines.insert(1, ["-" * columns for columns in widths])
    return [
        "  ".join(cell + " " * (columns - width(cell)) for cell, columns in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]


def span(seconds: int | None) -> str:
    """A time in its two greatest units.

    >>> span(42), span(3700), span(200000)
    ('42s', '1h01m', '2d07h')
    """
    if seconds is None:
        return "-"
    for size, unit, below, smaller in ((86400, "d", 3600, "h"), (3600, "h", 60, "m"), (60, "m", 1, "s")):
        if seconds >= size:
            return f"{seconds // size}{unit}{seconds % size // below:02d}{smaller}"
    return f"{seconds}s"
