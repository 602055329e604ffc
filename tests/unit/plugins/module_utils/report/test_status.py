# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the status says of ranks, of hosts without one, and of what the inventory wants."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.report.status import lines, rows

NAME = "dgxspark-tp1-0-r0"
GENERATION = "0123456789ab"
NOW = 1000.0
REFUSAL = "the engine refuses our key (401): wrong or missing key in /etc/dgxspark-serving/engine.key"


def rank(**changes: Any) -> dict[str, Any]:
    return {
        "name": NAME,
        "replica": "tp1-0",
        "rank": 0,
        "generation": GENERATION,
        "image_id": "sha256:fedcba987654321000",
        "status": "running",
        "exit_code": 0,
        "oom_killed": False,
        "api": "http://127.0.0.1:8000",
        "health": 200,
        "served": ["qwen"],
        **changes,
    }


def live(**changes: Any) -> dict[str, Any]:
    return {
        "phase": "serving",
        "since": 900.0,
        "restarts": 0,
        "last_restart": None,
        "tokens_per_second": 31.44,
        "requests_running": 1,
        "requests_waiting": 0,
        "memory_available": 35 << 30,
        "reason": "",
        **changes,
    }


def planned(generation: str = GENERATION, name: str = NAME) -> dict[str, Any]:
    return {"spark1": {"container": {"name": name}, "supervision": {"generation": generation}}}


@pytest.mark.parametrize(
    ("result", "word", "says"),
    [
        ({"containers": [rank()]}, "running", "/health answers 200, serves qwen"),
        ({"containers": [rank(status="exited", exit_code=0)]}, "exited", "exit code 0"),
        (
            {"containers": [rank(status="exited", exit_code=137, oom_killed=True)]},
            "exited",
            "exit code 137, killed for lack of memory",
        ),
        ({"containers": [rank(status="created")]}, "created", ""),
        (
            {"containers": [rank(health=None, served=None)]},
            "running",
            "http://127.0.0.1:8000 does not answer: still loading, or hung",
        ),
        ({"containers": [rank(health=503, served=None)]}, "running", "/health answers 503"),
        ({"containers": [rank(served=None)]}, "running", "/health answers 200, /v1/models does not"),
        (
            {"containers": [rank(served=None, refusal=REFUSAL)]},
            "running",
            f"/health answers 200, {REFUSAL}",
        ),
        ({"containers": [rank(api="", rank=1, health=None, served=None)]}, "running", "works for rank 0"),
        ({"containers": []}, "absent", "no engine of dgxspark.serving is on this host"),
        ({"unreachable": True, "msg": "Connection\ntimed out"}, "unreachable", "Connection timed out"),
        ({"msg": "Docker does not answer"}, "unknown", "Docker does not answer"),
    ],
)
def test_rows_of_hosts_without_a_supervisor(result: dict[str, Any], word: str, says: str) -> None:
    [row] = rows({"spark1": result}, None, NOW)
    assert (row["host"], row["state"], row["says"]) == ("spark1", word, says)


def test_the_supervisor_s_word_counts() -> None:
    state = live(phase="down", reason="5 restarts in an hour: rank 1 ended with exit code 0")
    [row] = rows({"spark1": {"containers": [rank(status="exited")], "live": {NAME: state}}}, None, NOW)
    assert (row["state"], row["says"]) == ("down", "5 restarts in an hour: rank 1 ended with exit code 0")


def test_a_restart_is_remembered() -> None:
    state = live(restarts=1, last_restart={"at": 900.0, "reason": "spark2 was silent", "evidence": "/x"})
    [row] = rows({"spark1": {"containers": [rank()], "live": {NAME: state}}}, None, NOW)
    assert row["restarts"] == 1
    assert row["says"].endswith("; last restart: spark2 was silent")


@pytest.mark.parametrize(
    ("plan", "drift", "word"),
    [
        (None, False, ""),
        (planned(), False, ""),
        (planned(generation="ffffffffffff"), True, "the inventory wants another version: deploy again"),
        (planned(name="dgxspark-big-0-r0"), True, "the inventory does not want it"),
        ({}, True, "the inventory does not want it"),
    ],
)
def test_drift(plan: dict[str, Any] | None, drift: bool, word: str) -> None:
    [row] = rows({"spark1": {"containers": [rank()]}}, plan, NOW)
    assert row["drift"] is drift
    assert row["says"].endswith(word)


def test_a_missing_rank_is_drift() -> None:
    [row] = rows({"spark1": {"containers": []}}, planned(), NOW)
    assert row["drift"]
    assert row["says"].endswith("the inventory wants one")


def test_the_table_has_a_line_per_rank() -> None:
    seen = {"spark1": {"containers": [rank()], "live": {NAME: live()}}, "spark2": {"unreachable": True, "msg": "no"}}
    [_header, _line, first, second] = lines(rows(seen, None, NOW))
    assert first.split()[:10] == [
        "spark1",
        "tp1-0",
        "0",
        "serving",
        "1m40s",
        "0",
        "31.4",
        "35.0",
        GENERATION,
        "fedcba987654",
    ]
    assert second.split() == ["spark2", "-", "-", "unreachable", "-", "-", "-", "-", "-", "-", "no"]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({}, ""),
        ({"ready": True, "draining": None, "pressure": False}, ""),
        ({"ready": False, "reason": "proof", "door": ""}, "; not ready for gateways: proof"),
        ({"ready": None, "draining": None, "pressure": False, "door": ""}, ""),
        ({"ready": True, "reason": "TCP 0.0.0.0:29480 is taken", "door": "taken"}, "; taken"),
        (
            {"draining": {"by": "", "at": 0.0, "reason": "a flag that nobody can read"}},
            "; draining: a flag that nobody can read",
        ),
        (
            {"draining": {"by": "root", "at": 940.0, "reason": "new cable"}},
            "; draining for 1m00s by root: new cable",
        ),
        ({"draining": {"by": "root", "at": 999.0, "reason": ""}}, "; draining for 1s by root"),
        ({"pressure": True}, "; short of memory, takes nothing new"),
    ],
)
def test_why_gateways_give_it_nothing(changes: dict[str, Any], says: str) -> None:
    [row] = rows({"spark1": {"containers": [rank()], "live": {NAME: live(**changes)}}}, None, NOW)
    assert row["says"] == "/health answers 200, serves qwen" + says
    assert [row[name] for name in ("ready", "draining", "pressure")] == [
        changes.get(name) for name in ("ready", "draining", "pressure")
    ]


def test_a_replica_that_does_not_serve_is_not_called_unready() -> None:
    state = live(phase="starting", reason="loading", ready=False)
    [row] = rows({"spark1": {"containers": [rank()], "live": {NAME: state}}}, None, NOW)
    assert row["says"] == "loading"
