# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From rounds to points: what is pooled, what is left out, and what makes a point invalid."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.measure.notes import findings_of_points
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.measure.points import points_of
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.bench.measure.bench_records import (
    failed,
    played,
    record,
    spec,
)

CASE = {"name": "short-en", "cache": "cold", "max_share_cached": None}
TARGET = {"name": "gateway", "via": "gateway", "deployment": "tp1"}
OPEN = {"model": "open", "rate": 2.0, "share": None, "requests": 4}


def order(**case: Any) -> dict[str, Any]:
    return {"targets": [TARGET], "cases": [{**CASE, **case}], "goodput": {"ttft_ms": 150.0}}


def point(*rounds: dict[str, Any], **case: Any) -> dict[str, Any]:
    (found,) = points_of(rounds, order(**case))
    return found


def round_of(number: int, *records: dict[str, Any], **more: Any) -> dict[str, Any]:
    ordered = {key: more.pop(key) for key in ("warmup", "load", "point") if key in more}
    return played(spec(f"{number:04}", number, **ordered), list(records or [record()]), **more)


def test_rounds_of_a_point_are_pooled_and_their_times_added() -> None:
    found = point(round_of(1), round_of(2, record(ttft_ms=200.0)))
    assert (found["summary"]["ttft_ms"]["n"], found["summary"]["ttft_ms"]["mean"]) == (2, 150.0)
    assert found["summary"]["output_tps"]["value"] == pytest.approx(22 / 0.6, abs=1e-5)
    assert found["stats"]["ttft_ms"]["rounds"] == [100.0, 200.0]
    assert found["stats"]["tpot_ms"] == {**found["stats"]["tpot_ms"], "median": 20.0, "ci95": [20.0, 20.0], "cv": 0.0}
    assert found["summary"]["goodput_share"]["value"] == 0.5
    assert (found["deployment"], found["via"], found["valid"]) == ("tp1", "gateway", True)
    assert all("requests" not in one for one in found["rounds"])


def test_fault_19_a_warm_up_is_kept_and_in_no_figure() -> None:
    found = point(round_of(0, record(ttft_ms=5000.0), warmup=True), round_of(1), round_of(2))
    assert found["stats"]["ttft_ms"]["rounds"] == [100.0, 100.0]
    assert found["summary"]["ttft_ms"]["max"] == 100.0
    assert [one["warmup"] for one in found["rounds"]] == [True, False, False]


def test_a_dead_round_adds_its_time_and_no_tokens() -> None:
    found = point(round_of(1), round_of(2, failed(t_end=0.3)))
    assert found["summary"]["output_tps"]["value"] == pytest.approx(11 / 0.6, abs=1e-5)
    assert found["stats"]["output_tps"]["rounds"] == [pytest.approx(11 / 0.3, abs=1e-5), None]
    assert found["stats"]["error_rate"]["rounds"] == [0.0, 1.0]
    assert found["errors"] == {"http_5xx": 1}


def test_b08_a_point_without_a_success_is_told_and_invalid() -> None:
    found = point(round_of(1, failed()), round_of(2, failed()))
    assert (found["valid"], found["invalid_reasons"]) == (False, ["No request succeeded."])
    assert found["stats"]["output_tps"]["median"] is None
    assert found["token_source"] is None


def test_rounds_that_were_skipped_are_no_measurement() -> None:
    assert points_of([round_of(1, skipped="The ladder is at its end.")], order()) == []
    found = point(round_of(1), {**round_of(2, skipped="Its target is down."), "requests": [], "summary": {}})
    assert found["stats"]["ttft_ms"]["rounds"] == [100.0]
    assert len(found["rounds"]) == 2


def test_points_stand_as_they_were_begun_and_apart_by_deployment() -> None:
    other = {**round_of(2), "deployment": "tp2"}
    found = points_of([other, round_of(3, point="x"), round_of(1)], order())
    assert [(one["id"], one["deployment"]) for one in found] == [
        ("short-en/chat/gateway/n4", "tp1"),
        ("short-en/chat/gateway/n4", "tp2"),
        ("x", "tp1"),
    ]


HITS = {"prefix_queries": 1000, "prefix_hits": 20}
# Five requests of 200 tokens, of which 70 are the head of the chat template: four blocks of 16 tokens each are cached.
HEAD = {"prefix_queries": 1000, "prefix_hits": 320, "head_tokens": 70}
FIVE = [record(number) for number in range(5)]
TALK = {"conversations": [["One?"], ["Two?", "Three?"]]}


@pytest.mark.parametrize(
    ("rounds", "case", "reasons"),
    [
        pytest.param([round_of(1, server=HITS)], {}, ["2.0% of the prompts came from"], id="fault 9"),
        pytest.param([round_of(1, server=HITS)], {"cache": "warm"}, [], id="warm case"),
        pytest.param(
            [round_of(number, record(tokens={"prompt": 150, "cached": 16})) for number in (1, 2)],
            {},
            [],
            id="a head that nobody tells, of all rounds the same",
        ),
        pytest.param(
            [round_of(number, record(tokens={"prompt": 150, "cached": 144})) for number in (1, 2)],
            {},
            ["96.0% of the prompts came from"],
            id="prompts that were sent before",
        ),
        pytest.param([round_of(1, server=HITS)], {"max_share_cached": 0.03}, [], id="the case allows more"),
        pytest.param([round_of(1, server=HITS)], {"max_share_cached": 0.0}, ["(at most 0.0% in a"], id="or none"),
        pytest.param([round_of(1, server=HITS)], TALK, [], id="turns repeat what was said"),
        pytest.param([round_of(1, server=HITS)], {**TALK, "max_share_cached": 0.01}, ["2.0% of the"], id="unless told"),
        pytest.param([round_of(1, server=HITS)], {"conversations": [["One?"]]}, ["2.0% of the"], id="one turn is none"),
        pytest.param(
            [round_of(1, server={**HEAD, "head_tokens": None})],
            {},
            ["32.0% of the prompts came from"],
            id="head unknown",
        ),
        pytest.param([round_of(1, *FIVE, server=HEAD)], {}, [], id="the head of the chat template"),
        pytest.param(
            [
                round_of(1, *[record()] * 5, server={**HEAD, "prefix_hits": 396}),
                round_of(2, *[record()] * 5, server=HEAD),
            ],
            {},
            ["3.5% of the prompts behind the 70 tokens that the chat template puts before each came from"],
            id="more than the head",
        ),
        pytest.param([round_of(1, server={**HITS, "prefix_hits": 10})], {}, [], id="one percent is cold"),
        pytest.param(
            [round_of(1, record(t_sched=0.0, t_write=0.02), load=OPEN)], {}, ["20.0 ms late or more"], id="fault 11"
        ),
        pytest.param([round_of(1, record(t_sched=0.0, t_write=0.01), load=OPEN)], {}, [], id="10 ms are in time"),
        pytest.param(
            [
                round_of(0, warmup=True, valid=False, invalid_reasons=["of a warm-up"]),
                round_of(1, valid=False, invalid_reasons=["The client was late."]),
                round_of(2),
                round_of(3, valid=False, invalid_reasons=["The client was late."]),
            ],
            {},
            ["Round 1, 3: The client was late."],
            id="fault 13",
        ),
        pytest.param([round_of(1, valid=False, invalid_reasons=["late"])], {}, ["Round 1: late."], id="full stop"),
        pytest.param([round_of(1, valid=False)], {}, ["Round 1: It is marked as invalid"], id="no reason given"),
    ],
)
def test_what_makes_a_point_invalid(rounds: list[dict[str, Any]], case: dict[str, Any], reasons: list[str]) -> None:
    found = point(*rounds, **case)
    assert found["valid"] is not bool(reasons)
    assert len(found["invalid_reasons"]) == len(reasons)
    assert all(reason in said for reason, said in zip(reasons, found["invalid_reasons"], strict=True))


@pytest.mark.parametrize(
    ("tokens", "name"), [(11, "inter-token"), (12, "inter-chunk"), (44, "inter-chunk"), (None, "inter-token")]
)
def test_fault_3_gaps_between_chunks_of_several_tokens_have_another_name(tokens: int | None, name: str) -> None:
    assert point(round_of(1, record(tokens={"completion": tokens})))["itl_name"] == name


def test_fault_17_a_gateway_that_buffers_is_named() -> None:
    burst = round_of(1, record(gaps_ms=[0.1] * 6 + [20.0] * 4))
    found = point(burst)
    assert (found["streaming"], found["valid"]) == ("buffered", True)
    # The report names it once a gateway, beside the share without it: judge/findings_rounds.py.
    assert findings_of_points([found]) == []
    (direct,) = points_of([burst], {"targets": [{**TARGET, "via": "direct"}]})
    assert direct["streaming"] == "as it comes"
    assert point(round_of(1, record(gaps_ms=[])))["streaming"] is None


def test_findings_say_who_did_not_count_and_what_came_in_one_piece() -> None:
    silent = point(round_of(1, record(token_source="none", tokens={"completion": None})))
    bundled = point(round_of(1, record(tokens={"completion": 44})))
    assert [one["code"] for one in findings_of_points([silent, bundled])] == ["tokens_not_counted", "inter_chunk"]
    assert findings_of_points([point(round_of(1))]) == []


def test_the_source_of_tokens_is_of_all_requests() -> None:
    assert point(round_of(1, record(), record(token_source="tokenize")))["token_source"] == "mixed"
    assert point(round_of(1, record(), failed(token_source="none")))["token_source"] == "usage"


def test_without_an_order_targets_and_cases_are_not_known() -> None:
    (found,) = points_of([round_of(1, server=HITS)])
    assert (found["via"], found["deployment"], found["valid"]) == ("", "", True)


def test_one_answer_in_one_piece_does_not_make_the_speed_of_a_round() -> None:
    slow = [record(tpot_ms=20.0) for _one in range(4)]
    found = point(round_of(1, *slow, record(tpot_ms=0.001)))
    assert found["stats"]["decode_tps"]["median"] == pytest.approx(50, rel=0.01)
