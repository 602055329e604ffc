# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever breaks in a running pair, it generates again without a human, as one group and for a reason that is told."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass

import pytest

from tests.chaos.pair import HOSTS, POLL_SECONDS, Pair
from tests.chaos.record import Outcome

PROCESS_AIM = 15.0  # seconds, for a killed rank or process
LINK_AIM = 45.0  # seconds, for a link that is cut
LINK_OUTAGE = 10.0  # seconds
LATE = 40.0  # seconds

Record = Callable[[Outcome], None]


@dataclass(frozen=True)
class Fault:
    """:ivar reason: what the supervisors must give as the reason (a regular expression)"""

    make: Callable[[Pair], object]
    reason: str
    aim: float | None = PROCESS_AIM
    busy: bool = False


def docker(pair: Pair, host: str, *argv: str) -> None:
    """Do something to the container of a host by hand."""
    assert pair.ask(host, "docker", *argv, pair.container(host)["Id"]) is not None


ENDED = r"the engine ended with exit code"
# What is seen first depends on how long Docker takes to come back.
DOCKER_GONE = rf"{ENDED}|Docker does not answer"
REBOOTED = r"was stopped|no word from rank|the host was restarted|was started anew"
FAULTS = {
    "rank 1 killed while idle": Fault(lambda pair: pair.lab.kill_engine("spark2"), f"{ENDED} 137"),
    "rank 1 killed during a request": Fault(lambda pair: pair.lab.kill_engine("spark2"), f"{ENDED} 137", busy=True),
    "worker process of rank 1 killed while idle": Fault(lambda pair: pair.lab.kill_worker("spark2"), ENDED),
    "rank 0 killed": Fault(lambda pair: pair.lab.kill_engine("spark1"), f"{ENDED} 137"),
    "rank 0 stopped by hand": Fault(lambda pair: docker(pair, "spark1", "stop"), ENDED),
    "rank 1 restarted alone by hand": Fault(
        lambda pair: docker(pair, "spark2", "restart"), rf"was restarted by somebody else|{ENDED}"
    ),
    "Docker restarted on the host of rank 1": Fault(lambda pair: pair.lab.restart_docker("spark2"), DOCKER_GONE),
    "Docker restarted on the host of rank 0": Fault(lambda pair: pair.lab.restart_docker("spark1"), DOCKER_GONE),
    "host of rank 1 rebooted": Fault(lambda pair: pair.lab.reboot_host("spark2"), REBOOTED, aim=None),
    "host of rank 0 rebooted": Fault(lambda pair: pair.lab.reboot_host("spark1"), REBOOTED, aim=None),
    "power loss of both hosts": Fault(lambda pair: pair.lab.crash_hosts(*HOSTS), REBOOTED, aim=None),
}


@pytest.mark.parametrize("name", FAULTS)
def test_generates_again_after(name: str, pair: Pair, record: Record) -> None:
    fault = FAULTS[name]
    with pair.load() if fault.busy else nullcontext():
        at = time.time()
        fault.make(pair)
        recovery = pair.recovered(at)
    assert re.search(fault.reason, recovery.noticed), recovery
    record(Outcome(name, recovery.noticed, recovery.seconds, recovery.engine, fault.aim))


def cut_for_a_while(pair: Pair, name: str, record: Record) -> None:
    """Pull the cable during a request, plug it in again later, and wait for the group."""
    with pair.load():
        at = time.time()
        pair.lab.cut("spark2")
        plug_in = threading.Timer(LINK_OUTAGE, pair.lab.restore, ["spark2"])
        plug_in.start()
        recovery = pair.recovered(at)
        plug_in.join()
    assert re.search(r"no word from rank", recovery.noticed), recovery
    record(Outcome(name, recovery.noticed, recovery.seconds, recovery.engine, LINK_AIM))


def test_generates_again_after_the_link_was_cut_during_a_request(pair: Pair, record: Record) -> None:
    cut_for_a_while(pair, f"link cut for {LINK_OUTAGE:.0f} s during a request", record)


@pytest.mark.parametrize("host", HOSTS)
def test_a_killed_supervisor_disturbs_nothing(host: str, pair: Pair, record: Record) -> None:
    before, old = pair.runs(), pair.live(host)
    with pair.load():
        at = time.time()
        pair.lab.kill_supervisor(host)

        def adopted() -> bool:
            new = pair.live(host)
            return new.get("pid") != old["pid"] and new.get("phase") == "serving" and new["updated"] > at

        pair.wait(adopted, "a new supervisor adopts the engine")
        assert pair.running_requests(), "the request goes on"
    assert pair.runs() == before
    assert pair.live(host)["epoch"] == old["epoch"]
    pair.wait_generating()
    noticed = "systemd starts it again; the engine and its request go on"
    record(Outcome(f"supervisor killed on the host of rank {HOSTS.index(host)}", noticed))


def test_rank_1_boots_late(pair: Pair, record: Record) -> None:
    for host in HOSTS:
        pair.lab.stop_host(host)
    pair.lab.start_host("spark1")
    began = time.time()
    while time.time() - began < LATE:
        assert pair.live("spark1").get("phase") not in ("loading", "serving"), "half a group must not start"
        time.sleep(POLL_SECONDS)
    at = time.time()
    pair.lab.start_host("spark2")
    recovery = pair.recovered(at)
    noticed = "rank 0 waits for it and loads nothing"
    record(Outcome(f"both hosts booted, rank 1 {LATE:.0f} s late", noticed, recovery.seconds, recovery.engine))


def test_generates_again_after_a_cut_with_a_short_distributed_timeout(pair: Pair, record: Record) -> None:
    changed = pair.play("deploy-tp2.yml", {"serving_distributed_timeout": 20})
    assert changed.code == 0, changed.text
    pair.wait_generating()
    cut_for_a_while(pair, "the same with --distributed-timeout-seconds 20", record)
