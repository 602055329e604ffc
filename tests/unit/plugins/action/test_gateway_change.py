# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the plugin reads on the controller, and what it tells the module."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest
from ansible.parsing.dataloader import DataLoader

from ansible_collections.dgxspark.serving.plugins.action import gateway_change

DESCRIPTION: dict[str, Any] = {
    "provider": "haproxy",
    "hosts": ["spark1"],
    "listen": {"address": "0.0.0.0", "port": 8080},
    "tls": "",
    "names": ["192.0.2.11", "spark1"],
    "keys": ["laptop"],
    "deployments": [
        {
            "name": "chat",
            "served_model_name": "tiny",
            "engine": "vllm",
            "concurrency": 4,
            "queue": 4,
            "queue_timeout": 60,
            "replicas": [
                {
                    "name": "chat-0",
                    "host": "spark1",
                    "address": "192.0.2.11",
                    "port": 8000,
                    "health_address": "192.0.2.11",
                    "health_port": 29480,
                }
            ],
        }
    ],
    "responses": "pinned",
    "paths": [],
    "body_limit": 67108864,
    "timeout": 600,
    "connect_timeout": 2,
    "metrics": {"address": "127.0.0.1", "port": 8405},
    "engine_key": True,
    "files": {"tls_certificate": "", "tls_key": "", "litellm_env": ""},
    "router_policy": "power_of_two",
    "litellm": {"settings": {}, "own_keys": False},
}
KEYS = [{"name": "laptop", "key": "sk-laptop-1"}]


class Call:
    """The plugin with answers of the module that are given."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, answers: list[dict[str, Any]], **arguments: Any) -> None:
        self.given: list[dict[str, Any]] = []
        self.answers = answers
        task = MagicMock(args=arguments, check_mode=False, async_val=0)
        self.plugin = gateway_change.ActionModule(
            task, MagicMock(), MagicMock(), DataLoader(), MagicMock(), MagicMock()
        )
        monkeypatch.setattr(self.plugin, "_execute_module", self.execute)

    def execute(self, module_name: str, module_args: dict[str, Any], task_vars: Any) -> dict[str, Any]:
        assert module_name == "dgxspark.serving.gateway_change"
        self.given.append(json.loads(json.dumps(module_args)))
        return self.answers[len(self.given) - 1]

    def run(self) -> dict[str, Any]:
        return self.plugin.run(task_vars={"inventory_hostname": "spark1"})


def test_a_host_of_haproxy_never_gets_a_plain_key(monkeypatch: pytest.MonkeyPatch) -> None:
    call = Call(monkeypatch, [{"changed": True}], description=DESCRIPTION, keys=KEYS)
    assert call.run()["changed"]
    (given,) = call.given
    assert "sk-laptop-1" not in json.dumps(given)
    assert list(given["secrets"]) == ["@KEY_SHA256:laptop@"]
    assert (given["listen"]["tls"], given["deployments"]) == (False, [{"name": "chat", "replicas": ["chat-0"]}])
    assert "router" not in given
    assert [unit["name"] for unit in given["units"]] == ["dgxspark-gateway.service"]


def test_nginx_gets_it_as_a_secret_apart_from_its_files(monkeypatch: pytest.MonkeyPatch) -> None:
    call = Call(monkeypatch, [{}], description={**DESCRIPTION, "provider": "nginx"}, keys=KEYS)
    call.run()
    (given,) = call.given
    assert given["secrets"] == {"@KEY:laptop@": "sk-laptop-1"}
    assert "sk-laptop-1" not in json.dumps(given["files"])


@pytest.mark.parametrize(("provider", "alone"), [("litellm", True), ("vllm-router", False)])
def test_a_router_behind_haproxy(monkeypatch: pytest.MonkeyPatch, provider: str, alone: bool) -> None:
    call = Call(monkeypatch, [{}], description={**DESCRIPTION, "provider": provider}, keys=KEYS)
    call.run()
    assert (call.given[0]["router"]["port"], call.given[0]["router"]["alone"]) == (29491, alone)
    assert len(call.given[0]["units"]) == 2


def test_litellms_own_keys_are_a_file_for_root_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "env"
    path.write_text("DATABASE_URL=postgres://x\nLITELLM_MASTER_KEY=sk-master\n")
    files = {**DESCRIPTION["files"], "litellm_env": str(path)}
    litellm = {"settings": {}, "own_keys": True}
    described = {**DESCRIPTION, "provider": "litellm", "keys": [], "files": files, "litellm": litellm}
    call = Call(monkeypatch, [{}], description=described)
    call.run()
    file = next(one for one in call.given[0]["files"] if one["name"] == "litellm.env")
    assert (file["mode"], file["text"]) == (0o600, "@LITELLM_ENV@\n")
    assert call.given[0]["secrets"]["@LITELLM_ENV@"].endswith("LITELLM_MASTER_KEY=sk-master")


def test_a_certificate_is_made_when_the_host_needs_one(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = [{"needs_certificate": True}, {"changed": True}]
    call = Call(monkeypatch, answers, description={**DESCRIPTION, "tls": "self-signed"}, keys=KEYS)
    call.run()
    first, second = call.given
    assert (first["certificate"], "@TLS_PEM@" in first["secrets"]) == ({"names": DESCRIPTION["names"]}, False)
    assert second["secrets"]["@TLS_PEM@"].startswith("-----BEGIN CERTIFICATE-----")
    assert second["certificate"]["self_signed"]


def test_validation_asks_no_host(monkeypatch: pytest.MonkeyPatch) -> None:
    call = Call(monkeypatch, [], description=DESCRIPTION, keys=KEYS, validate_only=True)
    assert call.run() == {"changed": False}
    assert call.given == []


def test_faults_of_keys_and_certificate_come_together(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    described = {
        **DESCRIPTION,
        "tls": "given",
        "files": {**DESCRIPTION["files"], "tls_certificate": str(tmp_path / "x")},
    }
    call = Call(
        monkeypatch, [], description=described, keys=[{"name": "laptop", "key": "a secret"}], validate_only=True
    )
    result = call.run()
    assert result["msg"].splitlines()[0] == "The configuration has 3 errors; nothing was changed."
    assert f"{tmp_path}/x: no such file or directory" in result["msg"]
    assert "a secret" not in result["msg"]
    assert call.given == []


def test_no_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    result = Call(monkeypatch, []).run()
    assert result["msg"].startswith("description has provider None, wanted one of haproxy, nginx, litellm, vllm-router")


def test_absent_needs_no_description(monkeypatch: pytest.MonkeyPatch) -> None:
    call = Call(monkeypatch, [{"changed": False}], state="absent", keys=KEYS)
    call.run()
    assert call.given == [{"state": "absent"}]


def test_a_key_file_in_the_home_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "laptop.key").write_text("sk-home-1\n")
    call = Call(
        monkeypatch,
        [{}],
        description={**DESCRIPTION, "provider": "nginx"},
        keys=[{"name": "laptop", "file": "~/laptop.key"}],
    )
    call.run()
    assert call.given[0]["secrets"] == {"@KEY:laptop@": "sk-home-1"}
