# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How values of requests are distributed, with percentiles only where there are enough values to know them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

# A percentile is known when at least five values lie beyond it; the median is from one value on.
NEEDED = (("p50", 0.50, 1), ("p90", 0.90, 50), ("p95", 0.95, 100), ("p99", 0.99, 500))
DECIMALS = 6


def percentile(values: Sequence[float], share: float) -> float:
    """Between the two nearest values, in proportion; ``values`` are sorted and at least one.

    >>> percentile([1.0, 2.0, 4.0], 0.75)
    3.0
    """
    place = share * (len(values) - 1)
    below = math.floor(place)
    above = min(below + 1, len(values) - 1)
    return values[below] + (values[above] - values[below]) * (place - below)


def distribution(values: Sequence[float], why_none: str) -> dict[str, Any]:
    """Number, mean, percentiles and maximum; null with the reason where there is no value or where it is not known.

    :param why_none: the reason when there is no value at all
    """
    ordered = sorted(values)
    count = len(ordered)
    if not ordered:
        return {
            "n": 0,
            "mean": None,
            **{name: None for name, _share, _needed in NEEDED},
            "max": None,
            "null_reason": why_none,
        }
    known = {name: rounded(percentile(ordered, share)) if count >= needed else None for name, share, needed in NEEDED}
    missing = [f"{name} needs {needed}" for name, _share, needed in NEEDED if count < needed]
    return {
        "n": count,
        "mean": rounded(math.fsum(ordered) / count),
        **known,
        "max": rounded(ordered[-1]),
        "null_reason": f"{', '.join(missing)} values; there are {count}" if missing else "",
    }


def scalar(value: float | None, why_none: str) -> dict[str, Any]:
    """One figure, or null with the reason."""
    if value is None:
        return {"value": None, "null_reason": why_none}
    return {"value": rounded(value), "null_reason": ""}


def rounded(value: float) -> float:
    """Without the digits that nobody measured."""
    return round(value, DECIMALS)
