# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ratio, interval and verdict of two sets of rounds, and how often the verdict is right."""

from __future__ import annotations

import math
import random
from collections import Counter

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.judge import holm, margins, needed, verdict
from ansible_collections.dgxspark.serving.plugins.module_utils.faults import ConfigurationError

MARGIN = math.log(1.05)
FIVE = [99.0, 100.0, 101.0, 100.5, 99.5]


def times(factor: float, values: list[float]) -> list[float]:
    return [factor * value for value in values]


@pytest.mark.parametrize(
    ("factor", "lower", "higher"),
    [
        (1.10, verdict.REGRESSION, verdict.IMPROVEMENT),
        (1 / 1.10, verdict.IMPROVEMENT, verdict.REGRESSION),
        (1.0, verdict.NO_CHANGE, verdict.NO_CHANGE),
        # Certain, and too small to count.
        (1.03, verdict.NO_CHANGE, verdict.NO_CHANGE),
        (1.045, verdict.INCONCLUSIVE, verdict.INCONCLUSIVE),
    ],
)
def test_the_verdict_is_on_the_ratio_and_on_which_way_is_better(factor: float, lower: str, higher: str) -> None:
    estimate = verdict.unpaired(times(factor, FIVE), FIVE)
    assert estimate.ratio == pytest.approx(factor)
    assert verdict.verdict(estimate, MARGIN, lower_is_better=True) == lower
    assert verdict.verdict(estimate, MARGIN, lower_is_better=False) == higher


def test_what_is_beyond_the_margin_by_chance_is_inconclusive() -> None:
    estimate = verdict.unpaired([90.0, 130.0, 110.0], [85.0, 115.0, 100.0])
    assert estimate.ratio > 1.05
    assert verdict.verdict(estimate, MARGIN, lower_is_better=True) == verdict.INCONCLUSIVE


@pytest.mark.parametrize(("ours", "theirs"), [([100.0], FIVE), (FIVE, [100.0]), ([1.0], [2.0])])
def test_a_single_round_has_no_spread_and_no_verdict(ours: list[float], theirs: list[float]) -> None:
    estimate = verdict.unpaired(ours, theirs)
    assert (estimate.interval(), estimate.p) == (None, None)
    assert verdict.verdict(estimate, MARGIN, lower_is_better=True) == verdict.INCONCLUSIVE
    assert needed.rounds_to_settle(estimate, MARGIN) is None


@pytest.mark.parametrize(("value", "word"), [(100.0, verdict.NO_CHANGE), (106.0, verdict.REGRESSION)])
def test_rounds_without_any_spread_are_certain(value: float, word: str) -> None:
    estimate = verdict.unpaired([value] * 3, [100.0] * 3)
    assert verdict.verdict(estimate, MARGIN, lower_is_better=True) == word


def test_as_many_rounds_on_both_sides_share_their_spread() -> None:
    # 95 % of t with 4 degrees of freedom is 2.7764, and the error of the difference is 0.1 * sqrt(2 / 3).
    logs = [-0.1, 0.0, 0.1]
    estimate = verdict.unpaired([math.exp(log + 0.2) for log in logs], [math.exp(log) for log in logs])
    assert estimate.df == 4
    assert estimate.half_width() == pytest.approx(2.776445 * 0.1 * math.sqrt(2 / 3), rel=1e-6)


def test_unlike_numbers_and_unlike_spreads_are_tested_by_welch() -> None:
    # Of a textbook's example: variances 1 and 4 of the logarithms with 5 and 10 rounds.
    few = [math.exp(log) for log in (-1.0, 1.0, -1.0, 1.0, 0.0)]
    many = [math.exp(2 * log) for log in (-1.0, 1.0, -1.0, 1.0, 0.0) * 2]
    errors = (1.0 / 5, 4 * 8 / 9 / 10)
    df = sum(errors) ** 2 / (errors[0] ** 2 / 4 + errors[1] ** 2 / 9)
    assert verdict.unpaired(few, many).df == pytest.approx(df)
    calm = [1.0 + 0.0001 * step for step in range(5)]
    assert verdict.unpaired(few, calm).df == pytest.approx(4, abs=0.01)
    assert verdict.unpaired(few, [1.0] * 5).df == pytest.approx(4)


def test_pairs_take_out_what_drifts() -> None:
    drift = [100.0, 120.0, 140.0, 110.0, 90.0]
    candidate = [value * factor for value, factor in zip(drift, (1.10, 1.11, 1.09, 1.10, 1.10), strict=True)]
    apart, together = verdict.unpaired(candidate, drift), verdict.paired(candidate, drift)
    assert together.ratio == pytest.approx(apart.ratio)
    assert verdict.verdict(apart, MARGIN, lower_is_better=True) == verdict.INCONCLUSIVE
    assert verdict.verdict(together, MARGIN, lower_is_better=True) == verdict.REGRESSION
    assert verdict.paired([1.1], [1.0]).interval() is None


def test_holm_is_the_textbooks() -> None:
    assert holm.adjusted([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm.adjusted([None, 0.6, None, 0.9]) == [None, 1.0, None, 1.0]
    assert holm.adjusted([]) == []


def test_a_change_that_holm_takes_for_chance_is_inconclusive() -> None:
    estimate = verdict.unpaired(times(1.10, FIVE), FIVE)
    assert verdict.verdict(estimate, MARGIN, lower_is_better=True, adjusted_p=0.051) == verdict.INCONCLUSIVE
    assert verdict.verdict(estimate, MARGIN, lower_is_better=True, adjusted_p=0.049) == verdict.REGRESSION


@pytest.mark.parametrize("log_ratio", [0.0, math.log(1.10)])
def test_the_number_of_rounds_that_is_named_does_settle_it(log_ratio: float) -> None:
    """Planned with a power of 80 %: with so many rounds at least 70 of 100 tries tell, with half of them fewer."""
    sd = 0.06
    estimate = verdict.Estimate(log_ratio, sd * math.sqrt(2 / 3), 4, 2 * sd**2, 3, paired=False)
    rounds = needed.rounds_to_settle(estimate, MARGIN)
    assert rounds is not None
    right = verdict.REGRESSION if log_ratio else verdict.NO_CHANGE
    assert share_settled(sd, rounds, log_ratio, right) >= 0.7 > share_settled(sd, rounds // 2, log_ratio, right)


def share_settled(sd: float, rounds: int, log_ratio: float, right: str) -> float:
    draw = random.Random(3)
    return sum(one_try(draw, sd, rounds, log_ratio) == right for _try in range(300)) / 300


def one_try(draw: random.Random, sd: float, rounds: int, log_ratio: float) -> str:
    ours, theirs = ([math.exp(draw.gauss(shift, sd)) for _round in range(rounds)] for shift in (log_ratio, 0.0))
    return verdict.verdict(verdict.unpaired(ours, theirs), MARGIN, lower_is_better=True)


def test_no_number_is_named_for_a_ratio_at_the_margin() -> None:
    estimate = verdict.Estimate(MARGIN * 1.001, 0.02, 4, 0.0012, 3, paired=False)
    assert needed.rounds_to_settle(estimate, MARGIN) is None


# benchmark.md 5.4, in percent: spread, rounds, equal builds called a regression and settled, a loss of 10 % found.
STATED = [
    (0.02, 3, 0.1, 37, 98.5),
    (0.02, 5, 0.0, 84, 100),
    (0.02, 8, 0.0, 99, 100),
    (0.04, 3, 1.6, 4, 59),
    (0.04, 5, 1.6, 8, 90),
    (0.04, 8, 0.7, 29, 99),
]


@pytest.mark.parametrize(("sd", "rounds", "alarms", "settled", "found"), STATED)
def test_simulated_builds_are_judged_as_often_rightly_as_is_stated(
    sd: float, rounds: int, alarms: float, settled: float, found: float
) -> None:
    """2,000 seeded trials a row, each figure within two points; `benchmarks/verdict.py` has 4,000."""
    draw = random.Random(1)
    equal: Counter[str] = Counter()
    lost = 0
    trials = 2000
    for _trial in range(trials):
        theirs, ours = ([math.exp(draw.gauss(0, sd)) for _round in range(rounds)] for _side in "ab")
        equal[verdict.verdict(verdict.unpaired(ours, theirs), MARGIN, lower_is_better=True)] += 1
        slower = verdict.unpaired(times(1.10, ours), theirs)
        lost += verdict.verdict(slower, MARGIN, lower_is_better=True) == verdict.REGRESSION
    counts = (equal[verdict.REGRESSION], equal[verdict.NO_CHANGE], lost)
    assert [100 * count / trials for count in counts] == pytest.approx([alarms, settled, found], abs=2.0)


@pytest.mark.parametrize(
    ("metric", "baseline", "less", "more"),
    [
        ("tpot_ms", 25.0, 25 / 1.05, 25 * 1.05),
        ("output_tps", 150.0, 150 / 1.05, 150 * 1.05),
        ("ttft_ms", 400.0, 400 / 1.1, 400 * 1.1),
        # 20 ms are more than a tenth of 80 ms, in both directions 20 ms.
        ("ttft_ms", 80.0, 60.0, 100.0),
        ("ttft_ms", 200.0, 180.0, 220.0),
        # Nothing is 20 ms sooner than 15 ms.
        ("ttft_ms", 15.0, 0.0, 35.0),
        ("ttft_ms", 20.0, 0.0, 40.0),
    ],
)
def test_margins(metric: str, baseline: float, less: float, more: float) -> None:
    below, above = margins.of_log_ratio(metric, baseline, margins.laid_over({}))
    assert (baseline * math.exp(-below), baseline * math.exp(above)) == pytest.approx((less, more))


def test_a_margin_may_be_another_one_in_each_direction() -> None:
    margin = (math.inf, math.log(2))
    words = {
        factor: verdict.verdict(verdict.unpaired(times(factor, FIVE), FIVE), margin, lower_is_better=True)
        for factor in (0.1, 1.9, 2.1, 1.99)
    }
    assert list(words.values()) == [verdict.NO_CHANGE, verdict.NO_CHANGE, verdict.REGRESSION, verdict.INCONCLUSIVE]
    far_below = verdict.Estimate(math.log(0.5), 0.3, 4, 0.27, 3, paired=False)
    assert needed.rounds_to_settle(far_below, margin) == needed.rounds_to_settle(far_below, (9.0, math.log(2)))
    assert needed.rounds_to_settle(far_below, (0.6931, math.log(2))) is None


def test_a_difference_of_the_last_digit_of_a_number_is_none() -> None:
    estimate = verdict.Estimate(1e-16, 0.0, 4, 0.0, 3, paired=False)
    assert estimate.p == 1.0


def test_margins_are_laid_over_the_defaults() -> None:
    assert margins.laid_over({"tpot_ms": 0.03, "itl_ms": 0.2, "ttft_ms": None, "ttft_least_ms": 0}) == {
        "ttft_least_ms": 0.0,
        "tpot_ms": 0.03,
        "output_tps": 0.05,
        "itl_ms": 0.2,
    }


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"tpot": 0.05}, "margins.tpot: found a metric that has no margin"),
        ({"tpot_ms": 5}, "margins.tpot_ms: found 5, wanted a share above 0 and below 1, such as 0.05"),
        ({"tpot_ms": 5}, "for 5 %. Write 5 % as 0.05."),
        ({"tpot_ms": 0}, "found 0,"),
        ({"tpot_ms": 0}, "or to null to leave the metric out."),
        ({"tpot_ms": True}, "found True,"),
        ({"tpot_ms": "5 %"}, "found '5 %'"),
        ({"ttft_least_ms": -1}, "wanted milliseconds, 0 or more"),
        ({"error_rate": 0.1}, "margins.error_rate: found 0.1, wanted none, for any more failed requests than before"),
        ({"ttft_ms": float("nan")}, "found nan"),
    ],
)
def test_margins_that_are_none_are_refused(given: dict[str, object], words: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        margins.laid_over(given)
    assert words in str(refused.value)
