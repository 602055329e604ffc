# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module replica_drain, with a door and an engine that are real servers on loopback."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils import drain_wait
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.drained import Drained, read, text_of
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.host import Host
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.hostpaths import HostPaths
from ansible_collections.dgxspark.serving.plugins.modules import replica_drain
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.supervisor.fake_engine import FakeEngine
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.supervisor.pretended_group import make_spec
from ansible_collections.dgxspark.serving.tests.unit.plugins.modules.fake_module import Ended, FakeModule

FLAG = Drained("big-0", "bob@desk", 1_700_000_000.0, "old")
PATIENCE = 60


class FakeDoor(ThreadingHTTPServer):
    """:ivar told: what is told of gateways
    :ivar asked: what was asked for
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.status, self.phase, self.replica = 200, "serving", "big-0"
        self.told: dict[str, Any] = {"drain": [], "waiting": [], "listening": 60.0}
        self.asked: list[str] = []
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()

    def close(self) -> None:
        self.shutdown()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: FakeDoor

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        door = self.server
        door.asked.append(self.path)
        content = {"replica": door.replica, "ready": door.status == 200, "phase": door.phase, "told": door.told}
        self.send_response(door.status)
        self.end_headers()
        self.wfile.write(json.dumps(content).encode())


class Rank0:
    """A host with rank 0 of a replica."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.engine, self.door = FakeEngine(), FakeDoor()
        self.paths = HostPaths(root)
        self.unit = "active"
        self.monkeypatch = monkeypatch
        monkeypatch.setattr(replica_drain, "PAUSE", 0.01)
        monkeypatch.setattr(drain_wait, "IDLE", 0.05)
        spec = asdict(make_spec(0))
        spec["peers"] = [{"rank": rank, "address": address} for rank, address in spec["peers"].items()]
        self.spec = {
            **spec,
            "api": self.engine.api,
            # Somebody who listens on all addresses is asked on loopback.
            "health": {"address": "0.0.0.0", "port": self.door.server_port},
        }
        self.paths.specs.mkdir(parents=True)
        self.write_spec()

    def write_spec(self) -> None:
        self.paths.spec(self.spec["container"]).write_text(json.dumps(self.spec))

    def flag(self) -> Drained | None:
        return read(self.paths.drain, "big-0", time.time())

    def drain(self, flag: Drained = FLAG) -> None:
        self.paths.states.mkdir(parents=True, exist_ok=True)
        self.paths.drain.write_text(text_of(flag))

    def run(self, argv: Sequence[str]) -> tuple[int, str, str]:
        assert argv[:2] == ["systemctl", "is-active"]
        return 0, self.unit + "\n", ""

    def call(self, state: str, uid: int = 0, check_mode: bool = False, **params: Any) -> dict[str, Any]:
        params = {
            "state": state,
            "replica": "",
            "reason": "new driver" if state == "drained" else "",
            "timeout": 600,
            "settle": 30,
            "if_asked": False,
            "lease": 0,
            "force": False,
            "window": PATIENCE,
            "by": "ann@laptop",
            "since": {},
            **params,
        }
        module = FakeModule(params, check_mode)
        self.monkeypatch.setattr(replica_drain.os, "geteuid", lambda: uid)
        self.monkeypatch.setattr(replica_drain, "Host", lambda: Host(self.paths, self.run))
        self.monkeypatch.setattr(replica_drain, "AnsibleModule", lambda **arguments: module)
        with pytest.raises(Ended) as ended:
            replica_drain.main()
        return ended.value.result

    def close(self) -> None:
        self.engine.close()
        self.door.close()


@pytest.fixture
def rank(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Rank0]:
    rank = Rank0(tmp_path, monkeypatch)
    yield rank
    rank.close()


def test_drain_and_back(rank: Rank0) -> None:
    result = rank.call("drained")
    assert (result["changed"], result["done"], result["words"], result["replica"]) == (True, True, "", "big-0")
    flag = rank.flag()
    assert flag is not None
    assert (flag.by, flag.reason, result["draining"]) == ("ann@laptop", "new driver", asdict(flag))
    assert (result["ready"], result["requests_running"], result["told"]["waiting"]) == (True, 0, [])
    # It is no gateway itself.
    assert set(rank.door.asked) == {"/ready"}
    result = rank.call("undrained")
    assert (result["changed"], result["done"], result["draining"], rank.flag()) == (True, True, None, None)
    assert rank.call("undrained")["changed"] is False


def test_what_is_drained_already_keeps_its_flag(rank: Rank0) -> None:
    rank.drain()
    result = rank.call("drained", reason="another one")
    assert (result["changed"], rank.flag()) == (False, FLAG)


def test_a_flag_that_was_left_of_another_replica_makes_room(rank: Rank0) -> None:
    rank.drain(Drained("chat-0", "", 1.0, ""))
    assert rank.call("undrained", replica="big-0")["changed"] is False
    assert rank.call("drained")["changed"] is True


def test_the_flag_of_a_run_has_a_lease(rank: Rank0) -> None:
    before = time.time()
    rank.call("drained", reason="deployment", timeout=600, lease=180)
    flag = rank.flag()
    assert flag is not None
    assert 780 <= flag.expires - before < 780 + PATIENCE
    # A later look of the same wait leaves it, another run's first one renews it.
    assert rank.call("drained", timeout=900, lease=180, since={"told": None, "idle": None})["changed"] is False
    assert rank.flag() == flag
    assert rank.call("drained", timeout=900, lease=180)["changed"] is False
    renewed = rank.flag()
    assert renewed is not None
    assert (renewed.at, renewed.reason, renewed.expires > flag.expires) == (flag.at, "deployment", True)
    # Who wants it to stay is not kept waiting for a run.
    assert rank.call("drained", reason="new driver")["changed"] is True
    lasting = rank.flag()
    assert lasting is not None
    assert (lasting.expires, lasting.reason) == (0.0, "new driver")


def test_an_expired_flag_is_none(rank: Rank0) -> None:
    rank.drain(Drained("big-0", "", 1.0, "deployment", 2.0))
    assert rank.call("undrained")["changed"] is False
    assert rank.call("drained")["changed"] is True


def test_a_run_takes_back_no_flag_but_its_own(rank: Rank0) -> None:
    rank.drain()
    assert rank.call("drained", reason="deployment", lease=180)["changed"] is False
    result = rank.call("undrained", reason="deployment")
    assert (result["changed"], result["done"], rank.flag()) == (False, True, FLAG)
    assert result["words"] == "big-0 stays drained by bob@desk: old"
    rank.call("undrained")
    rank.call("drained", reason="deployment", lease=180)
    assert rank.call("undrained", reason="deployment")["changed"] is True


@pytest.mark.parametrize(("state", "drained"), [("drained", False), ("drained", True), ("undrained", True)])
def test_check_mode(rank: Rank0, state: str, drained: bool) -> None:
    if drained:
        rank.drain()
    result = rank.call(state, check_mode=True)
    assert (result["changed"], result["done"]) == ((state == "drained") != drained, False)
    assert (rank.flag() is not None) == drained
    assert rank.door.asked == []


def test_a_window_ends_with_what_is_waited_for(rank: Rank0) -> None:
    rank.engine.metrics = "vllm:num_requests_running 2\nvllm:num_requests_waiting 1\n"
    result = rank.call("drained", window=0)
    assert (result["done"], result["words"]) == (False, "2 requests running, 1 waiting")
    assert (result["requests_running"], result["requests_waiting"]) == (2, 1)
    assert result["since"]["told"] is not None
    rank.engine.metrics = "vllm:num_requests_running 0\n"
    again = rank.call("drained", window=PATIENCE, since=result["since"])
    assert (again["done"], again["changed"]) == (True, False)
    assert again["since"]["told"] == result["since"]["told"]


def test_each_gateway_must_know(rank: Rank0) -> None:
    rank.door.told = {"drain": [], "waiting": ["192.0.2.5"], "listening": 60.0}
    for state in ("drained", "undrained"):
        result = rank.call(state, window=0)
        assert result["words"] == "the gateway at 192.0.2.5 does not know of it yet"


def test_g13_the_key_goes_to_the_engine(rank: Rank0, tmp_path: Path) -> None:
    seen: list[str] = []
    ask = replica_drain.Engine.ask

    def watched(engine: Any, *arguments: Any) -> Any:
        seen.append(engine.key_file)
        return ask(engine, *arguments)

    rank.monkeypatch.setattr(replica_drain.Engine, "ask", watched)
    rank.spec["key_file"] = str(tmp_path / "engine.key")
    rank.write_spec()
    assert rank.call("drained")["done"]
    assert set(seen) == {str(tmp_path / "engine.key")}


@pytest.mark.parametrize("how", ["404", "not metrics"])
def test_an_engine_without_metrics_gets_time(rank: Rank0, how: str) -> None:
    if how == "404":
        rank.engine.statuses["/metrics"] = 404
    else:
        rank.engine.metrics = "hello"
    result = rank.call("drained", window=0)
    assert "30 s are waited" in result["words"]
    assert result["requests_running"] is None
    assert rank.call("drained", settle=0)["done"]


def test_an_engine_that_does_not_run_has_no_requests(rank: Rank0) -> None:
    rank.engine.close()
    rank.door.status, rank.door.phase = 503, "down"
    assert rank.call("drained")["done"]
    result = rank.call("undrained")
    assert (result["done"], result["ready"]) == (True, False)


def test_a_host_whose_supervisor_is_stopped(rank: Rank0) -> None:
    rank.door.close()
    rank.unit = "inactive"
    assert rank.call("undrained")["done"]
    rank.unit = "active"
    assert rank.call("undrained", window=0)["words"] == "its supervisor does not answer"
    rank.paths.run.mkdir(parents=True)
    rank.paths.live(rank.spec["container"]).write_text('{"door": "TCP 192.0.2.11:29480 cannot be used"}')
    assert rank.call("undrained", window=0)["words"] == "TCP 192.0.2.11:29480 cannot be used"


def test_a_stranger_at_the_doors_port_is_not_believed(rank: Rank0) -> None:
    rank.door.replica = "other"
    assert rank.call("undrained", window=0)["words"] == "its supervisor does not answer"


def test_a_replica_of_an_older_version_has_no_door(rank: Rank0) -> None:
    for name in ("health", "served_model_name", "key_file"):
        del rank.spec[name]
    rank.write_spec()
    result = rank.call("drained")
    assert (result["found"], result["changed"], result["done"]) == (True, False, True)
    assert result["words"] == "big-0 tells gateways nothing, since it was deployed without one"
    rank.drain()
    result = rank.call("undrained")
    assert (result["found"], result["changed"], result["done"], rank.flag()) == (True, True, True, None)
    assert rank.door.asked == []


def test_it_waits_until_the_replica_is_ready(rank: Rank0) -> None:
    rank.door.status, rank.door.phase = 503, "loading"
    result = rank.call("undrained", window=0)
    assert (result["done"], result["words"], result["ready"]) == (False, "not ready: loading", False)


def test_needs_root(rank: Rank0) -> None:
    result = rank.call("drained", uid=1000)
    assert result["msg"] == "A replica can be drained by root only. Set become: true for this task."
    assert rank.flag() is None


@pytest.mark.parametrize(("replica", "what"), [("", "rank 0 of a replica"), ("chat-7", "rank 0 of chat-7")])
@pytest.mark.parametrize("state", ["drained", "undrained"])
def test_a_host_without_the_replica(rank: Rank0, state: str, replica: str, what: str) -> None:
    if not replica:
        rank.spec["rank"] = 1
        rank.spec["peers"] = [{"rank": 0, "address": "10.100.0.1"}]
        rank.write_spec()
    result = rank.call(state, replica=replica)
    assert (result["found"], result["changed"], result["done"]) == (False, False, True)
    assert result["words"] == (f"{what} is not on this host" if state == "drained" else "")
    assert not rank.paths.drain.exists()


@pytest.mark.parametrize("replica", ["", "chat-7"])
def test_a_flag_of_a_replica_that_is_gone_can_be_taken_back(rank: Rank0, replica: str) -> None:
    """Also one that was left where rank 0 was before."""
    rank.paths.spec(rank.spec["container"]).unlink()
    rank.drain(Drained("chat-7", "", 1.0, ""))
    result = rank.call("undrained", replica=replica)
    assert (result["found"], result["changed"], result["done"]) == (True, True, True)
    assert not rank.paths.drain.exists()
