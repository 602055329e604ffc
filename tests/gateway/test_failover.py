# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Engines that die, hang, load, refuse or cannot be found, and connections that go stale."""

from __future__ import annotations

import http.client
import time
from typing import Any

import pytest

from tests.gateway.clients import CHAT
from tests.gateway.engines import MockEngine
from tests.gateway.load import Load, at_once
from tests.gateway.serving import Gateway, Serve


def test_g04_connections_that_the_engine_closes_after_5_s(gateway: Gateway) -> None:
    # Bodies of both sorts: one that a gateway could send again, and one that is too large for that.
    bodies = [gateway.client.body(padding="x" * size) for size in (10, 60_000)]
    connections: dict[int, http.client.HTTPConnection] = {}

    def twice(place: int) -> Any:
        connection = connections.setdefault(place, gateway.client.connect())
        return gateway.client.send("POST", CHAT, bodies[place % 2], on=connection)

    first = at_once(200, twice)
    begun = time.monotonic()

    def after_idling(place: int) -> Any:
        time.sleep(max(0.0, begun + 4.93 + place * 0.0007 - time.monotonic()))
        return twice(place)

    answers = first + at_once(200, after_idling)
    for connection in connections.values():
        connection.close()
    assert [answer.status for answer in answers] == [200] * 400, {answer.body[:200] for answer in answers}


@pytest.mark.feature("names")
def test_g06_a_name_that_cannot_be_resolved_stops_nobody_else(serve: Serve) -> None:
    gateway = serve(1)
    replicas = gateway.started.description["deployments"][0]["replicas"]
    gone = {**replicas[0], "name": "chat-gone", "address": "spark-gone.invalid", "health_address": "spark-gone.invalid"}
    both = {**gateway.started.description["deployments"][0], "replicas": [gone, *replicas]}
    gateway.started.reload({**gateway.started.description, "deployments": [both]})
    assert [gateway.client.chat().status for number in range(6)] == [200] * 6


@pytest.mark.feature("active_health")
def test_g08_a_replica_that_loads_gets_nothing(serve: Serve) -> None:
    engines_ready = []

    def loading(engine: MockEngine) -> None:
        # Its /health is 200 already; it has not proven itself.
        engine.door.ready = not engines_ready
        engines_ready.append(engine.name)

    gateway = serve(2, before=loading)
    begun = time.monotonic()
    while time.monotonic() - begun < 2.5:
        gateway.client.chat()
    gateway.started.reload()
    assert {gateway.client.chat().status for number in range(20)} == {200}
    assert gateway.engines[1].seen()["generations"] == 0
    gateway.engines[1].door.ready = True
    assert gateway.wait_rotation({"chat-0", "chat-1"}) < 3.0


@pytest.mark.feature("failover")
def test_an_engine_killed_under_load_costs_no_new_request(gateway: Gateway) -> None:
    with Load(gateway.client, 8, max_tokens=20, mock={"gap": 0.02}) as load:
        time.sleep(1.0)
        gateway.engines[1].kill()
        killed = time.monotonic()
        time.sleep(2.5)
        gateway.engines[1].start()
        time.sleep(1.5)
    # Those that ran there and had begun to stream are lost, at most; whole answers that nobody saw a byte of are not.
    lost = load.failed()
    assert load.failed(killed) == []
    assert len(lost) <= 4, [answer.status for answer in lost]
    gateway.wait_rotation({"chat-0", "chat-1"})


@pytest.mark.only("haproxy")
def test_an_engine_killed_while_the_other_is_full_costs_next_to_no_new_request(serve: Serve) -> None:
    """The dead one seems the least busy until a check has found it; nobody is refused meanwhile."""
    gateway = serve(2, concurrency=2)
    with Load(gateway.client, 8, max_tokens=10, mock={"gap": 0.02}) as load:
        time.sleep(1.0)
        gateway.engines[1].kill()
        killed = time.monotonic()
        time.sleep(3.0)
    failed = load.failed(killed)
    # What is being tried there again at the very moment when the check ends its sessions is lost.
    assert [answer.status for answer in failed] in ([], [0], [0, 0])


@pytest.mark.feature("active_health")
def test_a_hung_engine_leaves_within_4_s(gateway: Gateway) -> None:
    with Load(gateway.client, 8, max_tokens=5, mock={"gap": 0.02}) as load:
        time.sleep(0.5)
        gateway.engines[0].set(hang="all")
        hung = time.monotonic()
        time.sleep(5.0)
        # It answers nothing any more, not even a wish to end that.
        gateway.engines[0].kill()
    ends = [begun + answer.seconds for begun, answer in load.answers if answer.status != 200 or answer.broken]
    assert all(end - hung < 4.0 for end in ends), [end - hung for end in ends]
    assert load.failed(hung + 4.0) == []
    assert [answer.seconds for begun, answer in load.answers if begun > hung + 4.0]


@pytest.mark.feature("one_generation")
def test_an_engines_500_is_one_generation(serve: Serve) -> None:
    gateway = serve(2)
    before = [engine.seen()["generations"] for engine in gateway.engines]
    answer = gateway.client.chat(mock={"status": 500})
    after = [engine.seen()["generations"] for engine in gateway.engines]
    assert answer.status == 500
    assert sum(after) - sum(before) == 1


@pytest.mark.feature("errors")
def test_an_engines_error_passes_unchanged(gateway: Gateway) -> None:
    answer = gateway.client.chat(mock={"status": 500})
    assert (answer.status, answer.json) == (500, {"error": {"message": "InvalidCxxCompiler", "code": 500}})


@pytest.mark.feature("drain")
def test_a_reload_cuts_no_stream_and_loses_no_request(gateway: Gateway) -> None:
    with Load(gateway.client, 8, max_tokens=10, mock={"gap": 0.05}) as load:
        for _number in range(3):
            time.sleep(0.7)
            gateway.started.reload()
    assert len(load.answers) > 20
    assert load.failed() == []
