# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an operator sees of the gateway: metrics and an access log, and no secret or prompt in either."""

from __future__ import annotations

import urllib.request

import pytest

from tests.gateway.engines import wait_until
from tests.gateway.serving import ENGINE_KEY, KEYS, Gateway


@pytest.mark.feature("metrics")
def test_metrics_tell_of_each_replica(gateway: Gateway) -> None:
    port = gateway.started.description["metrics"]["port"]
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        text = answer.read().decode()
    for engine in gateway.engines:
        assert f'haproxy_server_status{{proxy="chat",server="{engine.name}",state="UP"}} 1' in text


def test_the_log_has_no_prompt_and_no_key(gateway: Gateway) -> None:
    prompt = "a prompt that nobody may read"
    gateway.client.chat(messages=[{"role": "user", "content": prompt}])
    gateway.client.send("POST", f"/v1/chat/completions?api_key={KEYS['laptop']}", gateway.client.body())
    wait_until(lambda: "/v1/chat/completions" in gateway.started.log.read_text(encoding="utf-8"), "a line is logged")
    text = gateway.started.log.read_text(encoding="utf-8")
    assert prompt not in text
    assert not [key for key in (*KEYS.values(), ENGINE_KEY) if key in text]


@pytest.mark.feature("hidden_keys")
def test_the_log_names_the_key_and_the_replica(gateway: Gateway) -> None:
    gateway.client.chat()
    wait_until(lambda: "key=laptop" in gateway.started.log.read_text(encoding="utf-8"), "a line is logged")


@pytest.mark.feature("hidden_keys")
def test_no_file_has_a_clients_key(gateway: Gateway) -> None:
    for path in gateway.started.folder.rglob("*"):
        assert not [key for key in KEYS.values() if path.is_file() and key in path.read_text(encoding="utf-8")], path
