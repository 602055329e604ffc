# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Percentiles of requests, and statistics over rounds."""

from __future__ import annotations

import math

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.measure import bootstrap
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.measure.intervals import over_rounds
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.measure.percentiles import distribution


@pytest.mark.parametrize(
    ("count", "known"),
    [
        (1, ["p50"]),
        (49, ["p50"]),
        (50, ["p50", "p90"]),
        (71, ["p50", "p90"]),
        (100, ["p50", "p90", "p95"]),
        (499, ["p50", "p90", "p95"]),
        (500, ["p50", "p90", "p95", "p99"]),
    ],
)
def test_fault_18_a_percentile_needs_five_values_beyond_it(count: int, known: list[str]) -> None:
    found = distribution([float(value) for value in range(count)], "no value")
    assert [name for name in ("p50", "p90", "p95", "p99") if found[name] is not None] == known
    assert bool(found["null_reason"]) == (count < 500)
    assert found["max"] == count - 1


def test_the_reason_names_what_is_missing() -> None:
    reason = distribution([1.0] * 60, "no value")["null_reason"]
    assert reason == "p95 needs 100, p99 needs 500 values; there are 60"


def test_b08_of_nothing_all_is_null_with_the_reason() -> None:
    found = distribution([], "no request succeeded")
    assert found["n"] == 0
    assert found["null_reason"] == "no request succeeded"
    assert {found[name] for name in ("mean", "p50", "p90", "p95", "p99", "max")} == {None}


def test_values_between_two_are_in_proportion() -> None:
    found = distribution([float(value) for value in range(101)], "")
    assert (found["p50"], found["p90"], found["p95"], found["mean"]) == (50, 90, 95, 50)


def test_the_interval_is_students_on_logarithms() -> None:
    found = over_rounds([10.0, 11.0, 12.1])
    half = 4.302653 * math.log(1.1) / math.sqrt(3)
    assert found["mean"] == pytest.approx(11.0)
    assert found["ci95"] == pytest.approx([11 * math.exp(-half), 11 * math.exp(half)], rel=1e-6)
    assert (found["median"], found["lo"], found["hi"]) == (11.0, 10.0, 12.1)
    assert found["cv"] == pytest.approx(1.05039676 / 11.0333333, abs=1e-6)


@pytest.mark.parametrize(
    ("values", "mean", "ci95"),
    [
        ([], None, None),
        ([None, None], None, None),
        ([7.0], 7.0, None),
        ([7.0, None], 7.0, None),
        ([5.0, 5.0], 5.0, [5.0, 5.0]),
        ([0.0, 0.0, 0.5], pytest.approx(1 / 6, abs=1e-6), None),
    ],
)
def test_too_few_rounds_have_no_interval(values: list[float | None], mean: float | None, ci95: object) -> None:
    found = over_rounds(values)
    assert (found["mean"], found["ci95"]) == (mean, ci95)
    assert found["rounds"] == values


def test_of_no_failures_there_is_no_spread() -> None:
    assert over_rounds([0.0, 0.0])["cv"] is None


SKEWED = [1.0, 1.1, 1.0, 1.2, 1.1, 1.0, 1.3, 1.1, 1.0, 1.2, 1.1, 4.0]


def test_many_rounds_are_resampled_and_always_alike() -> None:
    found, again = over_rounds(SKEWED), over_rounds(SKEWED)
    assert found == again
    low, high = found["ci95"]
    assert low < found["mean"] < high
    # The outlier is above, so the interval reaches further there; Student's would be as wide on both sides.
    assert math.log(high / found["mean"]) > 1.2 * math.log(found["mean"] / low)


def test_resampled_intervals_agree_with_students_where_nothing_is_skewed() -> None:
    values = [10 + 0.1 * step for step in range(-10, 11)]
    low, high = bootstrap.interval_of_mean(values)
    half = 2.0860 * 0.62048 / math.sqrt(21)
    assert (low, high) == pytest.approx((10 - half, 10 + half), abs=0.03)


def test_rounds_that_are_all_alike_have_a_point_for_an_interval() -> None:
    assert over_rounds([3.0] * 12)["ci95"] == [3.0, 3.0]
