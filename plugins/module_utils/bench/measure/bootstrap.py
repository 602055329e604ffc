# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A confidence interval without an assumption about the distribution: the bootstrap of Efron, BCa."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from statistics import NormalDist, fmean

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.measure.percentiles import percentile

RESAMPLES = 2000
# The same values give the same interval, in whichever run they are read.
SEED = 20260101


def interval_of_mean(values: Sequence[float], level: float = 0.95) -> tuple[float, float]:
    """The BCa interval of the mean of at least two values: corrected for bias and for skewness."""
    mean = fmean(values)
    if min(values) == max(values):
        return mean, mean
    draw = random.Random(SEED)
    count = len(values)
    means = sorted(fmean(draw.choices(values, k=count)) for _number in range(RESAMPLES))
    bias = _normal().inv_cdf(_share_below(means, mean))
    acceleration = _acceleration(values)
    tail = (1 - level) / 2
    low, high = (percentile(means, _corrected(share, bias, acceleration)) for share in (tail, 1 - tail))
    return low, high


def _normal() -> NormalDist:
    return NormalDist()


def _share_below(means: Sequence[float], mean: float) -> float:
    """How many resampled means are below the true one, ties half; never 0 or 1, whose quantiles are infinite."""
    below = sum(one < mean for one in means) + sum(one == mean for one in means) / 2
    least = 0.5 / len(means)
    return min(max(below / len(means), least), 1 - least)


def _acceleration(values: Sequence[float]) -> float:
    """From the means that leave one value out each time."""
    total = math.fsum(values)
    without = [(total - value) / (len(values) - 1) for value in values]
    centre = fmean(without)
    squares = math.fsum((centre - one) ** 2 for one in without)
    cubes = math.fsum((centre - one) ** 3 for one in without)
    return cubes / (6 * squares**1.5) if squares else 0.0


def _corrected(share: float, bias: float, acceleration: float) -> float:
    z = bias + _normal().inv_cdf(share)
    return _normal().cdf(bias + z / (1 - acceleration * z))
