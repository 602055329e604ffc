# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""LiteLLM and vllm-router: how they are told of the deployments, and that they repeat nothing."""

from __future__ import annotations

import json
import shlex
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.gateway import litellm, vllm_router
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.rendered import Rendered


def deployment(name: str, model: str, replicas: int, first_port: int = 8000) -> dict[str, Any]:
    """A deployment with replicas on hosts of their own."""
    return {
        "name": name, "served_model_name": model, "engine": "vllm", "concurrency": 64, "queue": 128,
        "queue_timeout": 60, "replicas": [
            {
                "name": f"{name}-{number}", "host": f"spark{number + 1}", "address": f"192.0.2.1{number + 1}",
                "port": first_port, "health_address": f"192.0.2.1{number + 1}", "health_port": 29480,
            }
            for number in range(replicas)
        ],
    }  # fmt: skip


def described(*deployments: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """The description of a gateway."""
    return {
        "hosts": ["spark1"], "listen": {"address": "0.0.0.0", "port": 8080}, "tls": "", "keys": ["laptop"],
        "deployments": list(deployments), "responses": "pinned", "paths": [], "body_limit": 67_108_864,
        "timeout": 600, "connect_timeout": 2, "metrics": {"address": "127.0.0.1", "port": 8405}, "engine_key": True,
        "router_policy": "power_of_two", "litellm": {"settings": {}, "own_keys": False}, **changes,
    }  # fmt: skip


def text(rendered: Rendered, name: str) -> str:
    """The text of a file."""
    [found] = [file.text for file in rendered.files if file.name == name]
    return found


def yaml(**changes: Any) -> dict[str, Any]:
    """litellm.yaml of two deployments."""
    two = described(deployment("chat", "tiny-chat", 2), deployment("big", "Org/Big-1", 1, 8001), **changes)
    found: dict[str, Any] = json.loads(text(litellm.render(two, "spark1"), "litellm.yaml"))
    return found


def router_command(replicas: int) -> list[str]:
    """The command line of vllm-router."""
    rendered = vllm_router.render(described(deployment("chat", "tiny-chat", replicas)), "spark1")
    return shlex.split(text(rendered, "router-start").splitlines()[-1])


def flag(words: list[str], name: str) -> str:
    """The value that follows a flag."""
    return words[words.index(name) + 1]


def test_g11_litellm_has_the_served_name_and_the_engine_gets_it() -> None:
    assert [(model["model_name"], model["litellm_params"]["model"]) for model in yaml()["model_list"]] == [
        ("tiny-chat", "hosted_vllm/tiny-chat"),
        ("Org/Big-1", "hosted_vllm/Org/Big-1"),
    ]


def test_litellm_asks_one_address_for_each_deployment() -> None:
    assert [model["litellm_params"]["api_base"] for model in yaml()["model_list"]] == [
        "http://127.0.0.1:29560/v1",
        "http://127.0.0.1:29561/v1",
    ]


def test_g03_litellm_waits_as_long_as_the_gateway() -> None:
    found = yaml(timeout=900)
    assert (found["litellm_settings"]["request_timeout"], found["router_settings"]["timeout"]) == (900, 900)


def test_litellm_repeats_nothing_and_keeps_quiet() -> None:
    found = yaml()
    assert found["router_settings"]["num_retries"] == found["litellm_settings"]["num_retries"] == 0
    assert found["router_settings"]["disable_cooldowns"] is True
    assert found["litellm_settings"]["telemetry"] is False
    assert found["litellm_settings"]["turn_off_message_logging"] is True


def test_litellm_fetches_nothing_at_its_start() -> None:
    start = text(litellm.render(described(deployment("chat", "tiny-chat", 1)), "spark1"), "router-start")
    assert "export LITELLM_LOCAL_MODEL_COST_MAP=True" in start
    assert "--port 29491" in start


def test_litellm_settings_of_the_user_win() -> None:
    found = yaml(litellm={"settings": {"drop_params": True, "request_timeout": 5}, "own_keys": False})
    assert found["litellm_settings"]["drop_params"] is True
    assert found["litellm_settings"]["request_timeout"] == 5
    assert found["litellm_settings"]["num_retries"] == 0


@pytest.mark.parametrize("own", [False, True])
def test_litellm_runs_without_a_key_only_behind_haproxys(own: bool) -> None:
    general = yaml(litellm={"settings": {}, "own_keys": own}, keys=[], responses="off")["general_settings"]
    assert general.get("dangerously_permit_weak_or_unset_master_key", False) is not own


def test_vllm_router_knows_a_listener_for_each_replica() -> None:
    words = router_command(3)
    assert words[words.index("--worker-urls") + 1 :] == [f"http://127.0.0.1:{port}" for port in (29510, 29511, 29512)]


@pytest.mark.parametrize(("replicas", "policy"), [(1, "round_robin"), (2, "power_of_two")])
def test_vllm_routers_policy_is_not_its_default(replicas: int, policy: str) -> None:
    assert flag(router_command(replicas), "--policy") == policy


def test_vllm_router_repeats_nothing_and_looks_every_second() -> None:
    words = router_command(2)
    assert "--disable-retries" in words
    assert flag(words, "--health-check-interval-secs") == "1"
    assert flag(words, "--host") == "127.0.0.1"


@pytest.mark.parametrize("module", [litellm, vllm_router])
def test_haproxy_stands_before_and_behind(module: Any) -> None:
    rendered = module.render(described(deployment("chat", "tiny-chat", 2)), "spark1")
    assert [unit.name for unit in rendered.units] == ["dgxspark-gateway.service", "dgxspark-gateway-router.service"]
    assert module.PACKAGES == ("haproxy", "python3-packaging", "python3-venv")
    configuration = text(rendered, "haproxy.cfg")
    assert "127.0.0.1:29491" in configuration
    assert "bind 127.0.0.1:29511" in configuration
    # Nothing that needs a secret is the router's.
    assert not [
        file.name for file in rendered.files if "@" in file.text and file.name.startswith(("router", "litellm"))
    ]
