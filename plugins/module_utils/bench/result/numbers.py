# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How figures of a report are written: with as many digits as they are worth."""

from __future__ import annotations

import math
from typing import Any

NOT_KNOWN = "n/a"
DIGITS = 3
GIB = 1024**3


def figure(value: Any) -> str:
    """A number with three digits that count, and no fewer than its whole part has.

    >>> figure(1234.5), figure(45.678), figure(0.01234), figure(8), figure(None)
    ('1,234', '45.7', '0.0123', '8', 'n/a')
    """
    if value is None or isinstance(value, str):
        return value or NOT_KNOWN
    if value == 0 or isinstance(value, int):
        return f"{value:,.0f}"
    rounded = float(f"{value:.{DIGITS - 1}e}")
    decimals = DIGITS - 1 - math.floor(math.log10(abs(rounded)))
    return f"{value:,.{min(max(decimals, 0), 6)}f}"


def share(value: float | None) -> str:
    """A share as a percentage.

    >>> share(0.0625), share(1.0), share(0.0)
    ('6.25 %', '100 %', '0 %')
    """
    return NOT_KNOWN if value is None else f"{figure(value * 100)} %"


def interval(ends: Any) -> str:
    """The ends of an interval, ``340-352`` with a dash; nothing when they are not known."""
    if not ends or None in ends:
        return ""
    return f"{figure(ends[0])}\u2013{figure(ends[1])}"


def gib(size: float | None) -> str:
    """Bytes in GiB.

    >>> gib(64 * 1024 ** 3)
    '64.0'
    """
    return NOT_KNOWN if size is None else figure(size / GIB)
