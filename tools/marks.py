# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables of a page that the code writes, between marks that the page itself has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path


def table(header: str, rows: Iterable[Iterable[str]]) -> str:
    """A table of Markdown; ``header`` separates its names by `` | ``."""
    names = header.split(" | ")
    lines = [names, ["---"] * len(names), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def between_marks(page: Path, text: str, found: Mapping[str, str]) -> str:
    """The page's text with its tables anew.

    :raises ValueError: a table has no marks in the page
    """
    for name, content in found.items():
        start, end = f"<!-- {name} -->\n", f"<!-- {name} end -->"
        before, mark, rest = text.partition(start)
        after = rest.partition(end)
        if not mark or not after[1]:
            raise ValueError(f"{page} has no marks for {name}")
        text = f"{before}{mark}{content}{end}{after[2]}"
    return text
