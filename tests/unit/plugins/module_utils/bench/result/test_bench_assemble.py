# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run has found, put together: its times, what is missing of it, and no secret."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result import assemble, check, split
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result.assemble import Found


def one_round(
    identity: str, began: float | None, seconds: float, warmup: bool = False, skipped: str = ""
) -> dict[str, Any]:
    return {
        "id": identity,
        "point": "p",
        "began": began,
        "seconds": seconds,
        "warmup": warmup,
        "skipped": skipped,
        "requests": [
            {"id": 1, "error": {"kind": "http_4xx", "message": "key sk-abcdefgh12345678 is wrong"}, "sample": ""}
        ],
    }


ROUNDS = (one_round("1", 1000.0, 5.0, warmup=True), one_round("2", 1010.0, 5.0), one_round("3", 1020.0, 5.0))
ORDER = {
    "run": {"id": "r", "label": "", "suite": "quick", "seed": 1, "nonce": "00"},
    "targets": [
        {
            "name": "t",
            "via": "direct",
            "url": "http://u:hidden@h",
            "key_file": "/hidden",
            "engines": [{"key_file": "/hidden"}],
        }
    ],
    "cases": [],
    "rounds": [{"id": "1"}, {"id": "2"}, {"id": "3"}],
}


def sample(time: float) -> dict[str, Any]:
    return {"t": time}


def test_a_run_of_which_all_has_ended() -> None:
    found = assemble.result(Found(ORDER, ROUNDS, ()), "1.2.3")
    assert check.faults(found, "here") == []
    assert found["tool"]["version"] == "1.2.3"
    assert found["run"]["started"] == "1970-01-01T00:16:40Z"
    assert found["run"]["ended"] == "1970-01-01T00:17:05Z"
    assert found["run"]["interrupted"] is False


@pytest.mark.parametrize("rounds", [ROUNDS[:2], ()])
def test_a_run_of_which_something_is_missing_was_interrupted(rounds: Any) -> None:
    found = assemble.result(Found(ORDER, rounds, ()), "1")
    assert found["run"]["interrupted"] is True
    assert check.faults(found, "here") == []


def test_no_secret_gets_in() -> None:
    deployment = {"id": "d", "argv": ["--api-key", "hidden"], "env": {"HF_TOKEN": "hidden"}}
    found = assemble.result(Found(ORDER, ROUNDS, (), deployments=[deployment]), "1")
    assert "hidden" not in json.dumps(found)
    assert all("abcdefgh12345678" not in line for line in split.request_lines(ROUNDS))


def test_the_digest_is_of_what_was_asked_for() -> None:
    def digest(order: dict[str, Any]) -> str:
        return str(assemble.result(Found(order, (), ()), "1")["run"]["argv_digest"])

    assert digest(ORDER) == digest({**ORDER, "run": {"id": "another", "nonce": "ff"}})
    assert digest(ORDER) != digest({**ORDER, "rounds": [{"id": "1"}]})


def test_before_during_and_after_are_of_the_measured_rounds() -> None:
    seen = {"samples": [sample(time) for time in (1026.0, 1002.0, 1009.0, 1010.0, 1017.0, 1025.0, 1030.0)]}
    found = split.snapshots(seen, split.measured_time(ROUNDS))
    assert found["before"] == {"t": 1009.0}
    assert [one["t"] for one in found["during"]] == [1010.0, 1017.0, 1025.0]
    assert found["after"] == {"t": 1026.0}


def test_a_skipped_round_is_not_measured_time() -> None:
    skipped = one_round("4", None, 0.0, skipped="the ladder has ended")
    assert split.measured_time([*ROUNDS, skipped]) == (1010.0, 1025.0)
    assert split.measured_time([skipped, ROUNDS[0]]) is None


def test_a_host_without_samples() -> None:
    found = split.snapshots({"errors": ["spark2 could not be reached."]}, (1.0, 2.0))
    assert (found["before"], found["during"], found["after"]) == (None, [], None)
    assert found["errors"] == ["spark2 could not be reached."]
    assert split.snapshots({"samples": [sample(1.0)]}, None)["before"] == {"t": 1.0}


def test_a_result_keeps_how_far_the_clock_was_off_and_what_was_so_before_and_after() -> None:
    seen = {"clock_offset_s": 90.0, "gpu_processes": {"before": [], "after": None}}
    found = split.snapshots(seen, (1.0, 2.0))
    assert (found["clock_offset_s"], found["gpu_processes"]) == (90.0, {"before": [], "after": None})
    assert found["disk"] == {"before": None, "after": None}
    later = {"clock_offset_s": 0.0, "gpu_processes": {"before": [{"pid": 1}], "after": [{"pid": 2}]}}
    both = split.continued(found, later)
    assert (both["clock_offset_s"], both["gpu_processes"]) == (90.0, {"before": [], "after": [{"pid": 2}]})


def test_each_request_has_a_line_with_its_round() -> None:
    lines = [json.loads(line) for line in split.request_lines(ROUNDS)]
    assert [(line["round"], line["warmup"]) for line in lines] == [("1", True), ("2", False), ("3", False)]
