# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""/v1/responses: what an engine stored is asked for where it lies."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.gateway.clients import Answer
from tests.gateway.engines import wait_until
from tests.gateway.serving import Gateway, Serve

PATH = "/v1/responses"


def _respond(gateway: Gateway, **fields: Any) -> Answer:
    return gateway.client.send("POST", PATH, json.dumps({"input": "hi", "model": "tiny-chat", **fields}).encode())


@pytest.mark.feature("responses_pinned")
def test_g10_pinned_responses_stay_at_one_replica(gateway: Gateway) -> None:
    first = _respond(gateway).json
    for _number in range(10):
        answer = _respond(gateway, previous_response_id=first["id"])
        assert (answer.status, answer.engine) == (200, first["engine"])
    answer = gateway.client.send("GET", f"{PATH}/{first['id']}")
    assert (answer.status, answer.json["id"]) == (200, first["id"])


@pytest.mark.feature("responses_pinned", "states")
@pytest.mark.parametrize("why", ["gone", "draining"])
def test_g10_without_its_replica_a_pinned_response_is_refused(serve: Serve, why: str) -> None:
    gateway = serve(2)
    if why == "gone":
        gateway.engines[0].kill()
    gateway.engines[0].door.draining = True
    wait_until(lambda: _respond(gateway).status == 503, "503", 10.0)
    assert "chat-0" in _respond(gateway).message
    assert gateway.client.chat().engine == "chat-1"
    assert gateway.engines[1].seen()["paths"].count(f"POST {PATH}") == 0


@pytest.mark.feature("responses_by_id")
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_g10_by_id_follows_each_chain(serve: Serve, stream: bool) -> None:
    gateway = serve(2, responses="by_id")
    homes = set()
    for _chain in range(6):
        answer = _respond(gateway, stream=stream)
        text = answer.body.decode().splitlines()[-2].removeprefix("data: ") if stream else answer.body
        first = json.loads(text)["response"] if stream else json.loads(text)
        homes.add(first["engine"])
        for _number in range(3):
            answer = _respond(gateway, previous_response_id=first["id"])
            assert (answer.status, answer.engine) == (200, first["engine"]), answer.body
        answer = gateway.client.send("GET", f"{PATH}/{first['id']}")
        assert (answer.status, answer.engine) == (200, first["engine"])
    assert homes == {"chat-0", "chat-1"}


@pytest.mark.feature("responses_pinned")
def test_responses_can_be_off(serve: Serve) -> None:
    gateway = serve(1, responses="off")
    assert _respond(gateway).status == 404
