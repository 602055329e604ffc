# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When a replica is ready, and when waiting is in vain."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils import readiness
from ansible_collections.dgxspark.serving.plugins.module_utils.containers import Container
from ansible_collections.dgxspark.serving.plugins.module_utils.readiness import Live, Wanted

GIB = 2**30


def container(status: str = "running", code: int = 0, oom: bool = False) -> Container:
    return Container("dgxspark-tp1-0-r0", status, code, oom, "tp1", "tp1-0", "http://127.0.0.1:8000")


RUNNING = container()
SEEN = readiness.Observation
DONE = SEEN(RUNNING, 200, ["qwen"], readiness.Generation(32, 0.5))
QWEN = Wanted("qwen")
NO_KEY = "wrong or missing key in /etc/dgxspark-serving/engine.key"


@pytest.mark.parametrize(
    ("seen", "state", "stage", "detail"),
    [
        (SEEN(None), "failed", "container", "there is no such container"),
        (SEEN(container("created")), "waiting", "container", "the container is created"),
        (SEEN(container("exited", 0)), "failed", "container", "the engine ended with exit code 0"),
        (
            SEEN(container("exited", 137, oom=True)),
            "failed",
            "container",
            "the engine was killed for lack of memory with exit code 137",
        ),
        (SEEN(RUNNING), "waiting", "start", "the engine does not answer yet"),
        (SEEN(RUNNING, 503), "waiting", "start", "/health answers 503"),
        (SEEN(RUNNING, 200), "waiting", "models", "/v1/models does not answer yet"),
        # G13: it answers, so it is neither down nor loading.
        (SEEN(RUNNING, 200, refused=401), "failed", "key", f"the engine refuses our key (401): {NO_KEY}"),
        (SEEN(RUNNING, 403, refused=403), "failed", "key", f"the engine refuses our key (403): {NO_KEY}"),
        (SEEN(RUNNING, 200, ["other"]), "failed", "models", "the engine serves other, wanted qwen"),
        (SEEN(RUNNING, 200, []), "failed", "models", "the engine serves no model, wanted qwen"),
        (SEEN(RUNNING, 200, ["qwen"]), "waiting", "generation", "no token was asked for yet"),
        (SEEN(RUNNING, 200, ["qwen"], asking=61.4), "waiting", "generation", "the first request runs for 61 s"),
        (
            SEEN(RUNNING, 200, ["qwen"], readiness.Generation(error="HTTP 500: InvalidCxxCompiler")),
            "failed",
            "generation",
            "/health answers 200, but one generation failed: HTTP 500: InvalidCxxCompiler",
        ),
        (
            SEEN(RUNNING, 200, ["qwen"], readiness.Generation(error="no answer within 60 s"), asking=60.1),
            "failed",
            "generation",
            "/health answers 200, but one generation failed: no answer within 60 s",
        ),
        (
            SEEN(RUNNING, 200, ["qwen"], readiness.Generation()),
            "failed",
            "generation",
            "/health answers 200, but one generation gave no token",
        ),
        (
            SEEN(RUNNING, 200, ["a", "qwen"], readiness.Generation(32, 0.5)),
            "ready",
            "generation",
            "generated 32 tokens",
        ),
    ],
)
def test_judge_n10_g13(seen: readiness.Observation, state: str, stage: str, detail: str) -> None:
    assert readiness.judge(seen, QWEN) == readiness.Verdict(state, stage, detail)


@pytest.mark.parametrize(
    ("status", "code", "restarts", "state", "detail"),
    [
        (
            "restarting",
            1,
            4,
            "failed",
            "the engine was started again 4 times, the last time with exit code 1",
        ),
        ("restarting", 1, 1, "failed", "the engine was started again once, the last time with exit code 1"),
        ("restarting", 0, 0, "waiting", "the container is restarting"),
        ("running", 1, 3, "failed", "the engine was started again 3 times, the last time with exit code 1"),
        ("running", 1, 2, "waiting", "the engine does not answer yet"),
    ],
)
def test_d02_a_restart_loop_ends_the_wait(status: str, code: int, restarts: int, state: str, detail: str) -> None:
    verdict = readiness.judge(SEEN(container(status, code), restarts=restarts), QWEN)
    assert (verdict.state, verdict.detail) == (state, detail)


SUPERVISED = {
    "gave up before a start": (
        SEEN(container("created"), live=Live("down", "rank 1 is not heard")),
        "failed",
        "its supervisor gave up: rank 1 is not heard",
    ),
    "gave up on its own end": (
        SEEN(container("exited", 1), live=Live("down", "the engine ended with exit code 1")),
        "failed",
        "the engine ended with exit code 1",
    ),
    "gave up on its own end for lack of memory": (
        SEEN(container("exited", 137), live=Live("down", "the engine ended with exit code 137, killed for lack of it")),
        "failed",
        "the engine ended with exit code 137, killed for lack of it",
    ),
    "gave up and was stopped for another rank": (
        SEEN(container("exited", 137), live=Live("down", "rank 1: the engine ended with exit code 0")),
        "failed",
        "its supervisor gave up: rank 1: the engine ended with exit code 0",
    ),
    "gave up while the engine answers": (
        replace(DONE, live=Live("down", "hung")),
        "failed",
        "its supervisor gave up: hung",
    ),
    "gave up without a word": (SEEN(RUNNING, live=Live("down")), "failed", "its supervisor gave up: no reason given"),
    "was stopped": (SEEN(container("exited"), live=Live("stopped", "")), "failed", "was stopped: no reason given"),
    "waits for its peers": (
        SEEN(container("created"), live=Live("waiting-for-peers", "", peers={"1": "memory"})),
        "waiting",
        "the container is created (supervisor: waiting-for-peers, rank 1 memory)",
    ),
    "starts it again": (
        SEEN(container("exited", 0), live=Live("backing-off", "rank 1 died")),
        "waiting",
        "the engine ended with exit code 0 (supervisor: backing-off, rank 1 died)",
    ),
    "has no container yet": (SEEN(None, live=Live("starting")), "waiting", "there is no container yet"),
    "serves": (replace(DONE, live=Live("serving")), "ready", "generated 32 tokens"),
    "is in a loop": (
        SEEN(container("created"), restarts=3, live=Live("starting", "hung")),
        "failed",
        "the engine was started again 3 times, the last time with exit code 0 (hung)",
    ),
}


@pytest.mark.parametrize(("seen", "state", "detail"), SUPERVISED.values(), ids=SUPERVISED)
def test_what_the_supervisor_says(seen: readiness.Observation, state: str, detail: str) -> None:
    verdict = readiness.judge(seen, QWEN)
    assert verdict.state == state
    assert detail in verdict.detail


@pytest.mark.parametrize(
    ("seen", "state", "detail"),
    [
        (SEEN(RUNNING), "ready", "the rank runs"),
        (SEEN(RUNNING, live=Live("loading")), "waiting", "the rank runs (supervisor: loading)"),
        (SEEN(RUNNING, live=Live("serving")), "ready", "the rank runs"),
        (SEEN(container("exited", 0)), "failed", "the engine ended with exit code 0"),
    ],
)
def test_a_rank_without_an_api(seen: readiness.Observation, state: str, detail: str) -> None:
    verdict = readiness.judge(seen, Wanted("qwen", 2, has_api=False))
    assert (verdict.state, verdict.detail) == (state, detail)


def test_u02_memory_under_the_floor_ends_the_wait() -> None:
    wanted = Wanted("qwen", memory_floor=6 * GIB)
    samples = [gib * GIB for gib in (88, 61, 33, 14, 7, 5)]
    states = [readiness.judge(SEEN(RUNNING, memory=samples[:count]), wanted).state for count in range(1, 7)]
    assert states == ["waiting"] * 5 + ["failed"]
    verdict = readiness.judge(SEEN(container("exited", 137), memory=samples), wanted)
    assert verdict.stage == "memory"
    assert verdict.detail == "the host's available memory fell to 5.0 GiB, under the floor of 6.0 GiB"
    assert readiness.judge(SEEN(RUNNING, memory=samples), QWEN).state == "waiting", "no floor was asked for"


@pytest.mark.parametrize(
    ("transport", "network", "state"),
    [
        ("roce", "Socket", "failed"),
        ("roce", "IB", "ready"),
        ("roce", None, "ready"),
        ("socket", "Socket", "ready"),
        ("", "Socket", "ready"),
    ],
)
def test_d11_sockets_where_roce_was_asked_for(transport: str, network: str | None, state: str) -> None:
    verdict = readiness.judge(replace(DONE, network=network), Wanted("qwen", 2, transport))
    assert verdict.state == state
    if state == "failed":
        for option in ("/dev/infiniband", "IPC_LOCK", "memlock"):
            assert option in verdict.detail


@pytest.mark.parametrize(
    ("wanted", "fingerprint", "logged", "state"),
    [
        (1, "vllm-0.32.0-1a2b3c4d", 1, "proven"),
        (1, "", None, "proven"),
        (2, "vllm-0.32.0-tp2-1a2b3c4d", None, "proven"),
        (2, "vllm-0.32.0+cu130-tp2-ep-1a2b3c4d", None, "proven"),
        (2, "vllm-0.32.0-pp2-1a2b3c4d", None, "proven"),
        (4, "vllm-0.32.0-tp2-pp2-dp2-1a2b3c4d", None, "proven"),
        (2, "vllm-0.32.0-1a2b3c4d", 2, "proven"),
        (2, "", 2, "proven"),
        (2, "vllm-0.32.0-1a2b3c4d", None, "not proven"),
        (2, "my own", None, "not proven"),
        (2, "vllm-0.32.0-tp4-1a2b3c4d", 2, "contradicted"),
        (2, "", 1, "contradicted"),
        (1, "vllm-0.32.0-tp2-1a2b3c4d", None, "contradicted"),
    ],
)
def test_proof_of_the_world_size(wanted: int, fingerprint: str, logged: int | None, state: str) -> None:
    assert readiness.prove_world_size(wanted, fingerprint, logged).state == state


def test_a_live_state_file() -> None:
    state = {
        "phase": "down",
        "reason": "hung",
        "restarts": 2,
        "epoch": 7,
        "peers": {"1": {"phase": "stopped", "heard": 1.5}},
        "last_restart": {"at": 1.0, "reason": "hung", "evidence": "/var/lib/x/evidence/1-hung"},
        "pid": 42,
        "updated": 100.5,
    }
    live = readiness.read_live(json.dumps(state))
    assert live == Live("down", "hung", 2, 7, {"1": "stopped"}, "/var/lib/x/evidence/1-hung", 42, 100.5)
    assert readiness.read_live(json.dumps({"phase": "loading", "last_restart": None, "peers": None})) == Live("loading")


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"phase": "x", "restarts": "many"}', '{"phase": 1, "peers": 3}']
)
def test_a_live_state_file_that_makes_no_sense(text: str) -> None:
    assert readiness.read_live(text) is None


@pytest.mark.parametrize(
    ("is_alive", "updated", "expected"), [(True, 1.0, True), (False, 1.0, False), (False, 11.0, True)]
)
def test_a_live_state_of_an_earlier_deployment_does_not_count(is_alive: bool, updated: float, expected: bool) -> None:
    assert readiness.counts(Live("down", updated=updated), is_alive, since=10.0) is expected


def test_any_name_will_do() -> None:
    assert readiness.judge(replace(DONE, served=["other"]), Wanted("")).state == "ready"
    verdict = readiness.judge(replace(DONE, served=[]), Wanted(""))
    assert verdict.detail == "the engine serves no model, wanted one"


@pytest.mark.parametrize(
    ("served", "wanted", "asked"),
    [(["a", "b"], "b", "b"), (["a", "b"], "c", ""), (["a", "b"], "", "a"), ([], "", ""), ([], "a", "")],
)
def test_the_name_to_ask_for(served: list[str], wanted: str, asked: str) -> None:
    assert readiness.model_to_ask(served, wanted) == asked


def test_speed() -> None:
    assert readiness.Generation(32, 0.5).tokens_per_second == 64
    assert readiness.Generation().tokens_per_second == 0


# Each look: its time, stage, percentage and last line; then what is said of the limits.
WAITS = {
    "nothing moves": ([(8, "start", None, "Waiting"), (17, "start", None, "Waiting")], "5 s"),
    "a new line": ([(8, "start", None, "a"), (12, "start", None, "b"), (16, "start", None, "c")], ""),
    "a percentage": ([(8, "w", 1, "shards: 1%"), (12, "w", 2, "shards: 2%"), (16, "w", 3, "shards: 3%")], ""),
    "numbers only": ([(8, "start", None, "waited 8 s"), (14, "start", None, "waited 14 s")], "5 s"),
    "lines in a circle": (
        [(8, "s", None, "a"), (9, "s", None, "b"), (12, "s", None, "a"), (15, "s", None, "b")],
        "5 s",
    ),
    "a first request that runs": (
        [(8, "the first request runs for 1 s", None, "a"), (14, "the first request runs for 7 s", None, "a")],
        "5 s",
    ),
    "another stage": ([(8, "start", None, "a"), (12, "models", None, "a"), (16, "generation", None, "a")], ""),
    "for too long in all": (
        [(second, "start", None, "a" * second) for second in range(1, 22)],
        "within 20 s in all",
    ),
}


@pytest.mark.parametrize(("looks", "expected"), WAITS.values(), ids=WAITS)
def test_the_limit_counts_from_the_last_progress(
    looks: list[tuple[float, str, int | None, str]], expected: str
) -> None:
    patience = readiness.patience(timeout=5, total=0, now=0)
    for now, stage, percent, line in looks:
        patience = patience.after(now, stage, percent, line)
    spent = patience.spent(looks[-1][0])
    assert spent == {"5 s": "until replica_ready_timeout (5 s)"}.get(expected, expected)


def test_a_limit_of_its_own_for_all() -> None:
    patience = readiness.patience(timeout=100, total=30, now=0).after(29, "start", None, "a")
    assert patience.spent(30) == ""
    assert patience.spent(30.5) == "within 30 s in all"
