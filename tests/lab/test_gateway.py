# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What clients of the gateway notice when something happens to a replica, its host, its link, or the gateway itself.

Sixteen clients ask without a pause, half of them for streams. With GATEWAY_RECORD=1 a whole run writes
results/gateway/events.json and the table in docs/reliability.md.
"""

from __future__ import annotations

import datetime
import os
import platform
from collections.abc import Callable, Iterator

import pytest

from lab.docker_engine import ensure_engine
from lab.engine_choice import chosen_engines
from lab.lab import Lab
from tests.lab.behind_gateway import CLIENTS, FIRST, HOSTS, HUNG_AFTER, REPLICAS, SECOND, BehindGateway, Event
from tests.lab.gateway_record import write
from tests.lab.load import Counts
from tools.ssh_masters import own_control_folder

#: What one replica can have at once, give or take one that comes while another goes.
SHARE = CLIENTS // 2 + 2
EVENTS = (
    "engine killed",
    "host stopped",
    "engine hung, its `/health` too",
    f"generation hung, `/health` answers, `replica_hung_after` {HUNG_AFTER} s",
    "link of the engine's host cut",
    "drain and undrain",
    "gateway reloaded with another limit",
    "rolling change of both replicas",
)
KILLED, STOPPED, FROZEN, HUNG, CUT, DRAINED, RELOADED, ROLLED = EVENTS
Record = Callable[[str, Event], None]
# What is lost in these is tried on loopback as well, in tests/gateway.
recorded = pytest.mark.skipif(not os.environ.get("GATEWAY_RECORD"), reason="runs with GATEWAY_RECORD=1")


@pytest.fixture(scope="module")
def gateway(docker_engine: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[BehindGateway]:
    """Give two replicas in rotation."""
    made = Lab(ensure_engine(), f"{os.environ.get('DGXSPARK_TEST_LAB', 'labtest')}-3"[-32:])
    made.down()  # of a session that was killed
    inventory = tmp_path_factory.mktemp("inventory")
    try:
        made.up(len(HOSTS), chosen_engines(["double"]), inventory, gateway=True)
        with own_control_folder() as environment:
            deployed = BehindGateway(made, inventory, environment)
            deployed.run("deploy.yml")
            deployed.wait_in(FIRST, SECOND)
            yield deployed
    finally:
        made.down()


@pytest.fixture(scope="module")
def record() -> Iterator[Record]:
    """Take the counts of an event that went as it should; written, if asked for, when all are there."""
    outcomes: dict[str, Counts] = {}

    def take(name: str, event: Event) -> None:
        outcomes[name] = event.counts

    yield take
    if os.environ.get("GATEWAY_RECORD") and set(outcomes) == set(EVENTS):
        today = datetime.datetime.now(tz=datetime.timezone.utc).date()
        made = f"{today}, {os.cpu_count()} cores ({platform.machine()}) that the three hosts and the clients share."
        write(made, {name: outcomes[name] for name in EVENTS})


def test_an_engine_is_killed(gateway: BehindGateway, record: Record) -> None:
    with gateway.event(survivor=SECOND) as event:
        gateway.lab.kill_engine(FIRST)
        event.is_over()
        gateway.wait_in(SECOND)
        gateway.wait_in(FIRST, SECOND)
    assert event.counts.failed == 0, event.failures
    assert event.counts.streams_lost <= SHARE
    record(KILLED, event)


@recorded
def test_a_host_is_stopped(gateway: BehindGateway, record: Record) -> None:
    with gateway.event(survivor=SECOND) as event:
        gateway.lab.stop_host(FIRST)
        event.is_over()
        gateway.wait_in(SECOND)
        gateway.lab.start_host(FIRST)
        gateway.wait_in(FIRST, SECOND)
    assert event.counts.failed == 0, event.failures
    assert event.counts.streams_lost <= SHARE
    record(STOPPED, event)


@recorded
def test_an_engine_hangs_with_its_health(gateway: BehindGateway, record: Record) -> None:
    with gateway.event(survivor=SECOND) as event:
        gateway.lab.freeze_engine(FIRST)
        gateway.wait_in(SECOND)
        event.is_over()
        gateway.lab.thaw_engine(FIRST)
        gateway.wait_in(FIRST, SECOND)
    # What it was given before anybody could know.
    assert event.counts.failed + event.counts.streams_lost <= SHARE, event.failures
    record(FROZEN, event)


@recorded
def test_generation_hangs_and_health_is_fine(gateway: BehindGateway, record: Record) -> None:
    with gateway.event(survivor=SECOND) as event:
        gateway.lab.hang_engine(FIRST)
        gateway.wait_in(SECOND)
        event.is_over()
        gateway.wait_in(FIRST, SECOND)
    assert event.counts.failed + event.counts.streams_lost <= SHARE, event.failures
    record(HUNG, event)


@recorded
def test_a_link_is_cut(gateway: BehindGateway, record: Record) -> None:
    with gateway.event(survivor=SECOND) as event:
        gateway.lab.cut(FIRST)
        try:
            gateway.wait_in(SECOND)
            event.is_over()
        finally:
            gateway.lab.restore(FIRST)
        gateway.wait_in(FIRST, SECOND)
    assert event.counts.failed + event.counts.streams_lost <= SHARE, event.failures
    record(CUT, event)


def nothing_lost(event: Event) -> bool:
    """Say whether every request had all of its tokens."""
    return event.counts.failed + event.counts.streams_lost == 0


def test_a_replica_is_drained_and_comes_back(gateway: BehindGateway, record: Record) -> None:
    with gateway.event() as event:
        gateway.run("drain.yml", replica=REPLICAS[FIRST])
        gateway.wait_in(SECOND)
        assert gateway.phase(FIRST) == "serving"
        gateway.run("undrain.yml", replica=REPLICAS[FIRST])
        gateway.wait_in(FIRST, SECOND)
    assert nothing_lost(event), event.failures
    record(DRAINED, event)


@recorded
def test_the_gateway_gets_another_limit(gateway: BehindGateway, record: Record) -> None:
    before = gateway.engines()
    with gateway.event() as event:
        assert gateway.run("deploy.yml", gateway_queue=64).changed
        gateway.wait_in(FIRST, SECOND)
    assert nothing_lost(event), event.failures
    assert gateway.engines() == before
    record(RELOADED, event)


def test_both_replicas_are_changed_one_after_the_other(gateway: BehindGateway, record: Record) -> None:
    before = gateway.engines()
    with gateway.event() as event:
        gateway.run("deploy.yml", serving_env={"DOUBLE_TOKENS_PER_SECOND": "40"})
        gateway.wait_in(FIRST, SECOND)
    assert nothing_lost(event), event.failures
    assert not set(gateway.engines()) & set(before)
    record(ROLLED, event)
