# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""haproxy.cfg: what the description says, and the settings whose lack users pay for."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.gateway import haproxy, paths
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.haproxy_words import quoted, returned


def deployment(name: str = "chat", replicas: int = 2, **changes: Any) -> dict[str, Any]:
    """One deployment of the description."""
    return {
        "name": name, "served_model_name": f"Org/{name}", "engine": "vllm", "concurrency": 64, "queue": 128,
        "queue_timeout": 60,
        "replicas": [
            {
                "name": f"{name}-{number}", "host": f"spark{number + 1}", "address": f"192.0.2.1{number + 1}",
                "port": 8000, "health_address": f"192.0.2.1{number + 1}", "health_port": 29480,
            }
            for number in range(replicas)
        ],
        **changes,
    }  # fmt: skip


def described(*deployments: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """A description with one deployment of two replicas, or with those given."""
    return {
        "provider": "haproxy", "hosts": ["spark1"], "listen": {"address": "0.0.0.0", "port": 8080}, "tls": "",
        "keys": ["laptop", "ci"], "deployments": list(deployments) or [deployment()], "responses": "pinned",
        "paths": [], "body_limit": 67_108_864, "timeout": 600, "connect_timeout": 2, "engine_key": True,
        "metrics": {"address": "127.0.0.1", "port": 8405}, "router_policy": "power_of_two",
        "litellm": {"settings": {}, "own_keys": False}, **changes,
    }  # fmt: skip


def section(text: str, head: str) -> list[str]:
    """The lines of one section of a configuration."""
    body = re.search(rf"^{re.escape(head)}\n((?:  .*\n)*)", text, re.MULTILINE)
    assert body, head
    return [line.strip() for line in body[1].splitlines()]


def test_the_files_and_how_they_are_checked() -> None:
    rendered = haproxy.render(described(responses="by_id"), "spark1")
    names = {file.name: file for file in rendered.files}
    assert {"haproxy.cfg", "servers.state", "keep_states.py", "models.json", "keys.map", "responses.map"} <= set(names)
    assert {file.mode for file in rendered.files} == {0o640}
    assert names["keys.map"].text == "@KEY_SHA256:laptop@ laptop\n@KEY_SHA256:ci@ ci\n"
    assert json.loads(names["models.json"].text)["data"][0]["id"] == "Org/chat"
    assert rendered.check == (("/usr/sbin/haproxy", "-c", "-q", "-f", "{folder}/haproxy.cfg"),)
    assert [unit.name for unit in rendered.units] == ["dgxspark-gateway.service"]
    assert (haproxy.PACKAGES, rendered.venv) == (("haproxy",), "")


@pytest.mark.parametrize(
    "line",
    [
        "option http-no-delay",
        "option abortonclose",
        "option idle-close-on-response",
        "http-reuse always",
        "retry-on conn-failure empty-response",
        "timeout connect 2s",
    ],
)
def test_defaults(line: str) -> None:
    assert line in section(haproxy.configuration(described()), "defaults")


def test_g03_the_timeouts_are_the_variable() -> None:
    lines = section(haproxy.configuration(described(timeout=900)), "defaults")
    assert {"timeout client 900s", "timeout server 900s", "timeout connect 2s"} <= set(lines)


def test_g04_idle_connections_to_engines_are_short_lived_and_a_request_is_sent_again() -> None:
    text = haproxy.configuration(described())
    assert "retry-on conn-failure empty-response" in section(text, "defaults")
    assert any("pool-purge-delay 4s" in line for line in section(text, "backend chat"))
    assert "tune.bufsize 69632" in section(text, "global")


def test_every_error_of_its_own_is_json() -> None:
    lines = section(haproxy.configuration(described()), "defaults")
    for status, body in paths.OWN_ERRORS.items():
        assert f"http-error status {status} content-type application/json string '{body}'" in lines


def test_g08_a_replica_is_looked_at_by_its_door() -> None:
    lines = section(haproxy.configuration(described()), "backend chat")
    assert "http-check send meth GET uri /ready ver HTTP/1.1 hdr host door hdr connection close" in lines
    server = 'server chat-0 192.0.2.11:8000 port 29480 agent-port 29480 agent-send "agent\\n"'
    assert server in lines
    default = next(line for line in lines if line.startswith("default-server"))
    assert "check agent-check" in default
    assert "maxconn 64" in default
    assert "on-marked-down shutdown-sessions" in default


def test_a_door_at_another_address_is_asked_there() -> None:
    replica = {**deployment()["replicas"][0], "health_address": "2001:db8::7"}
    lines = section(haproxy.configuration(described(deployment(replicas=0) | {"replicas": [replica]})), "backend chat")
    assert any("addr [2001:db8::7] agent-addr [2001:db8::7]" in line for line in lines)


@pytest.mark.parametrize(
    ("engine_key", "keys", "line"),
    [
        (True, ["laptop"], 'http-request set-header authorization "Bearer @ENGINE_KEY@"'),
        (True, [], 'http-request set-header authorization "Bearer @ENGINE_KEY@"'),
        (False, ["laptop"], "http-request del-header authorization"),
        (False, [], ""),
    ],
)
def test_g13_the_engines_get_the_gateways_key_and_never_a_clients(engine_key: bool, keys: list[str], line: str) -> None:
    lines = section(haproxy.configuration(described(engine_key=engine_key, keys=keys)), "backend chat")
    assert [each for each in lines if "authorization" in each] == ([line] if line else [])


def test_without_keys_nobody_is_asked_for_one() -> None:
    text = haproxy.configuration(described(keys=[]))
    assert "status 401" not in text
    assert "keys.map" not in text


@pytest.mark.parametrize(("queue", "rule"), [(128, "{ queue(chat) ge 128 }"), (0, "{ be_conn_free(chat) le 0 }")])
def test_the_bound_of_the_queue(queue: int, rule: str) -> None:
    lines = section(haproxy.configuration(described(deployment(queue=queue))), "backend chat")
    assert any("status 429" in line and line.endswith(f"hdr retry-after 1 if {rule}") for line in lines)


@pytest.mark.parametrize(("tls", "has"), [("", False), ("self-signed", True), ("given", True)])
def test_tls(tls: str, has: bool) -> None:
    bind = section(haproxy.configuration(described(tls=tls)), "frontend gateway")[0]
    assert ("ssl crt tls.pem" in bind) is has


def test_a_bodys_first_mib_is_looked_into_only_where_it_must_be() -> None:
    assert "tune.bufsize 69632" in haproxy.configuration(described())
    assert "tune.bufsize 1052672" in haproxy.configuration(described(deployment(), deployment("embed")))


def test_the_log_has_no_query_and_no_body() -> None:
    line = next(
        line for line in section(haproxy.configuration(described()), "frontend gateway") if "log-format" in line
    )
    assert "path=%HPO" in line
    assert not [word for word in ("%HU", "%HQ", "%r ", "req.body", "req.hdr") if word in line]


def test_a_router_between_has_haproxy_on_both_sides() -> None:
    middle = haproxy.Middle("vllm-router", "/health")
    text = haproxy.configuration(described(), middle)
    front = section(text, "frontend gateway")
    assert "use_backend chat if !{ path -m str /v1/chat/completions /v1/completions /v1/embeddings }" in front
    assert front[-1] == "default_backend vllm-router_chat"
    assert "server vllm-router 127.0.0.1:29491 check inter 2s downinter 500ms fall 15" in section(
        text, "backend vllm-router_chat"
    )
    first, second = (section(text, f"frontend replica_chat-{number}") for number in range(2))
    assert first[0] == "bind 127.0.0.1:29510"
    assert second[0] == "bind 127.0.0.1:29511"
    assert "monitor-uri /health" in first
    generation = "/v1/chat/completions /v1/completions /v1/embeddings"
    assert f"http-request return status 404 unless {{ path -m str {generation} }}" in first
    assert "http-request set-var(txn.first) str(chat-0) if { nbsrv(only_chat-0) gt 0 }" in first
    assert section(text, "frontend deployment_chat")[0] == "bind 127.0.0.1:29560"


@pytest.mark.parametrize(("own_keys", "asked"), [(False, True), (True, False)])
def test_a_router_with_keys_of_its_own_gets_the_clients(own_keys: bool, asked: bool) -> None:
    text = haproxy.configuration(described(), haproxy.Middle("litellm", "/health", own_keys=own_keys))
    assert ("status 401" in text) is asked
    assert ("http-request del-header authorization" in section(text, "backend litellm_chat")) is asked


@pytest.mark.parametrize(("text", "word"), [("a b", "'a b'"), ("it's", "'it'\\''s'"), ("100%", "'100%'")])
def test_words(text: str, word: str) -> None:
    assert quoted(text) == word


def test_an_answer() -> None:
    rule = returned(429, "{}", "if x", headers="hdr retry-after 1")
    assert rule == "http-request return status 429 content-type application/json string '{}' hdr retry-after 1 if x"
