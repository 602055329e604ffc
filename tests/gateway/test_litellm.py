# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""LiteLLM between two deployments and their clients: one gateway for all, for it takes 15 s to start."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.gateway.clients import Client
from tests.gateway.engines import MockEngine
from tests.gateway.providers import start
from tests.gateway.serving import ENGINE_KEY, KEYS, Gateway, description

# As long as a request may be silent here, in seconds.
TIMEOUT = 6


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Gateway]]:
    """Return one gateway by the served name of its deployments, each with an engine."""
    engines = {name: MockEngine(f"{name}-0", ENGINE_KEY) for name in ("chat", "big")}
    described = description("litellm", [engines["chat"]], timeout=TIMEOUT, connect_timeout=1)
    [chat] = described["deployments"]
    big = {**chat, "name": "big", "served_model_name": "Org/Big-1", "replicas": [engines["big"].described()]}
    started = start(
        {**described, "deployments": [chat, big]},
        tmp_path_factory.mktemp("two"),
        keys=KEYS,
        engine_key=ENGINE_KEY,
    )
    gateways = {
        name: Gateway(started, [engines[short]], Client(started.url, KEYS["laptop"], model=name))
        for short, name in (("chat", "tiny-chat"), ("big", "Org/Big-1"))
    }
    for gateway in gateways.values():
        gateway.wait_rotation({engine.name for engine in gateway.engines}, 60.0)
    yield gateways
    started.stop()
    for engine in engines.values():
        engine.close()


@pytest.mark.parametrize("name", ["tiny-chat", "Org/Big-1"])
def test_g11_the_engine_gets_its_own_name_without_a_prefix(two: dict[str, Gateway], name: str) -> None:
    answer = two[name].client.chat()
    assert (answer.status, answer.json["model"]) == (200, name)
    assert two[name].engines[0].seen()["model"] == name


@pytest.mark.parametrize("stream", [False, True])
def test_g03_a_long_silence_is_waited_for(two: dict[str, Gateway], stream: bool) -> None:
    # Longer than the connect timeout, shorter than the other.
    answer = two["tiny-chat"].client.chat(stream=stream, mock={"first": 3.0})
    assert (answer.status, answer.broken) == (200, False)


def test_g03_the_timeout_is_the_variable(two: dict[str, Gateway]) -> None:
    engine = two["tiny-chat"].engines[0]
    before = engine.seen()["generations"]
    answer = two["tiny-chat"].client.chat(mock={"first": 60.0})
    assert answer.status in {408, 500, 504}
    assert TIMEOUT - 0.5 < answer.seconds < TIMEOUT + 10
    assert answer.message
    assert engine.seen()["generations"] == before + 1


def test_an_engines_error_keeps_its_status_and_is_one_generation(two: dict[str, Gateway]) -> None:
    engine = two["tiny-chat"].engines[0]
    before = engine.seen()["generations"]
    answer = two["tiny-chat"].client.chat(mock={"status": 500})
    assert answer.status == 500
    assert "InvalidCxxCompiler" in answer.message
    assert engine.seen()["generations"] == before + 1
    # A failure does not shut the deployment off.
    assert two["tiny-chat"].client.chat().status == 200


def test_log_has_no_prompt_and_no_key(two: dict[str, Gateway]) -> None:
    client = two["tiny-chat"].client
    secret = [{"role": "user", "content": "a-secret-prompt"}]
    assert client.chat(messages=secret).status == 200
    assert client.chat(messages=secret, mock={"status": 500}).status == 500
    log = two["tiny-chat"].started.log.read_text(encoding="utf-8")
    assert "key=laptop" in log
    for word in ("a-secret-prompt", KEYS["laptop"], ENGINE_KEY):
        assert word not in log


def test_a_wrong_key_and_an_unknown_model_never_reach_litellm(two: dict[str, Gateway]) -> None:
    client = two["tiny-chat"].client
    other = Client(two["tiny-chat"].started.url, "sk-other")
    assert other.chat().json["error"]["code"] == "invalid_api_key"
    answer = client.chat(model="nobody")
    assert answer.status == 404
    assert "tiny-chat, Org/Big-1" in answer.message
