# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""/v1/models, and several deployments on one address."""

from __future__ import annotations

from typing import Any

import pytest

from tests.gateway.clients import CHAT
from tests.gateway.engines import MockEngine, wait_until
from tests.gateway.serving import Gateway, Serve

# What a configuration file might take for its own.
EMBED = "org/embed it's 100%"


def test_models_are_those_of_the_description(gateway: Gateway) -> None:
    assert [model["id"] for model in gateway.client.send("GET", "/v1/models").json["data"]] == ["tiny-chat"]
    assert gateway.client.send("GET", "/v1/models/tiny-chat").json["id"] == "tiny-chat"
    assert gateway.client.send("GET", "/v1/models/other").status == 404


@pytest.fixture
def two(serve: Serve) -> Gateway:
    """Return a gateway of two deployments, tiny-chat at chat-0 and EMBED at embed-0."""
    gateway = serve(1)
    other = MockEngine("embed-0", gateway.engines[0].key)
    gateway.engines.append(other)
    first = gateway.started.description["deployments"][0]
    second: dict[str, Any] = {
        **first, "name": "embed", "served_model_name": EMBED, "replicas": [other.described()],
    }  # fmt: skip
    gateway.started.reload({**gateway.started.description, "deployments": [first, second]})
    wait_until(lambda: gateway.client.chat(model=EMBED).status == 200, "the second one answers", 10.0)
    return gateway


@pytest.mark.feature("several")
def test_several_deployments_are_chosen_by_model(two: Gateway) -> None:
    for model, engine in (("tiny-chat", "chat-0"), (EMBED, "embed-0")):
        assert {two.client.chat(model=model).engine for number in range(4)} == {engine}
    assert [model["id"] for model in two.client.send("GET", "/v1/models").json["data"]] == ["tiny-chat", EMBED]
    assert two.client.send("GET", "/v1/models/org%2Fembed%20it's%20100%25").json["id"] == EMBED
    answer = two.client.chat(model="gpt-4")
    assert answer.status == 404
    assert all(model in answer.message for model in ("tiny-chat", EMBED))


@pytest.mark.feature("several", "unknown_model")
def test_the_model_is_found_behind_long_messages(two: Gateway) -> None:
    # OpenAI's Python client writes the messages first.
    assert two.client.send("POST", CHAT, two.client.body(padding="x" * 1_000_000)).engine == "chat-0"
    late = two.client.body(padding="x" * 1_200_000)
    answer = two.client.send("POST", CHAT, late)
    assert (answer.status, answer.json["error"]["code"]) == (400, "model_not_seen")
    headers = two.client.headers(x_model="tiny-chat")
    assert two.client.send("POST", CHAT, late, headers=headers).engine == "chat-0"
