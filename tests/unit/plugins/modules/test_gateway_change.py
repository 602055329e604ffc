# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module gateway_change: what it makes of secrets, and what it says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.dgxspark.serving.plugins.module_utils.gateway import account, units
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.apply import Gateway
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.places import Places
from ansible_collections.dgxspark.serving.plugins.modules import gateway_change
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.gateway.fake_host import FakeHost
from ansible_collections.dgxspark.serving.tests.unit.plugins.modules.fake_module import Ended, FakeModule

KEY = "engine-key-0123456789"
LISTEN = {"address": "0.0.0.0", "port": 8080, "tls": False}


class Module(FakeModule):
    """One that remembers what is to be hidden and said."""

    def __init__(self, params: dict[str, Any], check_mode: bool = False) -> None:
        super().__init__(params, check_mode)
        self.no_log_values: set[str] = set()
        self.warnings: list[str] = []

    def warn(self, text: str) -> None:
        self.warnings.append(text)


class Spark:
    """A host whose gateway does not have to be started for real."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.places = Places(root)
        self.host = FakeHost(self.places.folder)
        self.gateway = Gateway(self.places, self.host)
        self.changes: list[dict[str, bytes]] = []
        self.monkeypatch = monkeypatch
        self.key_file = root / "engine.key"
        self.module: Module
        self.key_file.write_text(f"{KEY}\n")
        monkeypatch.setattr(account, "exists", lambda: False)
        monkeypatch.setattr(gateway_change, "Gateway", lambda: self.gateway)
        monkeypatch.setattr(self.gateway, "change", self.change)

    def change(self, here: Any, wanted: Any, due: Any, check: Any, router: Any) -> None:
        self.changes.append({name: content.data for name, content in wanted.files.items()})
        self.places.folder.mkdir(parents=True, exist_ok=True)
        for name, content in wanted.files.items():
            (self.places.folder / name).write_bytes(content.data)
            (self.places.folder / name).chmod(content.mode)

    def call(self, check_mode: bool = False, **params: Any) -> dict[str, Any]:
        def made(argument_spec: dict[str, dict[str, Any]], supports_check_mode: bool) -> Module:
            assert supports_check_mode
            assert set(params) <= set(argument_spec)
            defaults = {name: option.get("default") for name, option in argument_spec.items()}
            self.module = Module({**defaults, "engine_key_file": str(self.key_file), **params}, check_mode)
            return self.module

        self.monkeypatch.setattr(gateway_change, "AnsibleModule", made)
        with pytest.raises(Ended) as ended:
            gateway_change.main()
        return ended.value.result

    def have(self, text: str, check_mode: bool = False, **params: Any) -> dict[str, Any]:
        files = [{"name": "haproxy.cfg", "text": text, "mode": 0o640}]
        given = {"provider": "haproxy", "files": files, "units": [], "listen": LISTEN}
        return self.call(check_mode, **{**given, **params})


@pytest.fixture(name="spark")
def made_spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Spark:
    return Spark(tmp_path, monkeypatch)


def test_secrets_are_in_files_and_nowhere_else(spark: Spark) -> None:
    result = spark.have("@ENGINE_KEY@ @KEY:ci@", secrets={"@KEY:ci@": "sk-client-1"})
    (files,) = spark.changes
    assert files["haproxy.cfg"] == f"{KEY} sk-client-1".encode()
    shown = json.dumps(result) + files["rendered.json"].decode()
    assert (KEY in shown, "sk-client-1" in shown) == (False, False)
    assert {KEY, "sk-client-1"} <= spark.module.no_log_values
    assert result["diff"][0]["after"] == "@ENGINE_KEY@ @KEY:ci@"


def test_again_is_no_change_and_another_secret_is_one(spark: Spark) -> None:
    first = spark.have("@ENGINE_KEY@")
    assert (first["changed"], first["words"]) == (True, f"there is no user {units.USER}; haproxy.cfg is new")
    spark.monkeypatch.setattr(account, "exists", lambda: True)
    assert not spark.have("@ENGINE_KEY@")["changed"]
    spark.key_file.write_text("another-engine-key-0")
    again = spark.have("@ENGINE_KEY@")
    assert (again["changed"], again["diff"][0]["after"]) == (True, "as described\n")


def test_check_mode_on_a_virgin_host_without_the_key(spark: Spark) -> None:
    spark.key_file.unlink()
    result = spark.have("@ENGINE_KEY@", check_mode=True)
    assert (result["changed"], spark.changes) == (True, [])
    refused = spark.have("@ENGINE_KEY@")
    assert refused["msg"] == (
        f"found no {spark.key_file}, wanted the key that engines ask for. Run the whole deployment, which makes it."
    )


def test_a_placeholder_that_nobody_fills(spark: Spark) -> None:
    result = spark.have("@KEY:ci@ @KEY_SHA256:x@")
    assert result["msg"].startswith("found no value for @KEY:ci@, @KEY_SHA256:x@, wanted one for each.")
    assert spark.changes == []


def test_a_certificate_is_asked_for_once(spark: Spark) -> None:
    names = {"names": ["spark1"]}
    files = [{"name": "tls.pem", "text": "@TLS_PEM@\n", "mode": 0o640}]
    asked = spark.have("", files=files, certificate=names)
    assert (asked["needs_certificate"], spark.changes) == (True, [])
    made = {**names, "not_after": 1 << 40, "self_signed": True}
    assert spark.have("", files=files, certificate=made, secrets={"@TLS_PEM@": "PEM-TEXT"})["changed"]
    spark.monkeypatch.setattr(account, "exists", lambda: True)
    assert spark.have("", files=files, certificate=names)["changed"] is False
    assert spark.have("", files=files, certificate={"names": ["other"]})["needs_certificate"]


def test_packages_are_remembered_until_the_gateway_goes(spark: Spark) -> None:
    assert spark.call(check_mode=True, state="noted", packages=["nginx"])["changed"]
    assert spark.call(state="noted", packages=["nginx"]) == {"changed": True, "packages": ["nginx"]}
    assert not spark.call(state="noted", packages=["nginx"])["changed"]
    assert spark.call(check_mode=True, state="absent")["packages"] == ["nginx"]
    assert spark.call(state="absent")["packages"] == ["nginx"]
    assert spark.call(state="absent") == {
        "changed": False,
        "words": "there was nothing to remove",
        "packages": [],
        "diff": {"before": "", "after": ""},
    }


def test_all_that_it_returns_is_documented(spark: Spark) -> None:
    returned = {*spark.have("a"), *spark.call(state="absent")} - {"changed", "diff"}
    assert set(yaml.safe_load(gateway_change.RETURN)) == returned
