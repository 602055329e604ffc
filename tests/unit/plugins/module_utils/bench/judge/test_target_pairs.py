# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Targets of one run beside each other."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.judge.pairs import pairs_of
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.bench.judge.bench_points import point, spread

TARGETS = [
    {"name": "gateway", "via": "gateway", "hosts": ["spark1", "spark2"]},
    {"name": "main-0", "via": "direct", "hosts": ["spark1"]},
    {"name": "main-1", "via": "direct", "hosts": ["spark2"]},
]
PAIR = {"name": "gateway / direct:main-0", "a": "gateway", "b": "main-0"}


def judged(*points: dict[str, Any], pairs: list[dict[str, str]] | None = None, **more: Any) -> list[dict[str, Any]]:
    return pairs_of(points, {"targets": TARGETS, "pairs": [PAIR] if pairs is None else pairs, **more})


def by_metric(*points: dict[str, Any], **more: Any) -> dict[str, dict[str, Any]]:
    return {row["metric"]: row for row in judged(*points, **more)}


def test_a_pair_is_the_ratio_of_the_first_to_the_second() -> None:
    found = by_metric(point(stats={"ttft_ms": spread(480.0), "output_tps": spread(120.0)}), point("main-0"))
    assert list(found) == ["ttft_ms", "tpot_ms", "output_tps"]
    row = found["ttft_ms"]
    assert (row["name"], row["a"], row["b"], row["case"]) == (PAIR["name"], "gateway", "main-0", "short-en")
    assert (row["ratio"], row["verdict"], row["paired"]) == (pytest.approx(1.2), "worse", True)
    assert (found["tpot_ms"]["verdict"], found["output_tps"]["verdict"]) == ("no difference", "worse")
    assert row["load"]["n"] == 4
    assert row["unlike"] == "gateway has 2 hosts behind it, main-0 has 1 host: the ratio is of unequal hardware."
    assert row["note"] == ""


def test_rounds_that_took_turns_are_compared_with_their_neighbours() -> None:
    drift = [20.0, 30.0, 40.0, 25.0, 22.0]
    slower = [value * factor for value, factor in zip(drift, (1.1, 1.11, 1.09, 1.1, 1.1), strict=True)]
    points = point(stats={"tpot_ms": slower}), point("main-0", stats={"tpot_ms": drift})
    assert by_metric(*points)["tpot_ms"]["verdict"] == "worse"


def test_a_round_without_a_figure_takes_its_neighbour_with_it() -> None:
    ours = [None, 27.5, 27.6, 27.4, 27.5]
    theirs = [90.0, 25.0, 25.0, 25.0, None]
    row = by_metric(point(stats={"tpot_ms": ours}), point("main-0", stats={"tpot_ms": theirs}))["tpot_ms"]
    assert (row["ratio"], row["verdict"]) == (pytest.approx(1.1, abs=0.001), "worse")


def test_blocks_of_two_deployments_do_not_take_turns() -> None:
    other = point("main-0", deployment="other")
    assert by_metric(point(), other)["tpot_ms"]["paired"] is False
    assert by_metric(point(), other, point("main-0"))["tpot_ms"]["paired"] is True
    assert judged(point(deployment="x"), other, point("main-0")) == []


def test_only_points_of_one_load_are_a_pair() -> None:
    assert judged(point(users=4), point("main-0", users=8)) == []


def test_without_named_pairs_gateways_and_servers_are_laid_beside_each_other() -> None:
    found = judged(point(), point("main-0"), point("main-1"), pairs=[])
    assert list(dict.fromkeys(row["name"] for row in found)) == [
        "gateway / main-0",
        "gateway / main-1",
        "main-1 / main-0",
    ]


def test_an_invalid_side_tells_nothing() -> None:
    found = judged(point(valid=False, invalid_reasons=["Sent late."]), point("main-0"))
    assert {(row["ratio"], row["verdict"]) for row in found} == {(None, "inconclusive")}
    assert found[0]["note"] == "gateway is invalid here: Sent late."


def test_natural_answers_have_no_rate_to_compare() -> None:
    cases = [{"name": "short-en", "output": {"mode": "natural"}}]
    assert list(by_metric(point(), point("main-0"), cases=cases)) == ["ttft_ms", "tpot_ms"]
