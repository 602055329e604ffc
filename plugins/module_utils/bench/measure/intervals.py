# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the rounds of a point say together: the round is the unit, as the tokens of one round depend on each other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean, median, stdev
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.measure import bootstrap, student
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.measure.percentiles import rounded

# Up to so many rounds the interval is Student's; of more, the bootstrap needs no normal distribution.
MOST_ROUNDS_OF_T = 10
LEVEL = 0.95


def over_rounds(values: Sequence[float | None]) -> dict[str, Any]:
    """Median, smallest, greatest, mean, 95 % interval of the mean and coefficient of variation.

    Times and rates vary by factors, so where all values are above 0 the mean is the geometric one and the interval is
    that of the mean of the logarithms. Where a value is 0 (no failures, say) the mean is the arithmetic one and there
    is no interval.

    :param values: of each measured round, None where it has none; they are kept in ``rounds`` as they come
    """
    known = [value for value in values if value is not None]
    kept = [None if value is None else rounded(value) for value in values]
    if not known:
        return {"median": None, "lo": None, "hi": None, "mean": None, "ci95": None, "cv": None, "rounds": kept}
    positive = min(known) > 0
    logs = [math.log(value) for value in known] if positive else []
    average = math.exp(fmean(logs)) if positive else fmean(known)
    return {
        "median": rounded(median(known)),
        "lo": rounded(min(known)),
        "hi": rounded(max(known)),
        "mean": rounded(average),
        "ci95": [rounded(math.exp(end)) for end in interval(logs)] if len(logs) > 1 else None,
        "cv": rounded(stdev(known) / fmean(known)) if len(known) > 1 and fmean(known) > 0 else None,
        "rounds": kept,
    }


def interval(logs: Sequence[float]) -> tuple[float, float]:
    """The 95 % interval of the mean of at least two values."""
    if len(logs) > MOST_ROUNDS_OF_T:
        return bootstrap.interval_of_mean(logs, LEVEL)
    half = student.quantile((1 + LEVEL) / 2, len(logs) - 1) * stdev(logs) / math.sqrt(len(logs))
    return fmean(logs) - half, fmean(logs) + half
