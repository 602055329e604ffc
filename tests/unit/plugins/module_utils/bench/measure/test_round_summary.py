# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From requests to the summary of a round."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.measure.summary import round_summary
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.bench.measure.bench_records import (
    failed,
    record,
    spec,
)

RATES = ("output_tps", "output_tps_steady", "total_tps", "request_rate", "goodput_rate", "prefill_tps")
OPEN = {"model": "open", "rate": 2.0, "share": None, "requests": 4}
ALONE = {"model": "series", "n": 1, "requests": 3}


def summary(records: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    steady, goodput, server, case = (more.pop(name, None) for name in ("steady", "goodput", "server", "case"))
    found: dict[str, Any] = round_summary(spec(**more), records, steady, goodput, server, case)["summary"]
    return found


def value(records: list[dict[str, Any]], metric: str, **more: Any) -> Any:
    return summary(records, **more)[metric]["value"]


def test_rates_are_of_the_time_from_the_first_request_to_the_last_token() -> None:
    late = {"t_write": 0.2, "t_first": 0.3, "t_last": 0.5, "t_end": 9.0}
    found = summary([record(0), record(1, **late)])
    assert found["output_tps"] == {"value": 44.0, "null_reason": ""}
    assert found["total_tps"]["value"] == 444.0
    assert found["request_rate"]["value"] == 4.0
    assert found["error_rate"]["value"] == 0.0


def test_distributions_are_of_requests_and_gaps_are_pooled() -> None:
    found = summary([record(0), record(1, ttft_ms=300.0, gaps_ms=[40.0] * 10, tpot_ms=40.0)])
    assert found["ttft_ms"]["p50"] == found["ttft_ms"]["mean"] == 200.0
    assert (found["itl_ms"]["n"], found["itl_ms"]["mean"]) == (20, 30.0)
    assert found["decode_tps"]["mean"] == pytest.approx((50 + 25) / 2)
    assert (found["prompt_tokens"]["mean"], found["completion_tokens"]["mean"]) == (100, 11)
    assert found["connect_ms"] == {**found["connect_ms"], "n": 0, "null_reason": "no request has it"}


@pytest.mark.parametrize(
    "records",
    [
        pytest.param([], id="nothing was sent"),
        pytest.param([failed(0), failed(1)], id="B08 all failed"),
        pytest.param([failed(0, "empty_output", "the answer has no token", t_end=0.0)], id="B08 elapsed 0.0 s"),
    ],
)
def test_b08_without_a_success_all_rates_are_null_and_say_why(records: list[dict[str, Any]]) -> None:
    found = summary(records, load=ALONE, steady={"t0": 0.0, "t1": 0.0}, goodput={"ttft_ms": 200.0})
    for metric in RATES[:4]:
        assert found[metric] == {"value": None, "null_reason": "no request succeeded"}
    assert found["ttft_ms"]["null_reason"] == "no request succeeded"
    assert {found[metric]["value"] for metric in ("prefill_tps", "stall_share", "cache_hit_rate")} == {None}
    assert found["error_rate"]["value"] == (1.0 if records else None)


def test_b08_no_time_is_no_rate() -> None:
    found = summary([record(t_last=0.0, t_end=0.0, t_first=0.0, gaps_ms=[])], steady={"t0": 0.0, "t1": 0.0})
    assert {found[metric]["value"] for metric in ("output_tps", "output_tps_steady", "request_rate")} == {None}
    assert found["output_tps"]["null_reason"].startswith("no time passed")


def test_b06_fault_20_failures_are_counted_and_never_timed() -> None:
    cut = failed(2, "stream_error", "EngineCore died", tokens={"prompt": 100, "completion": 5}, ttft_ms=1.0)
    found = round_summary(spec(), [record(0), failed(1), cut, failed(3, message="HTTP 502")], None, None)
    assert found["summary"]["ttft_ms"] == {**found["summary"]["ttft_ms"], "n": 1, "mean": 100.0, "max": 100.0}
    assert found["summary"]["output_tps"]["value"] == pytest.approx(11 / 0.3, abs=1e-5)
    assert found["summary"]["error_rate"]["value"] == 0.75
    assert found["errors"] == {"http_5xx": 2, "stream_error": 1}
    assert found["error_samples"] == [
        {"kind": "http_5xx", "message": "HTTP 500", "ids": [1, 3]},
        {"kind": "stream_error", "message": "EngineCore died", "ids": [2]},
    ]


def test_b14_the_clients_own_timeout_is_a_kind_of_its_own() -> None:
    message = "the client's own limit of 2 s for the whole answer ran out"
    found = round_summary(spec(), [failed(0, "timeout_total", message)], None, None)
    assert found["errors"] == {"timeout_total": 1}
    assert found["error_samples"][0]["message"] == message


def test_b12_tokens_are_the_servers_and_not_the_chunks() -> None:
    times = {"t_write": 0.0, "t_first": 0.0, "t_last": 1.0, "t_end": 1.0}
    four = record(chunks=4, gaps_ms=[333.0, 333.0, 334.0], tokens={"completion": 17}, **times)
    found = summary([four], steady={"t0": -0.1, "t1": 1.9})
    assert found["output_tps"]["value"] == 17.0
    assert found["output_tps_steady"]["value"] == 8.5
    assert found["tokens_per_chunk"]["mean"] == 4.25


def test_fault_4_without_a_count_there_is_no_rate_of_tokens() -> None:
    found = summary([record(0), record(1, tokens={"completion": None}, tpot_ms=None)], steady={"t0": 0.0, "t1": 0.2})
    for metric in ("output_tps", "output_tps_steady", "total_tps"):
        assert found[metric] == {"value": None, "null_reason": "the server did not say how many tokens it sent"}
    assert found["request_rate"]["value"] == pytest.approx(2 / 0.3, abs=1e-5)
    assert found["tpot_ms"]["n"] == 1


def test_b01_reasoning_without_an_answer_has_a_first_token_and_no_first_output() -> None:
    found = summary([record(ttfo_ms=None)])
    assert (found["ttft_ms"]["n"], found["ttfo_ms"]["n"]) == (1, 0)


def test_the_steady_rate_is_of_the_tokens_that_came_in_it() -> None:
    # Six of eleven tokens come from 0.1 to 0.2 s; the second request is not measured, its tokens are sent all the same.
    window = {"t0": 0.05, "t1": 0.205}
    assert value([record(0)], "output_tps_steady", steady=window) == pytest.approx(6 / 0.155, abs=1e-4)
    both = [record(0), record(1, measured=False)]
    assert value(both, "output_tps_steady", steady=window) == pytest.approx(12 / 0.155, abs=1e-4)
    assert summary([record(0)])["output_tps_steady"]["null_reason"] == "the load was never steady"


def test_what_is_not_measured_enters_nothing_else() -> None:
    found = summary([record(0), record(1, measured=False, ttft_ms=900.0), failed(2, measured=False)])
    assert (found["ttft_ms"]["n"], found["error_rate"]["value"]) == (1, 0.0)


@pytest.mark.parametrize(
    ("limits", "share"),
    [
        ({"ttft_ms": 150.0, "tpot_ms": None, "e2el_ms": None}, 1 / 3),
        ({"ttft_ms": 600.0, "tpot_ms": 20.0, "e2el_ms": None}, 2 / 3),
        ({"ttft_ms": 600.0, "tpot_ms": 19.0, "e2el_ms": None}, 0.0),
        ({"ttft_ms": None, "tpot_ms": None, "e2el_ms": 300.0}, 2 / 3),
    ],
)
def test_goodput_is_of_all_requests_and_a_failure_keeps_no_limit(limits: dict[str, float], share: float) -> None:
    found = summary([record(0), record(1, ttft_ms=500.0), failed(2)], goodput=limits)
    assert found["goodput_share"]["value"] == pytest.approx(share, abs=1e-6)
    assert found["goodput_rate"]["value"] == pytest.approx(3 * share / 0.3, abs=1e-4)


def test_goodput_without_limits_or_counts_is_not_known() -> None:
    assert summary([record()], goodput={"ttft_ms": None})["goodput_share"]["null_reason"] == "no limits were given"
    uncounted = record(tpot_ms=None, tokens={"completion": None})
    assert value([uncounted], "goodput_share", goodput={"tpot_ms": 30.0}) is None
    assert value([record(tpot_ms=None, tokens={"completion": 1})], "goodput_share", goodput={"tpot_ms": 30.0}) == 1.0


@pytest.mark.parametrize(
    ("more", "limits", "why"),
    [
        pytest.param(
            {"ttft_ms": None, "tpot_ms": None, "t_first": None},
            {"ttft_ms": 300.0, "tpot_ms": 30.0},
            "requests without a time to the first token, as their answers were not streamed",
            id="in one piece",
        ),
        pytest.param(
            {"ttft_ms": None, "tpot_ms": None, "t_first": None},
            {"tpot_ms": 30.0},
            "requests without a time per token, as their answers were not streamed",
            id="in one piece, TPOT alone",
        ),
        pytest.param(
            {"tpot_ms": None, "tokens": {"completion": None}},
            {"ttft_ms": 300.0, "tpot_ms": 30.0},
            "requests without a time per token, as the server did not count their tokens",
            id="not counted",
        ),
        pytest.param(
            {"tpot_ms": None, "gaps_ms": [0.0] * 10},
            {"tpot_ms": 30.0},
            "requests without a time per token, as all their tokens came at once",
            id="all at once",
        ),
    ],
)
def test_goodput_that_is_not_known_says_what_is_missing(
    more: dict[str, Any], limits: dict[str, float], why: str
) -> None:
    found = summary([record(0), record(1, **more)], goodput=limits)
    assert found["goodput_share"] == found["goodput_rate"] == {"value": None, "null_reason": why}


def test_a_limit_that_is_broken_is_broken_whatever_else_is_not_known() -> None:
    late = record(tpot_ms=None, tokens={"completion": None}, ttft_ms=500.0)
    for limits in ({"tpot_ms": 30.0, "ttft_ms": 150.0}, {"ttft_ms": 150.0, "tpot_ms": 30.0}):
        assert value([late], "goodput_share", goodput=limits) == 0.0


def test_fault_11_open_loads_are_timed_from_the_schedule_and_say_so() -> None:
    found = summary([record(t_sched=0.0, t_write=0.05), record(t_sched=0.0)], load=OPEN)
    assert found["ttft_ms"]["max"] == 150.0
    assert found["e2el_ms"]["max"] == 350.0
    assert found["tpot_ms"]["max"] == 20.0
    assert (found["ttft_ms"]["since"], "since" in found["tpot_ms"]) == ("schedule", False)
    assert found["dispatch_lag_p99_ms"]["value"] == pytest.approx(49.5)
    closed = summary([record()])
    assert "since" not in closed["ttft_ms"]
    assert closed["dispatch_lag_p99_ms"]["null_reason"] == "the load has no schedule"


def test_gaps_tell_stalls_and_buffers() -> None:
    found = summary([record(gaps_ms=[20.0, 20.0, 20.0, 101.0, 0.2])])
    assert (found["stall_share"]["value"], found["merged_share"]["value"]) == (0.2, 0.2)
    assert summary([record(gaps_ms=[])])["merged_share"]["value"] is None


@pytest.mark.parametrize(
    ("more", "rate"),
    [
        ({"server": {"prefix_queries": 200, "prefix_hits": 50}}, 0.25),
        ({"server": {"prefix_queries": None, "prefix_hits": None}}, None),
        ({"server": None}, None),
        ({"server": {"prefix_queries": 0, "prefix_hits": 0}}, None),
        ({"server": {"prefix_queries": 200, "prefix_hits": 50, "head_tokens": None}}, 0.25),
        ({"server": {"prefix_queries": 200, "prefix_hits": 50, "head_tokens": 50}}, 0.0),
        ({"server": {"prefix_queries": 200, "prefix_hits": 80, "head_tokens": 50}}, 0.2),
        ({"server": {"prefix_queries": 200, "prefix_hits": 0, "head_tokens": 50}}, 0.0),
        ({"server": {"prefix_queries": 40, "prefix_hits": 40, "head_tokens": 50}}, None),
    ],
)
def test_fault_9_the_cache_hit_rate_is_the_engines(more: dict[str, Any], rate: float | None) -> None:
    assert value([record()], "cache_hit_rate", **more) == rate


@pytest.mark.parametrize(
    ("records", "rate"),
    [
        pytest.param([record(), record()], 0.0, id="each brings its head"),
        pytest.param([record(), failed(status=200)], 0.0, id="a failed one that was taken, too"),
        pytest.param([record(), record(measured=False)], 0.0, id="and one that is not measured"),
        pytest.param([record(), failed(status=500)], 20 / 180, id="not one that was refused"),
        pytest.param([record(), failed(status=None)], 20 / 180, id="nor one that never came"),
    ],
)
def test_the_head_of_the_chat_template_is_of_each_request_that_was_taken(
    records: list[dict[str, Any]], rate: float
) -> None:
    counted = {"prefix_queries": 200, "prefix_hits": 40, "head_tokens": 20}
    assert value(records, "cache_hit_rate", server=counted) == pytest.approx(rate, abs=1e-5)


def test_without_counters_the_head_is_left_out_of_each_answer() -> None:
    counted = {"prefix_queries": None, "prefix_hits": None, "head_tokens": 20}
    records = [record(tokens={"cached": 36}), record(tokens={"cached": 16})]
    assert value(records, "cache_hit_rate", server=counted) == 0.1


def test_without_counters_the_answers_tell_the_cache_hit_rate() -> None:
    records = [record(tokens={"cached": 48}), record(tokens={"cached": 0})]
    assert value(records, "cache_hit_rate") == 0.24
    assert value([*records, record()], "cache_hit_rate") is None


COLD, WARM = {"name": "c", "cache": "cold"}, {"name": "c", "cache": "warm"}
TALK = {**COLD, "conversations": [["One?"], ["Two?", "Three?"]]}


def answers(*cached: int | None, prompt: int = 150) -> list[dict[str, Any]]:
    return [record(number, tokens={"prompt": prompt, "cached": one}) for number, one in enumerate(cached)]


@pytest.mark.parametrize(
    ("records", "more", "rate"),
    [
        pytest.param(answers(16, 16, 16), {"case": COLD}, 0.0, id="one block of a head that nobody tells"),
        pytest.param(answers(16, 83, 16), {"case": COLD}, 67 / 402, id="and a prompt that was seen"),
        pytest.param(answers(0, 16, 16), {"case": COLD}, 32 / 450, id="what one answer had not is no head"),
        pytest.param(answers(144, 144, 144), {"case": COLD}, 0.96, id="whole prompts are no head"),
        pytest.param(answers(75, 75), {"case": COLD}, 0.5, id="nor is half of them"),
        pytest.param(answers(16, None), {"case": COLD}, None, id="one does not say"),
        pytest.param(answers(16, 16), {"case": WARM}, 16 / 150, id="in a warm case all counts"),
        pytest.param(answers(16, 16), {"case": None}, 16 / 150, id="no case"),
        pytest.param(answers(16, 16), {"case": COLD, "server": {"head_tokens": 0}}, 16 / 150, id="there is no head"),
        pytest.param(
            answers(16, 16),
            {"case": COLD, "server": {"prefix_queries": 300, "prefix_hits": 32, "head_tokens": None}},
            0.0,
            id="counters that know no head",
        ),
        pytest.param(
            answers(16, 16),
            {"case": COLD, "server": {"prefix_queries": 300, "prefix_hits": 59, "head_tokens": None}},
            27 / 268,
            id="and more than it",
        ),
    ],
)
def test_without_tokenize_the_head_is_what_each_answer_had_in_the_cache(
    records: list[dict[str, Any]], more: dict[str, Any], rate: float | None
) -> None:
    found = value(records, "cache_hit_rate", **more)
    assert found == (None if rate is None else pytest.approx(rate, abs=1e-5))


NOBODY = "the case's prompts may be in the prefix cache, and nobody says how much of them was"


@pytest.mark.parametrize(
    ("case", "records", "speed", "why"),
    [
        pytest.param(WARM, [record()], None, NOBODY, id="warm"),
        pytest.param(TALK, [record()], None, NOBODY, id="turns repeat what was said"),
        pytest.param({**COLD, "max_share_cached": 0.5}, [record()], None, NOBODY, id="half may be cached"),
        pytest.param(COLD, [record()], 1000.0, "", id="cold"),
        pytest.param(WARM, [record(tokens={"cached": 0})], 1000.0, "", id="warm on purpose, and was not"),
        pytest.param(WARM, [record(tokens={"cached": 96})], None, "96.0% of the prompts was in the", id="warm, told"),
        pytest.param(COLD, [record(tokens={"cached": 16})], 840.0, "", id="a head that nobody tells is not computed"),
    ],
)
def test_prefill_of_prompts_that_may_be_cached(
    case: dict[str, Any], records: list[dict[str, Any]], speed: float | None, why: str
) -> None:
    found = summary(records, case=case, load=ALONE)["prefill_tps"]
    assert found["value"] == speed
    assert found["null_reason"].startswith(why)
    assert bool(found["null_reason"]) == bool(why)


@pytest.mark.parametrize(
    ("more", "speed"),
    [
        ({"load": ALONE}, 1000.0),
        ({"load": {"model": "closed", "n": 1, "requests": 3, "min_s": 0.0}}, 1000.0),
        ({}, None),
        ({"load": OPEN}, None),
        ({"load": ALONE, "server": {"prefix_queries": 100, "prefix_hits": 1}}, 1000.0),
        ({"load": ALONE, "server": {"prefix_queries": 100, "prefix_hits": 2}}, None),
        ({"load": ALONE, "server": {"prefix_queries": 100, "prefix_hits": 16, "head_tokens": 20}}, 840.0),
        ({"load": ALONE, "server": {"prefix_queries": 100, "prefix_hits": 32, "head_tokens": 20}}, None),
        ({"load": ALONE, "server": {"prefix_queries": 100, "prefix_hits": 0, "head_tokens": 20}}, 1000.0),
    ],
)
def test_prefill_is_told_of_one_user_and_prompts_that_no_cache_held(more: dict[str, Any], speed: float | None) -> None:
    assert value([record()], "prefill_tps", **more) == speed


def test_prompts_of_no_token_are_read_at_no_speed() -> None:
    found = summary([record(tokens={"prompt": 0})], load=ALONE)["prefill_tps"]
    assert (found["value"], bool(found["null_reason"])) == (None, True)


def test_answers_in_one_piece_have_no_first_token() -> None:
    nothing = dict.fromkeys(("t_first", "ttfr_ms", "ttft_ms", "ttfo_ms", "tpot_ms", "close_ms"))
    found = summary([record(gaps_ms=[], chunks=0, **nothing)], stream=False, steady={"t0": 0.0, "t1": 1.0}, load=ALONE)
    assert found["ttft_ms"]["null_reason"] == "the answers were not streamed"
    assert found["output_tps"]["value"] == pytest.approx(11 / 0.3, abs=1e-5)
    assert found["output_tps_steady"]["value"] == 11.0
    assert (found["e2el_ms"]["mean"], found["prefill_tps"]["value"]) == (300.0, None)
