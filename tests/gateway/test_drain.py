# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A replica is drained by its door, whatever happens to the gateway meanwhile."""

from __future__ import annotations

import time

import pytest

from tests.gateway.engines import MockEngine, wait_until
from tests.gateway.load import Load
from tests.gateway.serving import Gateway, Serve


@pytest.mark.feature("drain")
def test_a_drained_replica_gets_nothing_new_and_nothing_is_lost(gateway: Gateway) -> None:
    drained = gateway.engines[0]
    with Load(gateway.client, 8, max_tokens=10, mock={"gap": 0.05}) as load:
        time.sleep(0.5)
        drained.door.draining = True
        wait_until(lambda: drained.door.told_drain, "the gateway is told", 5.0)
        time.sleep(0.2)
        wait_until(lambda: drained.seen()["running"] == 0, "the last stream ends", 10.0)
        before = drained.seen()["generations"]
        gateway.started.reload()
        time.sleep(1.0)
        assert drained.seen()["generations"] == before
        drained.door.draining = False
        wait_until(lambda: drained.seen()["generations"] > before, "it takes requests again", 5.0)
    assert load.failed() == []


@pytest.mark.feature("drain")
def test_a_gateway_that_starts_asks_before_it_sends(serve: Serve) -> None:
    def drain_first(engine: MockEngine) -> None:
        engine.door.draining = engine.name == "chat-0"

    gateway = serve(2, before=drain_first)
    begun = time.monotonic()
    while time.monotonic() - begun < 2.0:
        gateway.client.chat()
    assert gateway.engines[0].seen()["generations"] == 0
    assert gateway.engines[1].seen()["generations"] > 0


@pytest.mark.feature("drain", "several")
def test_a_replica_that_a_reload_adds_is_asked_first(serve: Serve) -> None:
    gateway = serve(1)
    added = MockEngine("chat-9", gateway.engines[0].key)
    gateway.engines.append(added)
    added.door.ready = False
    first = gateway.started.description["deployments"][0]
    both = {**first, "replicas": [*first["replicas"], added.described()]}
    with Load(gateway.client, 4, max_tokens=2, mock={"gap": 0.02}) as load:
        gateway.started.reload({**gateway.started.description, "deployments": [both]})
        time.sleep(2.0)
        assert added.seen()["generations"] == 0
        added.door.ready = True
        wait_until(lambda: added.seen()["generations"] > 0, "it takes requests", 5.0)
    assert load.failed() == []
