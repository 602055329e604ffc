# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ours beside a second source: what its JSON says, when the two agree, and in which words it is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.second import comparison

IMPORTS = Path(__file__).parents[5] / "fixtures" / "bench" / "imports"
COUNTS = {"requests": 8, "failed": 0, "prompt_tokens": 139.0, "message": ""}
POINT = "short-en/chat/direct:main-0/n1"


def document(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((IMPORTS / name).read_text("utf-8"))
    return found


def point(**more: Any) -> dict[str, Any]:
    """A point of three rounds, one of which was stamped too late, behind one that warmed up."""
    given = {"ttft_ms": (100.0, 98.0, 104.0), "tpot_ms": (20.0, 19.9, 20.2), **more}
    rounds = [
        {
            "warmup": False,
            "skipped": "",
            "valid": True,
            "summary": {metric: {"p50": values[number]} for metric, values in given.items() if values},
        }
        for number in range(3)
    ]
    slow = {"summary": {"ttft_ms": {"p50": 900.0}, "tpot_ms": {"p50": 90.0}}}
    others = [{**rounds[0], **slow, "warmup": True}, {**rounds[0], **slow, "valid": False}]
    return {
        "id": POINT,
        "case": "short-en",
        "target": "main-0",
        "load": {"model": "closed", "n": 1},
        "summary": {"prompt_tokens": {"p50": 141}},
        "rounds": [*others, *rounds],
    }


def asked(**figures: float | None) -> dict[str, Any]:
    """What vllm-rs found at this point."""
    found = {"ttft_ms": 100.0, "tpot_ms": 20.0, "e2el_ms": 2640.0, "output_tps": 48.4, **figures}
    one = {"point": POINT, "figures": {**COUNTS, **found}}
    return {"host": "spark1", "program": "/x/vllm-rs", "version": "0.33.0", "asked": [one], "notes": []}


def row(given: dict[str, Any], of: dict[str, Any] | None = None) -> dict[str, Any]:
    section = comparison.compared(given, [of or point()])
    assert section is not None
    [found] = section["rows"]
    return dict(found)


def test_the_figures_of_its_requests() -> None:
    found = comparison.figures_of(document("vllm_rust_detailed.json"))
    assert (found["requests"], found["failed"]) == (8, 0)
    given = document("vllm_rust_detailed.json")
    assert found["tpot_ms"] == pytest.approx(given["median_tpot_ms"], rel=0.001)
    assert found["ttft_ms"] == pytest.approx(given["median_ttft_ms"], rel=0.001)
    assert found["prompt_tokens"] == given["total_input_tokens"] / 8


def test_the_figures_of_a_real_vllm() -> None:
    """In the lab: vllm-rs 0.33.0 within the container of vLLM 0.32.0 on a busy processor."""
    given = json.loads((IMPORTS.parent / "second" / "vllm_rs_n1.json").read_text("utf-8"))
    found = comparison.figures_of(given)
    assert (found["requests"], found["failed"], found["prompt_tokens"], found["message"]) == (8, 0, 126.0, "")
    assert found["tpot_ms"] == pytest.approx(given["median_tpot_ms"], rel=0.02)
    assert found["ttft_ms"] == pytest.approx(given["median_ttft_ms"], rel=0.001)
    assert found["e2el_ms"] == pytest.approx(given["median_e2el_ms"], rel=0.02)
    assert found["output_tps"] == pytest.approx(given["output_throughput"], rel=0.01)


def test_rounds_that_were_stamped_too_late_count_where_there_are_no_others() -> None:
    late = point()
    late["rounds"] = late["rounds"][:2]
    assert row(asked(), late)["metrics"]["tpot_ms"]["ours"] == 90.0


def test_nothing_but_failures_has_no_figures() -> None:
    found = comparison.figures_of(document("vllm_rust_all_failed.json"))
    assert [found[metric] for metric in comparison.METRICS] == [None] * 4
    assert (found["requests"], found["failed"] > 0) == (0, True)
    assert row(asked(**dict.fromkeys(comparison.METRICS)))["agrees"] is None


def test_its_failures_are_said() -> None:
    found = comparison.figures_of(document("vllm_rust_half_failed_detailed.json"))
    given = asked()
    given["asked"][0]["figures"] = found
    section = comparison.compared(given, [point()])
    assert section is not None
    assert section["notes"] == [
        f'{POINT}: 3 of 6 requests of vllm-rs failed (HTTP 500 Internal Server Error: {{"error":"boom"}}).'
    ]
    given["asked"][0]["figures"] = {**found, "message": ""}
    section = comparison.compared(given, [point()])
    assert section is not None
    assert section["notes"] == [f"{POINT}: 3 of 6 requests of vllm-rs failed."]


@pytest.mark.parametrize("other", [{}, {"num_prompts": 3}, {"completed": "many"}])
def test_what_is_no_result_is_refused(other: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r".+"):
        comparison.figures_of(other)


@pytest.mark.parametrize(
    ("figures", "agrees"),
    [
        ({}, True),
        ({"tpot_ms": 20.6}, True),
        ({"tpot_ms": 20.61}, False),
        ({"tpot_ms": 19.51}, True),
        ({"tpot_ms": 19.49}, False),
        ({"ttft_ms": 109.0}, True),
        ({"ttft_ms": 109.1}, False),
        ({"ttft_ms": 93.0}, True),
        ({"ttft_ms": 92.9}, False),
        ({"output_tps": 1.0}, True),
        ({"tpot_ms": None}, None),
    ],
)
def test_within_2_percent_and_5_ms_of_the_range_of_our_rounds(figures: dict[str, Any], agrees: bool | None) -> None:
    assert row(asked(**figures))["agrees"] is agrees


def test_a_row_has_both_and_their_ratio() -> None:
    found = row(asked(tpot_ms=16.0))
    assert found["metrics"]["tpot_ms"] == {"ours": 20.0, "lo": 19.9, "hi": 20.2, "second": 16.0, "ratio": 1.25}
    assert found["metrics"]["output_tps"] == {"ours": None, "lo": None, "hi": None, "second": 48.4, "ratio": None}
    assert found["prompt_tokens"] == {"ours": 141, "second": 139.0}
    assert row(asked(), point(tpot_ms=None))["agrees"] is None


def test_a_disagreement_is_a_finding_and_agreement_is_none() -> None:
    section = comparison.compared(asked(tpot_ms=25.0, ttft_ms=60.0), [point()])
    [found] = comparison.findings_of(section)
    assert (found["code"], found["severity"]) == ("second_source", "warning")
    assert found["text"] == (
        f"{POINT}: found TPOT 20.0 ms by ours and 25.0 ms by vllm-rs, TTFT 100 ms by ours and 60.0 ms by vllm-rs, "
        "wanted TPOT within 2 % and TTFT within 5 ms of our rounds. "
        "Measure again with nobody else on the server; when it stays, report it with result.json."
    )
    assert comparison.findings_of(comparison.compared(asked(), [point()])) == []
    assert comparison.findings_of(comparison.compared(asked(tpot_ms=None), [point()])) == []
    assert comparison.findings_of(None) == []


def test_a_sentence_says_what_agrees() -> None:
    section = comparison.compared(asked(), [point()])
    assert section is not None
    agrees = "agrees at {} of 1 points: TPOT within 2 %, TTFT within 5 ms of the range of our rounds."
    head = "vllm-rs bench serve 0.33.0, run in the engine's container on spark1 after our rounds, "
    assert comparison.sentence(section) == head + agrees.format(1)
    unknown = comparison.compared(asked(tpot_ms=None), [point()])
    assert unknown is not None
    assert comparison.sentence(unknown) == f"{head}{agrees.format(0)} 1 could not be judged."


def test_a_note_is_kept_and_nothing_is_nothing() -> None:
    section = comparison.compared({"host": "", "points": [], "notes": ["vllm-rs was not asked."]}, [])
    assert section is not None
    assert (section["rows"], section["notes"]) == ([], ["vllm-rs was not asked."])
    assert comparison.sentence(section) == ""
    assert comparison.compared({"host": "", "points": [], "notes": []}, []) is None
    assert comparison.compared({}, []) is comparison.compared(None, []) is None


def test_a_point_that_the_run_has_not_is_left_out() -> None:
    section = comparison.compared(asked(), [])
    assert section is not None
    assert section["rows"] == []
