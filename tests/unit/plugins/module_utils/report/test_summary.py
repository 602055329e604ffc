# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The summary that a deployment ends with."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.report import summary

REPLICAS = [
    {
        "name": f"tp1-{index}",
        "hosts": [f"spark{index + 1}"],
        "endpoint": f"http://192.0.2.1{index}:8000",
        "served_model_name": "qwen",
        "engine": "vllm",
    }
    for index in range(2)
]


def test_summary() -> None:
    lines = summary.summary(REPLICAS, {"tp1-0": summary.Readiness("0.32.0", 31.26)})
    assert lines[:4] == [
        "replica  hosts   endpoint                served model  engine       smoke tok/s",
        "-------  ------  ----------------------  ------------  -----------  -----------",
        "tp1-0    spark1  http://192.0.2.10:8000  qwen          vllm 0.32.0  31.3",
        "tp1-1    spark2  http://192.0.2.11:8000  qwen          vllm         -",
    ]


def gateway(**changes: Any) -> dict[str, Any]:
    return {
        "provider": "haproxy",
        "hosts": ["spark1"],
        "urls": {"spark1": "https://192.0.2.10:8080", "spark2": "https://192.0.2.11:8080"},
        "tls": "self-signed",
        "keys": ["laptop", "ci"],
        "responses": "pinned",
        "engine_key": True,
        "router_policy": "power_of_two",
        "litellm": {"settings": {}, "own_keys": False},
        **changes,
    }


def text(**changes: Any) -> str:
    return "\n".join(summary.summary(REPLICAS, {}, gateway(**changes)))


@pytest.mark.parametrize("none", [None, {}])
def test_without_a_gateway_the_first_replica_is_asked(none: dict[str, Any] | None) -> None:
    said = "\n".join(summary.summary(REPLICAS, {}, none))
    assert "curl -N http://192.0.2.10:8000/v1/chat/completions" in said
    assert 'base_url = "http://192.0.2.10:8000/v1"' in said
    assert "~/.codex/spark.config.toml" in said
    assert "KEY" not in said


def test_with_a_gateway_its_address_is_the_one_to_ask() -> None:
    lines = summary.summary(REPLICAS, {"tp1-0": summary.Readiness("0.32.0", 31.26)}, gateway())
    assert lines[:5] == [
        "One address for all replicas: https://192.0.2.10:8080/v1  (haproxy on spark1)",
        "",
        "replica  hosts   direct endpoint         served model  engine       smoke tok/s",
        "-------  ------  ----------------------  ------------  -----------  -----------",
        "tp1-0    spark1  http://192.0.2.10:8000  qwen          vllm 0.32.0  31.3",
    ]
    said = "\n".join(lines)
    assert "curl -N https://192.0.2.10:8080/v1/chat/completions" in said
    assert '    base_url="https://192.0.2.10:8080/v1",' in lines
    assert '  base_url = "https://192.0.2.10:8080/v1"' in lines


def test_python_is_not_indented() -> None:
    lines = summary.summary(REPLICAS, {}, gateway())
    assert "from openai import DefaultHttpxClient, OpenAI" in lines


def test_a_second_codex_profile_passes_the_gateway_by() -> None:
    direct = text().partition("~/.codex/spark-direct.config.toml")[2]
    assert 'base_url = "http://192.0.2.10:8000/v1"' in direct
    assert 'env_key = "DGXSPARK_ENGINE_KEY"' in direct
    assert "/etc/dgxspark-serving/engine.key holds on spark1" in direct


def test_engines_without_a_key_need_none() -> None:
    assert "ENGINE_KEY" not in text(engine_key=False)


@pytest.mark.parametrize(
    ("endpoint", "where"),
    [("http://127.0.0.1:8000", "on spark1"), ("http://192.0.2.10:8000", "where its address is reached")],
)
def test_a_direct_endpoint_on_loopback_is_for_its_host(endpoint: str, where: str) -> None:
    replicas = [{**REPLICAS[0], "endpoint": endpoint}]
    said = "\n".join(summary.summary(replicas, {}, gateway()))
    assert f"Use tp1-0 past the gateway from codex {where} (" in said


@pytest.mark.parametrize(
    ("changes", "there", "absent"),
    [
        ({}, ["paste yours (laptop, ci):", "read -rs DGXSPARK_KEY", "openssl s_client", "CODEX_CA_CERTIFICATE"], []),
        ({"keys": []}, [], ["DGXSPARK_KEY", "read -rs"]),
        ({"keys": [], "litellm": {"own_keys": True}}, ["paste yours (one that LiteLLM made):", "$DGXSPARK_KEY"], []),
        ({"tls": "given"}, [], ["openssl", "--cacert", "CODEX_CA_CERTIFICATE", "ssl"]),
        (
            {"responses": "off"},
            ["gateway_responses: off", "spark-direct.config.toml"],
            ["/spark.config.toml"],
        ),
        (
            {"hosts": ["spark1", "spark2"]},
            ["The same on another host: https://192.0.2.11:8080/v1  (haproxy on spark2)"],
            [],
        ),
    ],
)
def test_what_is_said_follows_from_the_gateway(changes: dict[str, Any], there: list[str], absent: list[str]) -> None:
    said = text(**changes)
    assert [words for words in there if words not in said] == []
    assert [words for words in absent if words in said] == []
