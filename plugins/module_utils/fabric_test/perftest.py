# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What ``ib_write_bw`` and ``ib_write_lat`` of the package perftest measured."""

from __future__ import annotations

import re

_NUMBER = re.compile(r"-?\d+(\.\d+)?")
# Columns before the values: bytes and iterations.
_LEADING = 2
_AVERAGE_BANDWIDTH = 3
_TYPICAL_LATENCY = 4


def bandwidth(text: str) -> float:
    """The average of ``ib_write_bw --report_gbits``, in Gb/s; of several sizes the best.

    :raises ValueError: with the tool's own words
    """
    if "Gb/sec" not in text:
        raise ValueError(_words(text))
    return max(_column(text, _AVERAGE_BANDWIDTH))


def latency(text: str) -> float:
    """The typical latency of ``ib_write_lat``, in microseconds; of several sizes the least.

    :raises ValueError: with the tool's own words
    """
    if "[usec]" not in text:
        raise ValueError(_words(text))
    return min(_column(text, _TYPICAL_LATENCY))


def _column(text: str, number: int) -> list[float]:
    # A row is known by its numbers: versions differ in their banner, and pages break long rows with a backslash.
    rows = [line.split() for line in text.replace("\\\n", " ").splitlines()]
    values = [
        float(row[number])
        for row in rows
        if len(row) > number and all(_NUMBER.fullmatch(word) for word in row) and "." not in row[0] + row[1]
    ]
    if not values:
        raise ValueError(_words(text))
    return values


def _words(text: str) -> str:
    """The last line that says something."""
    lines = [" ".join(line.split()) for line in text.splitlines() if line.strip(" -")]
    return lines[-1][-200:] if lines else "the tool said nothing"
