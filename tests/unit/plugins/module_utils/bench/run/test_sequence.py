# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which rounds are still to be played, and why one is not."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.run import sequence
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.bench.run.run_rounds import played, spec, step

FAILED = {"requests": [{"error": {"kind": "connect"}}] * 3}
OPEN = {"model": "open", "rate": None, "share": 0.5, "requests": 40}


def dead_after(*rounds: dict[str, Any]) -> sequence.DeadTargets:
    dead = sequence.DeadTargets()
    for one in rounds:
        dead.saw(one)
    return dead


def failed(target: str = "gateway", kind: str = "connect", began: bool = False, **more: Any) -> dict[str, Any]:
    samples = [{"kind": kind, "message": "no connection" if kind == "connect" else f"a {kind}", "ids": [1]}]
    requests = [{"error": {"kind": kind}, "ttfr_ms": 5.0 if began else None}] * 3
    one = played(spec(target=target, **more), succeeded=0, requests=requests)
    return {**one, "errors": {kind: 3}, "error_samples": samples}


def why(dead: sequence.DeadTargets, target: str = "gateway", **more: Any) -> str:
    return dead.why(spec(target=target, **more))[0]


@pytest.mark.parametrize(
    ("one", "succeeded"),
    [
        ({"requests": [{"error": None}, {"error": {"kind": "connect"}}]}, 1),
        (FAILED, 0),
        ({"requests": []}, 0),
        ({"succeeded": 5}, 5),
    ],
)
def test_what_is_known_of_a_round(one: dict[str, Any], succeeded: int) -> None:
    whole = {**played(spec()), **one}
    if "succeeded" not in one:
        del whole["succeeded"]
    whole["summary"] = {**whole["summary"], "itl_ms": {"p50": 20.0}}
    known = sequence.known_of(whole)
    assert known["succeeded"] == succeeded
    assert set(known["summary"]) == {"output_tps", "output_tps_steady", "request_rate", "ttft_ms"}
    assert "requests" not in known
    assert sequence.known_of(known) == known


def test_three_rounds_in_a_row_without_success_end_a_target() -> None:
    assert why(dead_after(failed(), failed())) == ""
    assert dead_after(failed(), failed(), failed()).why(spec(case="other")) == (
        "gateway answered no request of 3 rounds in a row (the last: no connection).",
        "dead",
    )
    assert why(dead_after(failed(), failed(), failed()), "main-0") == ""
    assert why(dead_after(failed(), failed(), played(spec()), failed())) == ""
    assert why(dead_after(failed(), failed("main-0"), failed(), failed("main-0"))) == ""


@pytest.mark.parametrize(
    "kind", ["connect", "dns", "tls", "timeout_connect", "timeout_ttft", "timeout_idle", "timeout_total", "http_5xx",
             "truncated"]
)  # fmt: skip
def test_a_target_that_begins_no_answer_is_dead_for_all_its_cases(kind: str) -> None:
    dead = dead_after(*[failed(kind=kind)] * 3)
    assert dead.why(spec(case="other", endpoint="responses"))[1] == "dead"


@pytest.mark.parametrize(
    ("kind", "began"),
    [
        ("http_4xx", False),
        ("http_429", False),
        ("short_output", True),
        ("stream_error", True),
        ("bad_json", False),
        # Somebody cuts or stalls long answers: it is not away.
        ("truncated", True),
        ("timeout_idle", True),
        ("timeout_total", True),
    ],
)
def test_a_target_that_answers_loses_only_the_case_that_fails(kind: str, began: bool) -> None:
    dead = dead_after(*[failed(kind=kind, began=began)] * 3)
    words = f"No request of 3 rounds of short.en by chat at gateway succeeded in a row (the last: a {kind})."
    assert dead.why(spec()) == (words, "refused")
    for other in ({"case": "long.en"}, {"endpoint": "responses"}, {"target": "main-0"}):
        assert dead.why(spec(**other)) == ("", "")


def test_what_a_target_answers_shows_that_it_is_alive() -> None:
    refused = failed(kind="http_4xx", case="long.en")
    assert why(dead_after(failed(), failed(), refused, failed())) == ""
    # While it is away, a case neither fails nor works.
    assert dead_after(refused, refused, failed(case="long.en"), refused).why(spec(case="long.en"))[1] == "refused"
    assert why(dead_after(refused, refused, played(spec(case="long.en")), refused), case="long.en") == ""


@pytest.mark.parametrize(
    ("one", "done", "dead", "kind", "why"),
    [
        (spec(), [], dead_after(), "", ""),
        (spec(), [], dead_after(failed(), failed(), failed()), "dead", "gateway answered no request"),
        (spec(target="main-0"), [], dead_after(failed(), failed(), failed()), "", ""),
        (spec(), [], dead_after(*[failed(kind="http_4xx")] * 3), "refused", "of short.en by chat at gateway succeeded"),
        (step(16, None), [step(4, 300), step(8, 301)], dead_after(), "ladder", "The ladder is at its end"),
        (step(8, None), [step(4, 300)], dead_after(), "", ""),
        (spec(load=OPEN), [step(8, 300)], dead_after(), "", ""),
        (spec(load=OPEN), [], dead_after(), "no_knee", "no ladder of its case and target"),
        (spec(load=OPEN, ladder="knee"), [step(4, 300), step(8, 301)], dead_after(), "", ""),
    ],
)
def test_skip(one: dict[str, Any], done: list[Any], dead: sequence.DeadTargets, kind: str, why: str) -> None:
    words, found = sequence.skip(one, done, dead, None)
    assert found == kind
    assert why in words
    assert bool(words) == bool(why)


def test_a_resumed_run_plays_what_is_missing_and_what_a_dead_target_missed() -> None:
    done = [
        played(spec("0001")),
        played(spec("0002"), skipped="It is dead.", skip_kind="dead"),
        played(spec("0003"), skipped="The ladder is at its end.", skip_kind="ladder"),
        played(spec("0004"), succeeded=0),
        played(spec("0005"), skipped="It refuses the case.", skip_kind="refused"),
    ]
    held = [one["id"] for one in sequence.held(done)]
    assert held == ["0001", "0003", "0004"]
    rounds = [spec(f"{number:04}") for number in range(1, 7)]
    assert [one["id"] for one in sequence.rest(rounds, held)] == ["0002", "0005", "0006"]
    assert list(sequence.rest(rounds, [one["id"] for one in rounds])) == []
