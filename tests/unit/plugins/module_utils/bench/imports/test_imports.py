# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Results of other benchmarks become ours: figures that mean the same, null for the others, refusals for the rest.

The mock that ``*_detailed`` and ``llama_benchy_c4`` are of took 100 ms to the first of 64 tokens and 20 ms for each
other one, so 1,360 ms for an answer.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.imports import detect
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.imports.foreign import About
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result import check
from ansible_collections.dgxspark.serving.plugins.module_utils.faults import ConfigurationError

FIXTURES = Path(__file__).resolve().parents[5] / "fixtures" / "bench" / "imports"
NAMES = sorted(path.name for path in FIXTURES.glob("*.json"))


def text(name: str) -> str:
    return (FIXTURES / name).read_text(encoding="utf-8")


def imported(name: str, about: About | None = None) -> dict[str, Any]:
    return detect.result(text(name), f"/tmp/{name}", about or About(), "0.1.0")


def summary(name: str) -> dict[str, Any]:
    (point,) = imported(name)["points"]
    found: dict[str, Any] = point["summary"]
    return found


@pytest.mark.parametrize("name", NAMES)
def test_every_import_is_a_result_of_the_schema(name: str) -> None:
    result = imported(name)
    assert check.faults(result, name) == []
    assert json.loads(json.dumps(result, allow_nan=False)) == result
    for point in result["points"]:
        assert len(point["rounds"]) == 1
        # Of one round there is no interval, so nothing can be called a regression.
        assert all(figure["ci95"] is None for figure in point["stats"].values())


@pytest.mark.parametrize("name", NAMES)
def test_what_is_null_has_its_reason(name: str) -> None:
    for point in imported(name)["points"]:
        for metric, figure in point["summary"].items():
            value = figure["value"] if "value" in figure else figure["mean"]
            assert value is not None or figure["null_reason"], metric


@pytest.mark.parametrize(
    "name, tool, model, started",
    [
        ("vllm_python_detailed.json", "vllm bench serve (Python)", "mock", None),
        ("vllm_python.json", "vllm bench serve (Python)", "mock", None),
        ("vllm_rust_detailed.json", "vllm-rs bench serve (Rust)", "mock", "2026-11-30T09:28:47Z"),
        ("llama_benchy_c4.json", "llama-benchy", "mock", "2026-11-30T09:28:16Z"),
    ],
)
def test_the_tool_is_recognised_and_named(name: str, tool: str, model: str, started: str | None) -> None:
    result = imported(name)
    origin = result["tool"]["imported_from"]
    assert (origin["tool"], origin["file"], origin["digest"][:7]) == (tool, name, "sha256:")
    assert (result["deployments"][0]["model"], result["run"]["started"]) == (model, started)
    assert result["deployments"][0]["tensor_parallel_size"] is None


@pytest.mark.parametrize("name", ["vllm_python_detailed.json", "vllm_rust_detailed.json"])
def test_requests_of_vllm_give_our_figures(name: str) -> None:
    found = summary(name)
    assert found["ttft_ms"]["p50"] == pytest.approx(100, rel=0.03)
    assert found["tpot_ms"]["mean"] == pytest.approx(20, rel=0.01)
    assert found["decode_tps"]["mean"] == pytest.approx(50, rel=0.01)
    assert found["e2el_ms"]["p50"] == pytest.approx(1360, rel=0.01)
    assert found["output_tps"]["value"] == pytest.approx(512 / 2.72, rel=0.01)
    # Eight answers of 64 tokens have 504 gaps. vLLM itself counts 512, and so a mean of 19.7 ms.
    assert found["itl_ms"]["n"] == 504
    assert found["itl_ms"]["mean"] == pytest.approx(20, rel=0.01)
    assert found["merged_share"]["value"] == 0
    assert found["error_rate"]["value"] == 0


def test_without_details_vllms_own_figures_are_taken_where_they_mean_the_same() -> None:
    given, found = json.loads(text("vllm_python.json")), summary("vllm_python.json")
    assert found["ttft_ms"] == {
        "n": 8,
        "mean": round(given["mean_ttft_ms"], 6),
        "p50": round(given["median_ttft_ms"], 6),
        "p90": None,
        "p95": None,
        "p99": None,
        "max": None,
        "null_reason": "p90 needs 50, p95 needs 100, p99 needs 500 values; there are 8",
    }
    assert found["tpot_ms"]["mean"] == pytest.approx(20, rel=0.01)
    assert found["itl_ms"]["mean"] is None
    assert found["output_tps"]["value"] == round(given["output_throughput"], 6)
    assert found["decode_tps"]["p50"] == pytest.approx(50, rel=0.01)


@pytest.mark.parametrize("name", ["vllm_python.json", "vllm_rust_detailed.json"])
def test_whose_prompt_tokens_they_are_is_not_known_so_they_are_not_counted(name: str) -> None:
    # The Python client writes 8, the Rust one 64 for the same prompts.
    found = summary(name)
    for metric in ("total_tps", "prefill_tps"):
        assert found[metric]["value"] is None
    assert imported(name)["points"][0]["token_source"] == "unknown"


@pytest.mark.parametrize(
    "name, kinds, noted",
    [
        ("vllm_python_half_failed.json", {"http_5xx": 3}, False),
        ("vllm_rust_half_failed_detailed.json", {"http_5xx": 3}, False),
        ("vllm_rust_half_failed.json", {"http_5xx": 3}, False),
    ],
)
def test_b20_failures_are_counted_and_never_timed(name: str, kinds: dict[str, int], noted: bool) -> None:
    result = imported(name)
    (point,) = result["points"]
    assert point["errors"] == kinds
    assert point["summary"]["error_rate"]["value"] == 0.5
    # With zeros for the failed ones the median would be 0 to 50.
    assert point["summary"]["ttft_ms"]["n"] == 3
    assert point["summary"]["ttft_ms"]["p50"] == pytest.approx(50, rel=0.1)
    assert any("failed" in finding["text"] for finding in result["findings"]) is noted


def test_failures_without_a_kind_are_said() -> None:
    document = json.loads(text("vllm_python_half_failed.json"))
    for key in ("input_lens", "output_lens", "start_times", "ttfts", "itls", "generated_texts", "errors"):
        del document[key]
    result = detect.result(json.dumps(document), "x", About(), "0.1.0")
    assert result["points"][0]["errors"] == {}
    assert result["points"][0]["summary"]["error_rate"]["value"] == 0.5
    assert "3 of 6 requests failed" in "\n".join(finding["text"] for finding in result["findings"])


def test_b08_of_no_success_zeros_are_no_figures() -> None:
    given, result = json.loads(text("vllm_rust_all_failed.json")), imported("vllm_rust_all_failed.json")
    assert given["median_ttft_ms"] == 0.0
    (point,) = result["points"]
    assert not point["valid"]
    for metric in ("ttft_ms", "tpot_ms", "e2el_ms"):
        assert (point["summary"][metric]["mean"], point["summary"][metric]["null_reason"]) == (
            None,
            "no request succeeded",
        )
    assert point["summary"]["output_tps"] == {"value": None, "null_reason": "no request succeeded"}
    assert point["errors"] == {"http_5xx": 6}


def test_llama_benchys_rate_without_ttft_is_not_our_output_rate() -> None:
    given, found = json.loads(text("llama_benchy_c4.json")), summary("llama_benchy_c4.json")
    assert given["benchmarks"][0]["tg_throughput"]["mean"] == pytest.approx(4 * 50, rel=0.01)
    assert found["output_tps"]["value"] is None
    assert found["tpot_ms"]["p50"] == pytest.approx(20, rel=0.01)
    assert found["ttft_ms"]["p50"] == pytest.approx(100, rel=0.05)
    assert found["itl_ms"]["null_reason"] == "not in llama-benchy"


def test_each_run_of_llama_benchy_is_a_point() -> None:
    points = imported("llama_benchy_four_runs.json")["points"]
    assert [(point["id"], point["load"]["requests"]) for point in points] == [
        ("pp32-tg16/chat/imported/n1", 3),
        ("pp32-tg16/chat/imported/n2", 6),
        ("pp32-tg16-d64/chat/imported/n1", 3),
        ("pp32-tg16-d64/chat/imported/n2", 6),
    ]
    assert [case["prompt_tokens"] for case in imported("llama_benchy_four_runs.json")["cases"]] == [32, 96]


def test_what_the_user_says_lays_it_beside_our_points() -> None:
    about = About(label="forum", model="org/model", target="gateway", via="gateway", case="short-en")
    result = imported("vllm_rust_detailed.json", about)
    assert result["points"][0]["id"] == "short-en/chat/gateway/n4"
    assert result["points"][0]["via"] == "gateway"
    assert result["deployments"][0]["model"] == "org/model"
    assert result["run"]["id"].startswith("20261130T092847Z-imported-forum-")
    assert result["cases"][0]["output"] == {"mode": "fixed", "tokens": 64}


def changed(name: str, **more: Any) -> str:
    return json.dumps({**json.loads(text(name)), **more})


@pytest.mark.parametrize(
    "more, load",
    [
        ({"max_concurrency": None}, {"model": "closed", "n": 8, "requests": 8, "min_s": 0.0}),
        ({"max_concurrency": 99}, {"model": "closed", "n": 8, "requests": 8, "min_s": 0.0}),
        ({"request_rate": 2.5}, {"model": "open", "rate": 2.5, "share": None, "requests": 8}),
    ],
)
def test_the_load_of_vllm(more: dict[str, Any], load: dict[str, Any]) -> None:
    result = detect.result(changed("vllm_python.json", **more), "x", About(), "0.1.0")
    assert result["points"][0]["load"] == load


def test_results_that_were_appended_are_points_of_one_result() -> None:
    lines = "\n".join(changed("vllm_python.json", max_concurrency=users) for users in (1, 4, 8))
    result = detect.result(lines, "x", About(), "0.1.0")
    assert [point["load"]["n"] for point in result["points"]] == [1, 4, 8]


def test_nan_and_infinity_are_null() -> None:
    result = detect.result(changed("vllm_python.json", mean_ttft_ms=float("nan")), "x", About(), "0.1.0")
    assert result["points"][0]["summary"]["ttft_ms"]["mean"] is None


def test_speculative_decoding_is_kept() -> None:
    more = {"spec_decode_draft_tokens": 3000, "spec_decode_accepted_tokens": 2400}
    result = detect.result(changed("vllm_python.json", **more), "x", About(), "0.1.0")
    server = result["points"][0]["rounds"][0]["server"]
    assert (server["spec_drafted"], server["spec_accepted"], server["preemptions"]) == (3000, 2400, None)


@pytest.mark.parametrize(
    "content, words",
    [
        ("", "found an empty file"),
        ("Successful requests: 8", "found something that is not JSON"),
        ("[1, 2]", "found JSON that is a list"),
        ('{"schema": "spark_bench/1"}', "-e baseline=FILE"),
        ('{"args": {}, "metadata": {}, "benchmarks": []}', "found a JSON object with args, metadata, benchmarks,"),
        ("{}", "found a JSON object with no keys"),
        ('{"mode": "multi_turn", "backend": "openai-chat"}', "found the conversations of vllm-rs"),
        ('{"total_input_sequences": 3, "backend": "x"}', "found a result of a pooling model"),
        ('{"version": "0.4.0", "latency_mode": "none", "model": "m", "benchmarks": []}', "without a result"),
        (changed("vllm_python.json", completed="many"), "with ValueError"),
        (changed("vllm_python_detailed.json", ttfts=[None] * 8), "with TypeError"),
    ],
)
def test_what_is_none_of_these_is_refused_with_what_it_is(content: str, words: str) -> None:
    with pytest.raises(ConfigurationError) as error:
        detect.result(content, "file.json", About(), "0.1.0")
    assert words in str(error.value)
    assert "file.json" in str(error.value)
