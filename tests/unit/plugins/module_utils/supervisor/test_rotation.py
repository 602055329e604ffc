# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The door of a replica as gateways meet it: a real one on loopback, with an engine behind it that only pretends."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor import door, health_look, proof
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.drained import Drained, text_of
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.engine import Engine
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.hostpaths import HostPaths
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.plain_http import exchange
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.progress import Sample
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.rotation import Rotation
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.spec import Health
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.state import Run, State
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.supervisor.fake_engine import FakeEngine
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.supervisor.pretended_group import make_spec

LIMIT = 60.0  # seconds until a wait counts as failed
SERVING = State(order="serve", phase="serving", run=Run("id", "1"))
FLAG = Drained("big-0", "ann@desk", 1_700_000_000.0, "new driver")


def wait_for(condition: Callable[[], Any], what: str) -> None:
    until = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < until, what
        time.sleep(0.01)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


class Replica:
    """A replica whose supervisor says what a test wants."""

    def __init__(self, engine: FakeEngine, root: Path, proven: Run | None = None) -> None:
        self.engine = engine
        self.paths = HostPaths(root)
        self.paths.states.mkdir(parents=True)
        self.place = ("127.0.0.1", free_port())
        self.key = root / "engine.key"
        spec = replace(make_spec(0), served_model_name="tiny")
        api = Engine(engine.api, str(self.key))
        self.rotation = Rotation(spec, Health(*self.place), self.paths, api, proven, self.say_again)

    def say_again(self) -> None:
        """As a supervisor does when it is woken."""
        self.says(self.state)

    def says(self, state: State, pressure: str = "") -> None:
        self.state = state
        self.rotation.know(state, state.reason, pressure, Sample(3, 1, None, None))

    def serve(self) -> None:
        """Serve, and be proven."""
        self.says(SERVING)
        wait_for(lambda: self.rotation.proven() == SERVING.run, "it is proven")
        self.opened()

    def opened(self) -> None:
        wait_for(lambda: self.send(b"GET /ready HTTP/1.0\r\n\r\n"), "the door opens")

    def send(self, data: bytes, source: str = "127.0.0.1") -> bytes:
        """What a connection brings; nothing when there is none."""
        try:
            with socket.create_connection(self.place, LIMIT, source_address=(source, 0)) as connection:
                connection.sendall(data)
                return b"".join(iter(lambda: connection.recv(4096), b""))
        except OSError:
            return b""

    def ready(self, query: str = "") -> tuple[int, dict[str, Any]]:
        status, body = exchange(self.place, "GET", f"/ready{query}", LIMIT)
        return status, json.loads(body)

    def reason(self) -> str:
        status, content = self.ready()
        assert (status, content["ready"]) == (503, False)
        return str(content["reason"])

    def drain(self, flag: Drained = FLAG) -> None:
        self.paths.drain.write_text(text_of(flag))


@pytest.fixture
def engine() -> Iterator[FakeEngine]:
    engine = FakeEngine()
    yield engine
    engine.close()


@pytest.fixture
def replica(engine: FakeEngine, tmp_path: Path) -> Replica:
    return Replica(engine, tmp_path)


def test_a_ready_replica(replica: Replica) -> None:
    replica.serve()
    status, content = replica.ready()
    assert (status, content["ready"], content["reason"], content["draining"]) == (200, True, "", None)
    assert (content["requests_running"], content["requests_waiting"]) == (3, 1)
    assert replica.rotation.shown() == {"ready": True, "not_ready": "", "draining": None, "door": ""}
    assert replica.rotation.words() == ""


def test_g08_it_is_not_ready_before_it_has_generated(replica: Replica, engine: FakeEngine) -> None:
    engine.held = {"/v1/completions"}
    replica.says(SERVING)
    replica.opened()
    assert replica.reason() == "the first generation is under way"
    assert replica.rotation.words() == "the first generation is under way"
    assert replica.rotation.shown()["not_ready"] == "the first generation is under way"
    assert "/health" not in engine.asked
    engine.gate.set()
    replica.serve()
    assert replica.ready()[0] == 200


def test_another_run_is_proven_anew(replica: Replica, engine: FakeEngine) -> None:
    replica.serve()
    engine.held = {"/v1/completions"}
    replica.says(replace(SERVING, run=Run("id", "2")))
    assert replica.reason() == "the first generation is under way"


def test_a_run_that_an_earlier_supervisor_has_proven_is_in_rotation_at_once(engine: FakeEngine, tmp_path: Path) -> None:
    replica = Replica(engine, tmp_path, SERVING.run)
    replica.says(SERVING)
    replica.opened()
    assert replica.ready()[0] == 200
    assert engine.count("/v1/completions") == 0


def test_g13_a_refused_key_is_not_a_dead_engine(replica: Replica, engine: FakeEngine) -> None:
    engine.key = "right"
    replica.says(SERVING)
    replica.opened()
    wait_for(lambda: "refuses our key" in replica.reason(), "the refusal is told")
    assert replica.reason() == f"the engine refuses our key (401): wrong or missing key in {replica.key}"


def test_g13_a_health_that_refuses_the_key(replica: Replica, engine: FakeEngine) -> None:
    replica.serve()
    engine.statuses["/health"] = 403
    assert replica.reason().startswith("the engine refuses our key (403)")


@pytest.mark.parametrize(("status", "words"), [(503, "the engine's /health answers 503"), (500, "answers 500")])
def test_an_engine_that_is_not_healthy_now(replica: Replica, engine: FakeEngine, status: int, words: str) -> None:
    replica.serve()
    engine.statuses["/health"] = status
    assert words in replica.reason()
    assert replica.rotation.shown()["ready"] is False
    engine.statuses.clear()
    assert replica.ready()[0] == 200


def test_an_engine_that_is_gone(replica: Replica, engine: FakeEngine) -> None:
    replica.serve()
    engine.close()
    assert replica.reason() == "the engine's /health gives no answer (Connection refused)"


def test_a_hung_engine_and_many_who_ask_share_one_look(
    replica: Replica, engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    replica.serve()
    before = engine.count("/health")
    monkeypatch.setattr(health_look, "TIMEOUT", LIMIT)
    engine.held = {"/health"}
    engine.statuses["/health"] = 500
    found: list[str] = []
    threads = [threading.Thread(target=lambda: found.append(replica.reason())) for _number in range(8)]
    for thread in threads:
        thread.start()
    wait_for(lambda: sum(one.name == "asked" for one in threading.enumerate()) >= 8, "all ask")
    # They all wait for the one look, or have it.
    engine.gate.set()
    for thread in threads:
        thread.join(LIMIT)
    assert found == ["the engine's /health answers 500"] * 8
    assert engine.count("/health") - before < 8
    monkeypatch.setattr(health_look, "TIMEOUT", 0.1)
    engine.gate.clear()
    assert "gives no answer" in replica.reason()


def test_the_watchdogs_verdict_is_told(replica: Replica) -> None:
    replica.serve()
    replica.says(State(phase="stopping", reason="hung: 2 requests running and 0 waiting, and no token for 120 s"))
    assert replica.reason() == "hung: 2 requests running and 0 waiting, and no token for 120 s"


def test_a_drain_is_told_by_address(replica: Replica, monkeypatch: pytest.MonkeyPatch) -> None:
    replica.serve()
    assert replica.send(b"agent\n", "127.0.0.2") == b"ready up 100%\n"
    replica.drain()
    status, content = replica.ready()
    assert (status, content["ready"], content["draining"]["reason"]) == (200, True, "new driver")
    assert content["told"]["drain"] == []
    assert "127.0.0.2" in content["told"]["waiting"]
    wait_for(
        lambda: replica.send(b"agent\n", "127.0.0.2") and "127.0.0.2" in replica.ready()[1]["told"]["drain"],
        "the gateway counts as told",
    )
    assert replica.send(b"agent\n") == b"drain\n"
    status, content = replica.ready("?new=1")
    assert (status, content["reason"]) == (503, "draining: new driver")
    assert replica.rotation.shown()["draining"]["by"] == "ann@desk"
    replica.paths.drain.unlink()
    assert "127.0.0.2" in replica.ready()[1]["told"]["waiting"]
    assert replica.send(b"agent\n") == b"ready up 100%\n"
    assert replica.ready("?new=1")[0] == 200


def test_who_asks_for_state_alone_is_no_gateway_to_wait_for(replica: Replica) -> None:
    replica.serve()
    replica.drain()
    told = replica.ready()[1]["told"]
    assert (told["drain"], told["waiting"]) == ([], [])


def test_a_flag_of_another_replica_is_none(replica: Replica) -> None:
    replica.serve()
    replica.drain(replace(FLAG, replica="chat-1"))
    assert replica.send(b"agent\n") == b"ready up 100%\n"


def test_a_flag_of_a_run_that_died_expires(replica: Replica) -> None:
    replica.serve()
    replica.drain(replace(FLAG, expires=FLAG.at + 1))
    assert replica.send(b"agent\n") == b"ready up 100%\n"
    assert replica.rotation.shown()["draining"] is None


def test_memory_pressure(replica: Replica) -> None:
    replica.serve()
    replica.says(SERVING, pressure="memory available 7.0 GiB, the floor is 4.0 GiB")
    assert replica.send(b"agent\n") == b"ready up 0%\n"
    status, content = replica.ready()
    assert (status, content["ready"], content["pressure"]) == (200, True, True)
    assert replica.ready("?new=1")[0] == 503


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"\0\xff\n", b"400"),
        (b"x" * 9000, b"400"),
        (b"GET /metrics HTTP/1.1\r\n\r\n", b"404"),
        (b"DELETE /ready HTTP/1.1\r\n\r\n", b"405"),
    ],
)
def test_strangers(replica: Replica, data: bytes, status: bytes) -> None:
    replica.serve()
    assert replica.send(data).split()[1] == status
    assert replica.ready()[0] == 200


def test_those_who_say_nothing_are_let_go(replica: Replica, monkeypatch: pytest.MonkeyPatch) -> None:
    replica.serve()
    monkeypatch.setattr(door, "PATIENCE", 0.1)
    with socket.create_connection(replica.place, LIMIT) as silent:
        assert silent.recv(1) == b""
    assert replica.ready()[0] == 200


def test_too_many_at_once_do_not_keep_the_door_shut(replica: Replica) -> None:
    replica.serve()
    crowd = [socket.create_connection(replica.place, LIMIT) for _number in range(door.MOST_CONNECTIONS)]
    with socket.create_connection(replica.place, LIMIT) as one_more:
        assert one_more.recv(1) == b""
    for one in crowd:
        one.close()
    wait_for(lambda: replica.send(b"agent\n"), "the door serves again")


def test_a_port_that_is_taken_is_named_and_tried_again(
    replica: Replica, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(door, "AGAIN", 0.01)
    words = f"TCP 127.0.0.1:{replica.place[1]} cannot be used for health checks: Address already in use"
    with socket.create_server(replica.place):
        replica.says(SERVING)
        wait_for(lambda: replica.rotation.shown()["door"] == words, "it is said")
        assert words in replica.rotation.words()
    replica.serve()
    assert replica.rotation.shown()["door"] == ""
    assert capsys.readouterr().out.count(words) == 1


def test_a_proof_that_fails_is_told(replica: Replica, engine: FakeEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proof, "AGAIN", 0.01)
    engine.statuses["/v1/completions"] = 500
    replica.says(SERVING)
    replica.opened()
    wait_for(lambda: "HTTP 500" in replica.reason(), "the failure is told")
    assert replica.reason() == "the first generation failed: HTTP 500: no /v1/completions"
    assert replica.rotation.words() == replica.reason()
    engine.statuses.clear()
    replica.serve()
    assert replica.ready()[0] == 200


def test_a_new_program_takes_over_the_open_door(replica: Replica, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(door.HANDED_ON, "")
    replica.serve()
    replica.rotation.hand_on()
    number = int(os.environ[door.HANDED_ON])
    assert os.get_inheritable(number)
    # The descriptor is this process's own; a copy stands for what the new program gets.
    monkeypatch.setenv(door.HANDED_ON, str(os.dup(number)))
    taken = door.handed_on(replica.place)
    assert taken is not None
    with taken:
        assert taken.getsockname() == replica.place
    assert door.HANDED_ON not in os.environ


@pytest.mark.parametrize("number", ["", "x", "9999"])
def test_there_is_no_door_to_take_over(monkeypatch: pytest.MonkeyPatch, number: str) -> None:
    monkeypatch.setenv(door.HANDED_ON, number)
    assert door.handed_on(("127.0.0.1", 29480)) is None


def test_a_door_at_another_place_is_shut(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        copy = os.dup(listener.fileno())
        monkeypatch.setenv(door.HANDED_ON, str(copy))
        assert door.handed_on(("127.0.0.1", 1)) is None
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(copy)
