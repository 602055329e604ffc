# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Student's t distribution, which the standard library does not have: probabilities and quantiles, any real df."""

from __future__ import annotations

import math
from statistics import NormalDist

# Steps of the continued fraction and of the search for a quantile; both end far earlier.
MOST_STEPS = 300
CLOSE = 1e-13
TINY = 1e-300


def two_sided(t: float, df: float) -> float:
    """The probability of a value at least as far from 0 as ``t``.

    >>> round(two_sided(2.776445, 4), 4)
    0.05
    """
    if math.isinf(t):
        return 0.0
    return _incomplete_beta(df / 2, 0.5, df / (df + t * t))


def variances_alike(ratio: float, df: float) -> float:
    """The probability that two equal variances, each of ``df`` degrees of freedom, differ by such a ratio (F test).

    >>> round(variances_alike(9.60453, 4), 4)
    0.05
    """
    return 2 * _incomplete_beta(df / 2, df / 2, 1 / (1 + max(ratio, 1 / ratio)))


def quantile(share: float, df: float) -> float:
    """The value below which ``share`` of the distribution lies.

    >>> round(quantile(0.975, 4), 6)
    2.776445
    """
    if share == 0.5:
        return 0.0
    if share < 0.5:
        return -quantile(1 - share, df)
    wanted = 2 * (1 - share)
    log_density = math.lgamma((df + 1) / 2) - math.lgamma(df / 2) - math.log(df * math.pi) / 2
    t = _first_guess(share, df)
    below, above = 0.0, math.inf
    for _step in range(MOST_STEPS):
        off = two_sided(t, df) - wanted
        if abs(off) <= CLOSE * wanted:
            break
        below, above = (t, above) if off > 0 else (below, t)
        density = math.exp(log_density - (df + 1) / 2 * math.log1p(t * t / df))
        ahead = t + off / (2 * density)
        if not below < ahead < above:
            ahead = (below + above) / 2 if above < math.inf else 2 * t
        if abs(ahead - t) <= CLOSE * t:
            return ahead
        t = ahead
    return t


def _first_guess(share: float, df: float) -> float:
    """Cornish and Fisher's expansion around the normal distribution; good from three degrees of freedom."""
    z = NormalDist().inv_cdf(share)
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / df + second / df**2 + third / df**3


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularized incomplete beta function."""
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    # The fraction converges fast on one side of the peak; the other side is the complement.
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(a, b, x) / a
    return 1 - front * _fraction(b, a, 1 - x) / b


def _fraction(a: float, b: float, x: float) -> float:
    """Its continued fraction, by Lentz's method."""
    c = 1.0
    d = 1 / _not_zero(1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, MOST_STEPS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / _not_zero(1 + term * d)
            c = _not_zero(1 + term / c)
            value *= d * c
        if abs(d * c - 1) < CLOSE:
            break
    return value


def _not_zero(value: float) -> float:
    return value if abs(value) > TINY else TINY
