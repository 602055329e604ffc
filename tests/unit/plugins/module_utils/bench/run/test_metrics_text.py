# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is read from the /metrics of engines."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.run.metrics_text import (
    foreign_tokens,
    gauges,
    samples,
    server,
)

BEFORE = """\
# HELP vllm:prompt_tokens_total Number of prefill tokens processed.
# TYPE vllm:prompt_tokens_total counter
vllm:prompt_tokens_total{engine="0",model_name="m"} 100.0
vllm:prompt_tokens_total{engine="1",model_name="a \\"b\\" } 7"} 50.0
vllm:prompt_tokens_created{engine="0",model_name="m"} 1.7e+09
vllm:prefix_cache_queries_total{engine="0"} 1000.0 1764490000000
vllm:prefix_cache_hits_total{engine="0"} 10.0
vllm:time_to_first_token_seconds_sum{engine="0"} 1.5
vllm:time_to_first_token_seconds_count{engine="0"} 10
vllm:time_to_first_token_seconds_bucket{engine="0",le="+Inf"} 10
vllm:num_requests_running{engine="0"} 3
vllm:num_requests_running{engine="1"} 4
vllm:kv_cache_usage_perc{engine="0"} 0.25
vllm:kv_cache_usage_perc{engine="1"} 0.5
vllm:num_preemptions_total{engine="0"} NaN
broken line
"""
AFTER = (
    BEFORE.replace("100.0", "180.0")
    .replace(" 1000.0 ", " 3000.0 ")
    .replace("} 10.0", "} 30.0")
    .replace("} 1.5", "} 2.5")
    .replace('count{engine="0"} 10', 'count{engine="0"} 15')
)


def counted(before: str | None, after: str | None, **more: Any) -> dict[str, Any] | None:
    looks = [tuple(samples(text) if text is not None else None for text in (before, after))]
    return server(looks, **more)  # type: ignore[arg-type]


def test_growth_is_summed_over_labels() -> None:
    found = counted(BEFORE, AFTER)
    assert found is not None
    assert (found["prompt_tokens"], found["prefix_queries"], found["prefix_hits"]) == (80.0, 2000.0, 20.0)
    assert found["ttft_ms_mean"] == 200.0


@pytest.mark.parametrize("name", ["spec_drafted", "spec_accepted", "generation_tokens", "preemptions", "queue_ms_mean"])
def test_what_is_absent_or_no_number_is_null(name: str) -> None:
    found = counted(BEFORE, AFTER)
    assert found is not None
    assert found[name] is None


def test_names_without_total_are_the_same() -> None:
    found = counted(BEFORE.replace("_total", ""), AFTER)
    assert found is not None
    assert found["prompt_tokens"] == 80.0


def test_a_counter_that_appears_has_grown_from_nothing() -> None:
    found = counted("", "vllm:num_preemptions_total 2\n")
    assert found is not None
    assert found["preemptions"] == 2.0


def test_a_counter_that_began_anew_is_null() -> None:
    found = counted(AFTER, BEFORE)
    assert found is not None
    assert found["prompt_tokens"] is None


def test_no_request_has_no_mean() -> None:
    found = counted(BEFORE, BEFORE)
    assert found is not None
    assert (found["ttft_ms_mean"], found["prompt_tokens"]) == (None, 0.0)


@pytest.mark.parametrize(("before", "after"), [(None, AFTER), (BEFORE, None), (None, None)])
def test_an_engine_that_does_not_say_leaves_all_unknown(before: str | None, after: str | None) -> None:
    assert counted(before, after) is None


def test_several_engines_are_summed_and_all_must_tell() -> None:
    both = [(samples(BEFORE), samples(AFTER)), (samples(BEFORE), samples(AFTER))]
    found = server(both)
    assert found is not None
    assert found["prompt_tokens"] == 160.0
    lone = server([both[0], (samples(""), samples("vllm:num_requests_running 1\n"))])
    assert lone is not None
    assert lone["prompt_tokens"] is None
    assert server([both[0], (samples(BEFORE), None)]) is None
    assert server([]) is None


def test_gauges_are_summed_and_shares_are_not() -> None:
    assert gauges([samples(BEFORE), None]) == {"running_max": 7.0, "kv_usage_max": 0.5}


def test_gauges_come_from_looks_under_load_alone() -> None:
    seen = [{"running_max": 4.0, "kv_usage_max": 0.1}, {"running_max": 3.0, "kv_usage_max": 0.4}]
    found = counted(BEFORE, AFTER, during=seen)
    quiet = counted(BEFORE, AFTER)
    assert found is not None and quiet is not None
    assert (found["running_max"], found["kv_usage_max"], found["waiting_max"]) == (4.0, 0.4, None)
    assert quiet["running_max"] is None


def made(tokens: int | None, error: dict[str, str] | None = None) -> dict[str, Any]:
    return {"error": error, "tokens": {"completion": tokens}}


@pytest.mark.parametrize(
    ("generated", "records", "foreign"),
    [
        (300.0, [made(128), made(128)], 44),
        # Counters are written down a moment after the last token is sent.
        (250.0, [made(128), made(128)], 0),
        (None, [made(128)], None),
        (300.0, [made(128), made(None)], None),
        (300.0, [made(128), made(20, {"kind": "truncated"})], None),
        (12.0, [], 12),
    ],
)
def test_what_engines_made_for_others(
    generated: float | None, records: list[dict[str, Any]], foreign: int | None
) -> None:
    assert foreign_tokens(generated, records) == foreign
