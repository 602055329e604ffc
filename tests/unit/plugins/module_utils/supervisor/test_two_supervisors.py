# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two real supervisors of one replica, as processes, with a Docker and an engine that only pretend."""

from __future__ import annotations

import json
import signal
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.build import build
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.plain_http import exchange
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.supervisor.fake_host import (
    ENV_VALUE,
    PLENTY,
    FakeHost,
)

LIMIT = 60.0  # seconds until a wait counts as failed; nothing here takes more than a few on a quiet machine
LIMITS = {
    "memory_floor": 6 * 1024**3,
    "hung_after": 120,
    "start_timeout": 300,
    "stop_timeout": 30,
    "memory_wait": 60,
    "peer_timeout": 5,
    "restart_limit": 5,
    # Failures count for a moment only: each restart of a test is a first one, without back-off.
    "restart_window": 0.1,
}
# Each rank talks to the address at which the cable between the two hears it.
RANKS = ("127.0.0.1", "127.0.0.2")
CABLE = ("127.0.0.3", "127.0.0.4")


def wait_for(condition: Callable[[], Any], what: str) -> Any:
    until = time.monotonic() + LIMIT
    while time.monotonic() < until:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    return pytest.fail(f"{what}: not within {LIMIT:.0f} s")


def free_port() -> int:
    """A UDP port that is free on all addresses of the test."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("0.0.0.0", 0))
        return int(probe.getsockname()[1])


class Cable:
    """Carries datagrams between the ranks while it is plugged in."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.plugged = True
        self.sockets = []
        for address in CABLE:
            end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            end.bind((address, port))
            self.sockets.append(end)
        for rank in (0, 1):
            threading.Thread(target=self._carry_to, args=(rank,), daemon=True).start()

    def _carry_to(self, rank: int) -> None:
        """What comes at the end that stands for a rank goes to it, from the end that stands for the other one."""
        while True:
            try:
                datagram = self.sockets[rank].recv(4096)
                if not datagram:
                    return
                if self.plugged:
                    self.sockets[1 - rank].sendto(datagram, (RANKS[rank], self.port))
            except OSError:
                return

    def close(self) -> None:
        for end in self.sockets:
            # A thread that waits in recv does not notice a close.
            end.sendto(b"", end.getsockname())
        for end in self.sockets:
            end.close()


class Pair:
    """Two hosts with a replica over them."""

    def __init__(self, folder: Path) -> None:
        port = free_port()
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.door = int(probe.getsockname()[1])
        self.cable = Cable(port)
        self.events: list[str] = []
        program = folder / "supervisor.pyz"
        program.write_bytes(build())
        self.hosts = []
        for rank in (0, 1):
            spec = {
                "container": f"r{rank}",
                "deployment": "big",
                "replica": "big-0",
                "generation": "0123456789ab",
                "rank": rank,
                "world_size": 2,
                "address": RANKS[rank],
                "group_port": port,
                "peers": [{"rank": 1 - rank, "address": CABLE[1 - rank]}],
                "api": "engine" if rank == 0 else "",
                "memory_share": 0.7,
                "limits": LIMITS,
                "served_model_name": "tiny",
                "health": {"address": "127.0.0.1", "port": self.door} if rank == 0 else None,
                "key_file": "",
            }
            self.hosts.append(FakeHost(folder / str(rank), program, spec, self.events))

    def phases(self) -> list[str]:
        return [host.live().get("phase", "") for host in self.hosts]

    def wait_until_serving(self, after_epoch: int = 0) -> int:
        """Wait until both ranks serve in one epoch after a given one; returns it."""

        def epoch() -> int:
            lives = [host.live() for host in self.hosts]
            epochs = {live.get("epoch", 0) for live in lives}
            serving = all(live.get("phase") == "serving" for live in lives)
            return epochs.pop() if serving and len(epochs) == 1 and min(epochs) > after_epoch else 0

        try:
            return int(wait_for(epoch, "both ranks serve"))
        except BaseException:
            for host in self.hosts:
                print(host.name, host.live(), host.journal(), sep="\n")
            raise

    def ask(self, path: str = "/ready") -> tuple[int, dict[str, Any]]:
        """What the door of rank 0 says; 0 when it is shut."""
        try:
            status, body = exchange(("127.0.0.1", self.door), "GET", path, LIMIT)
        except OSError:
            return 0, {}
        return status, dict(json.loads(body))

    def generations(self) -> int:
        assert self.hosts[0].engine is not None
        return self.hosts[0].engine.generations

    def close(self) -> None:
        for host in self.hosts:
            host.close()
        self.cable.close()


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    # Under /tmp whatever TMPDIR says: the path of a Unix socket is short.
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        pair = Pair(Path(folder))
        # The worker is late: rank 0 waits for it.
        pair.hosts[0].start()
        wait_for(lambda: "rank 1" in pair.hosts[0].live().get("reason", ""), "rank 0 waits for rank 1")
        assert pair.events == []
        pair.hosts[1].start()
        try:
            yield pair
        finally:
            pair.close()


def test_workers_start_first_and_rank_0_last(pair: Pair) -> None:
    pair.wait_until_serving()
    assert pair.events == ["r1 started", "r0 started"]
    live = wait_for(lambda: (live := pair.hosts[0].live())["peers"]["1"]["phase"] == "serving" and live, "it is heard")
    assert (live["restarts"], live["last_restart"]) == (0, None)
    wait_for(lambda: pair.ask()[0] == 200, "the replica is proven")
    live = wait_for(lambda: (live := pair.hosts[0].live())["ready"] and live, "it is written")
    assert (live["reason"], live["draining"], live["pressure"], live["door"]) == ("", None, False, "")
    assert (pair.hosts[1].live()["ready"], pair.generations()) == (None, 1)


@pytest.mark.parametrize("dead", [1, 0])
def test_a_killed_rank_brings_the_whole_group_down_and_up(pair: Pair, dead: int) -> None:
    epoch = pair.wait_until_serving()
    wait_for(lambda: pair.ask()[0] == 200, "it is in rotation")
    del pair.events[:]
    generations = pair.generations()
    # Engines with a dead peer end with code 0.
    pair.hosts[dead].container.end(0, "died")
    pair.wait_until_serving(epoch)
    assert pair.events == [f"r{dead} died", f"r{1 - dead} stopped", "r1 started", "r0 started"]
    # The new run proves itself anew.
    wait_for(lambda: pair.generations() == generations + 1 and pair.ask()[0] == 200, "it is back in rotation")
    live = pair.hosts[dead].live()
    assert live["last_restart"]["reason"] == "the engine ended with exit code 0"
    saved = Path(live["last_restart"]["evidence"])
    wait_for((saved / "meminfo").exists, "evidence is saved")
    assert f"last words of r{dead}" in (saved / "container.log").read_text()
    assert all(ENV_VALUE not in path.read_text() for path in saved.iterdir())


@pytest.mark.parametrize("rank", [0, 1])
@pytest.mark.parametrize("by", ["crash", "SIGHUP"])
def test_a_new_supervisor_adopts_the_engine_that_runs(pair: Pair, rank: int, by: str) -> None:
    epoch = pair.wait_until_serving()
    wait_for(lambda: pair.ask()[0] == 200, "it is in rotation")
    del pair.events[:]
    generations = pair.generations()
    host = pair.hosts[rank]
    before = host.journal().count("serving, epoch")
    if by == "crash":
        host.kill()
        host.start()
    else:
        host.signal(signal.SIGHUP)
    wait_for(lambda: host.journal().count("serving, epoch") > before, "the new supervisor serves")
    assert pair.wait_until_serving() == epoch
    assert pair.events == []
    assert host.live()["restarts"] == pair.hosts[rank].live()["restarts"]
    # A busy replica does not leave the rotation for it: the run is proven, and the door shuts for a moment only.
    assert wait_for(lambda: pair.ask()[0], "the door is open again") == 200
    assert pair.generations() == generations


def test_pressure_on_any_host_keeps_new_requests_out(pair: Pair) -> None:
    pair.wait_until_serving()
    wait_for(lambda: pair.ask()[0] == 200, "it is in rotation")
    pair.hosts[1].set_memory(11 * 1024**2)
    wait_for(lambda: pair.ask("/ready?new=1")[0] == 503, "rank 0 knows of it")
    content = pair.ask("/ready?new=1")[1]
    assert (content["ready"], content["pressure"]) == (True, True)
    assert content["reason"] == "short of memory: the host of rank 1 is short of memory"
    pair.hosts[1].set_memory(PLENTY)
    wait_for(lambda: pair.ask("/ready?new=1")[0] == 200, "it is over")


def test_a_cut_cable_stops_both_and_a_mended_one_starts_them(pair: Pair) -> None:
    epoch = pair.wait_until_serving()
    del pair.events[:]
    pair.cable.plugged = False
    wait_for(lambda: pair.phases() == ["waiting-for-peers"] * 2, "both ranks stop and wait")
    assert sorted(pair.events) == ["r0 stopped", "r1 stopped"]
    pair.cable.plugged = True
    pair.wait_until_serving(epoch)
    assert pair.events[2:] == ["r1 started", "r0 started"]
    assert "no word from rank 1 at 127.0.0.4" in pair.hosts[0].live()["last_restart"]["reason"]
    assert "no word from rank 0 at 127.0.0.3" in pair.hosts[1].live()["last_restart"]["reason"]


def test_a_docker_that_does_not_answer_is_no_dead_engine(pair: Pair) -> None:
    epoch = pair.wait_until_serving()
    del pair.events[:]
    pair.hosts[1].container.answers = False
    wait_for(lambda: pair.hosts[1].live()["reason"] == "Docker does not answer", "it is noticed")
    pair.hosts[1].container.answers = True
    wait_for(lambda: pair.hosts[1].live()["reason"] == "", "Docker is back")
    assert pair.wait_until_serving() == epoch
    assert pair.events == []


def test_stopping_one_unit_stops_the_group_and_starting_it_starts_the_group(pair: Pair) -> None:
    epoch = pair.wait_until_serving()
    del pair.events[:]
    pair.hosts[1].signal(signal.SIGTERM)
    assert pair.hosts[1].process is not None
    assert pair.hosts[1].process.wait(LIMIT) == 0
    wait_for(lambda: pair.phases() == ["waiting-for-peers", "stopped"], "rank 0 waits")
    assert sorted(pair.events) == ["r0 stopped", "r1 stopped"]
    pair.hosts[1].start()
    pair.wait_until_serving(epoch)
    assert pair.hosts[0].live()["restarts"] == 0


def test_memory_under_the_floor_kills_the_engine_on_its_own_host(pair: Pair) -> None:
    epoch = pair.wait_until_serving()
    del pair.events[:]
    pair.hosts[1].set_memory(5 * 1024**2)
    wait_for(lambda: pair.hosts[1].live()["phase"] == "memory", "rank 1 waits for memory")
    assert pair.events[0] == "r1 killed"
    pair.hosts[1].set_memory(110 * 1024**2)
    pair.wait_until_serving(epoch)
    assert "under the floor of 6.0 GiB" in pair.hosts[1].live()["last_restart"]["reason"]
