# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether two sets of rounds differ: ratio, interval, and a verdict that may also be that they do not tell.

All is done with logarithms, so that twice as slow and half as fast are as far from 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, variance

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.measure import student

REGRESSION = "regression"
IMPROVEMENT = "improvement"
NO_CHANGE = "no change"
INCONCLUSIVE = "inconclusive"

ALPHA = 0.05
# Log ratios below this are none: figures are rounded to six decimals, and their sums to sixteen digits.
NOTHING = 1e-12
# Spreads so unlike that equal ones would be so in 1 of 100 comparisons are not pooled.
UNLIKE_SPREADS = 0.01


@dataclass(frozen=True)
class Estimate:
    """How far the candidate is from the baseline.

    :ivar log_ratio: of the candidate to the baseline
    :ivar error: its standard error; None with a single round, which has no spread
    :ivar df: degrees of freedom of that error
    :ivar spread: variance of the log ratio of one round of each
    :ivar rounds: of the side that has fewer
    :ivar paired: whether each round was compared with its neighbour in time
    """

    log_ratio: float
    error: float | None
    df: float
    spread: float
    rounds: int
    paired: bool

    @property
    def ratio(self) -> float:
        """Candidate / baseline."""
        return math.exp(self.log_ratio)

    @property
    def p(self) -> float | None:
        """How likely so great a difference is between equal builds; None when the spread is not known."""
        if self.error is None:
            return None
        if self.error == 0:
            return 0.0 if abs(self.log_ratio) > NOTHING else 1.0
        return student.two_sided(self.log_ratio / self.error, self.df)

    def half_width(self, alpha: float = ALPHA) -> float | None:
        """Half the interval of the log ratio."""
        if self.error is None:
            return None
        return self.error * student.quantile(1 - alpha / 2, self.df) if self.error else 0.0

    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of the ratio."""
        half = self.half_width()
        return None if half is None else (math.exp(self.log_ratio - half), math.exp(self.log_ratio + half))


def unpaired(candidate: Sequence[float], baseline: Sequence[float]) -> Estimate:
    """Of rounds that were measured apart; all values are above 0, at least one on each side.

    Two sides with as many rounds share one spread, as Student's test has it: it tells more than Welch's from three or
    five rounds, and its level hardly moves when the spreads differ. Sides with unlike numbers or with clearly unlike
    spreads are tested by Welch.
    """
    ours, theirs = [math.log(value) for value in candidate], [math.log(value) for value in baseline]
    difference = fmean(ours) - fmean(theirs)
    fewer = min(len(ours), len(theirs))
    if fewer < 2:
        return Estimate(difference, None, 0.0, 0.0, fewer, paired=False)
    spreads = (variance(ours), variance(theirs))
    errors = [spread / len(side) for spread, side in zip(spreads, (ours, theirs), strict=True)]
    df = float(len(ours) + len(theirs) - 2)
    if len(ours) != len(theirs) or _unlike(spreads, len(ours)):
        df = _welch(errors, (len(ours), len(theirs)), df)
    return Estimate(difference, math.sqrt(sum(errors)), df, sum(spreads), fewer, paired=False)


def _unlike(spreads: Sequence[float], rounds: int) -> bool:
    """The F test of two variances."""
    if min(spreads) == 0:
        return max(spreads) > 0
    return student.variances_alike(max(spreads) / min(spreads), rounds - 1) < UNLIKE_SPREADS


def _welch(errors: Sequence[float], rounds: Sequence[int], otherwise: float) -> float:
    """Degrees of freedom by Welch and Satterthwaite."""
    parts = sum(error**2 / (count - 1) for error, count in zip(errors, rounds, strict=True))
    return sum(errors) ** 2 / parts if parts else otherwise


def paired(candidate: Sequence[float], baseline: Sequence[float]) -> Estimate:
    """Of rounds that took turns (ABBA): each with its neighbour, so that what drifts in time falls out."""
    differences = [math.log(ours / theirs) for ours, theirs in zip(candidate, baseline, strict=True)]
    count = len(differences)
    if count < 2:
        return Estimate(fmean(differences), None, 0.0, 0.0, count, paired=True)
    spread = variance(differences)
    return Estimate(fmean(differences), math.sqrt(spread / count), float(count - 1), spread, count, paired=True)


def verdict(
    estimate: Estimate,
    margin: float | tuple[float, float],
    *,
    lower_is_better: bool,
    adjusted_p: float | None = None,
) -> str:
    """Regression, improvement, no change or inconclusive.

    A change is one when the interval leaves out 1 and the ratio is beyond the margin; ``no change`` is when the whole
    interval lies within the margin (two one-sided tests). Anything else does not tell.

    :param margin: as :func:`margins.of_log_ratio` gives it, or one number for both directions
    :param adjusted_p: by Holm when several comparisons are made; None when it is the only one
    """
    half = estimate.half_width()
    p = estimate.p if adjusted_p is None else adjusted_p
    if half is None or p is None:
        return INCONCLUSIVE
    below, above = both_ways(margin)
    if p < ALPHA and not -below <= estimate.log_ratio <= above:
        return REGRESSION if (estimate.log_ratio > 0) == lower_is_better else IMPROVEMENT
    return NO_CHANGE if -below < estimate.log_ratio - half and estimate.log_ratio + half < above else INCONCLUSIVE


def both_ways(margin: float | tuple[float, float]) -> tuple[float, float]:
    """The margin of a smaller figure and that of a greater one."""
    return margin if isinstance(margin, tuple) else (margin, margin)
