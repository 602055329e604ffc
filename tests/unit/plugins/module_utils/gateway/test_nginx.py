# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""nginx.conf: what the description says, and the settings whose lack users pay for."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.gateway import nginx
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.nginx_text import literal, with_port


def described(**changes: Any) -> dict[str, Any]:
    """The description of one deployment with two replicas, with changes of its fields or of the deployment's."""
    deployment = {
        "name": "chat", "served_model_name": "Qwen/Qwen3-8B", "engine": "vllm", "concurrency": 64, "queue": 128,
        "queue_timeout": 60,
        "replicas": [
            {
                "name": f"chat-{number}", "host": f"spark{number + 1}", "address": f"192.0.2.1{number + 1}",
                "port": 8000, "health_address": f"192.0.2.1{number + 1}", "health_port": 29480,
            }
            for number in range(2)
        ],
    }  # fmt: skip
    deployment.update({key: changes.pop(key) for key in list(changes) if key in deployment})
    return {
        "provider": "nginx", "hosts": ["spark1"], "listen": {"address": "0.0.0.0", "port": 8080}, "tls": "",
        "keys": ["laptop", "ci"], "deployments": [deployment], "responses": "pinned", "paths": [],
        "body_limit": 67_108_864, "timeout": 600, "connect_timeout": 2, "engine_key": True,
        "router_policy": "power_of_two", "litellm": {"settings": {}, "own_keys": False}, **changes,
    }  # fmt: skip


def configuration(**changes: Any) -> str:
    """The text of nginx.conf."""
    [text] = [file.text for file in nginx.render(described(**changes), "spark1").files if file.name == "nginx.conf"]
    return text


def inside(text: str, head: str) -> str:
    """What is between the braces of a block."""
    found = re.search(rf"^( *){re.escape(head)} \{{\n(.*?)^\1\}}", text, re.M | re.S)
    assert found, f"no {head} in\n{text}"
    return found[2]


@pytest.mark.parametrize(
    "line",
    [
        pytest.param("proxy_buffering off;", id="G01-tokens-one-by-one"),
        pytest.param("proxy_http_version 1.1;", id="G01-http-1.1"),
        pytest.param('proxy_set_header Connection "";', id="G01-keep-alive"),
        pytest.param("proxy_read_timeout 600s;", id="G03-silent-prompt"),
        pytest.param("proxy_send_timeout 600s;", id="G03-send"),
        pytest.param("proxy_connect_timeout 2s;", id="G03-connect-stays-short"),
        pytest.param("client_max_body_size 67108864;", id="G05-large-body"),
        pytest.param("proxy_next_upstream error non_idempotent;", id="never-after-a-timeout-or-an-answer"),
        pytest.param('proxy_set_header Authorization "Bearer @ENGINE_KEY@";', id="G13-own-key"),
        pytest.param('proxy_set_header X-Api-Key "";', id="G13-no-key-of-a-client"),
        pytest.param("limit_conn in_flight 256;", id="two-replicas-of-64-and-128-that-wait"),
        pytest.param("listen 0.0.0.0:8080 backlog=4096;", id="listens"),
    ],
)
def test_server_has(line: str) -> None:
    assert line in inside(configuration(), "http").replace("        ", "    ").replace("    ", "\n").split("\n")


def test_g04_idle_connections_end_before_the_engine_ends_them() -> None:
    engine_keeps = 5
    for name in ("upstream replicas", "upstream pinned"):
        [seconds] = re.findall(r"keepalive_timeout (\d+)s", inside(configuration(), name))
        assert int(seconds) < engine_keeps


def test_replicas_are_chosen_by_all_workers_together() -> None:
    block = inside(configuration(), "upstream replicas")
    assert [line.strip() for line in block.splitlines()][:4] == [
        "zone replicas 256k;",
        "least_conn;",
        "server 192.0.2.11:8000 max_fails=1 fail_timeout=5s;",
        "server 192.0.2.12:8000 max_fails=1 fail_timeout=5s;",
    ]


def test_g10_responses_go_to_the_first_replica_alone() -> None:
    text = configuration()
    assert re.findall(r"server (\S+);", inside(text, "upstream pinned")) == ["192.0.2.11:8000"]
    for head in ("location = '/v1/responses'", "location ^~ '/v1/responses/'"):
        assert "proxy_pass http://pinned;" in inside(text, head)
        assert "error_page 502 = @pinned_away;" in inside(text, head)


def test_responses_off_leaves_no_way_to_them() -> None:
    assert "/v1/responses" not in configuration(responses="off")


def test_only_the_listed_paths_reach_an_engine() -> None:
    text = configuration(paths=["/v1/audio/transcriptions", "/v1/rerank*"], responses="off")
    found = [
        head
        for head in re.findall(r"location (.*) \{", text)
        if "proxy_pass http://replicas" in inside(text, f"location {head}")
    ]
    assert found == [
        "= '/v1/chat/completions'",
        "= '/v1/completions'",
        "= '/v1/embeddings'",
        "= '/v1/audio/transcriptions'",
        "^~ '/v1/rerank'",
        "@again",
    ]
    assert "return 404;" in inside(text, "location /")


def test_keys_are_in_a_file_of_their_own_and_compared_with_regard_to_case() -> None:
    [keys] = [file for file in nginx.render(described(), "spark1").files if file.name == "nginx-keys.conf"]
    assert keys.text.splitlines()[1:] == ['"~^\\Q@KEY:laptop@\\E$" laptop;', '"~^\\Q@KEY:ci@\\E$" ci;']
    assert keys.mode == 0o640
    assert "@KEY" not in configuration()


def test_without_keys_nobody_is_asked() -> None:
    rendered = nginx.render(described(keys=[]), "spark1")
    assert "nginx-keys.conf" not in [file.name for file in rendered.files]
    text = configuration(keys=[], engine_key=False)
    assert "return 401" not in text
    assert "$gateway_key" not in text
    assert "proxy_set_header Authorization $http_authorization;" in text


def test_g13_a_clients_key_is_not_told_to_the_engine() -> None:
    assert 'proxy_set_header Authorization "";' in configuration(engine_key=False)


def test_log_has_neither_body_nor_query() -> None:
    [line] = [line for line in configuration().splitlines() if "log_format" in line]
    assert not re.search(r"\$(request|request_body|args|query_string|request_uri|http_\w+)\b", line)


def test_tls() -> None:
    text = configuration(tls="given")
    assert "listen 0.0.0.0:8080 ssl backlog=4096;" in text
    assert "ssl_certificate tls.pem;" in text
    assert "ssl" not in configuration()


def test_errors_name_the_replicas() -> None:
    [text] = re.findall(r"return 503 '(.*)';", inside(configuration(), "location @unreached"))
    message = json.loads(text)["error"]["message"]
    assert message == "No replica of Qwen/Qwen3-8B is ready: none of chat-0 on spark1, chat-1 on spark2 answers."


def test_models_are_told_without_an_engine() -> None:
    [text] = re.findall(r"return 200 '(.*)';", inside(configuration(), "location = /v1/models"))
    assert [model["id"] for model in json.loads(text)["data"]] == ["Qwen/Qwen3-8B"]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("plain", "'plain'"),
        ("gateway's", "'gateway\\'s'"),
        ('{"a": "b\\n"}', '\'{"a": "b\\\\n"}\''),
        ("cost $1", "'cost \\\\u00241'"),
    ],
)
def test_literal(text: str, written: str) -> None:
    assert literal(text) == written


@pytest.mark.parametrize(("address", "written"), [("192.0.2.1", "192.0.2.1:80"), ("2001:db8::1", "[2001:db8::1]:80")])
def test_with_port(address: str, written: str) -> None:
    assert with_port(address, 80) == written


def test_every_path_is_relative_so_that_one_text_is_checked_and_used() -> None:
    text = configuration(tls="given")
    named = re.findall(r"(?:_path|pid|include|ssl_certificate(?:_key)?) (\S+?);", text)
    assert named
    assert not [path for path in named if path.startswith("/")]
    assert nginx.CHECK[-1] == "{folder}/nginx.conf"
