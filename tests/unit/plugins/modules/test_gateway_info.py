# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module gateway_info."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.dgxspark.serving.plugins.module_utils.gateway import live, units
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.apply import Gateway
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.places import Places
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.record import Record
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.unit_state import State
from ansible_collections.dgxspark.serving.plugins.modules import gateway_info
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.gateway.fake_host import FakeHost
from ansible_collections.dgxspark.serving.tests.unit.plugins.modules.fake_module import Ended, FakeModule

POLICY = "haproxy:\n  Installed: (none)\n  Candidate: 3.0\n"


class Module(FakeModule):
    """One whose apt knows haproxy."""

    def run_command(self, argv: list[str]) -> tuple[int, str, str]:
        assert argv[:2] == ["apt-cache", "policy"]
        return 0, POLICY, ""


def call(monkeypatch: pytest.MonkeyPatch, root: Path, **params: Any) -> dict[str, Any]:
    def made(argument_spec: dict[str, dict[str, Any]], supports_check_mode: bool) -> Module:
        assert supports_check_mode
        return Module({name: option.get("default") for name, option in argument_spec.items()} | params)

    places = Places(root)
    monkeypatch.setattr(gateway_info, "AnsibleModule", made)
    monkeypatch.setattr(gateway_info, "Gateway", lambda: Gateway(places, FakeHost(places.folder)))
    with pytest.raises(Ended) as ended:
        gateway_info.main()
    return ended.value.result


def test_a_virgin_host(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    found = call(monkeypatch, tmp_path, packages=["haproxy"], venv=str(tmp_path), requirement="x==1")
    assert json.loads(json.dumps(found)) == found
    assert (found["present"], found["active"], found["stats"], found["certificate"]) == (False, "inactive", None, None)
    assert (found["missing"], found["venv_ready"], found["problems"]) == (["haproxy"], False, [])
    assert set(yaml.safe_load(gateway_info.RETURN)) == set(found) - {"changed"}


def test_a_gateway_that_does_not_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    places = Places(tmp_path)
    places.unit(units.FRONT).parent.mkdir(parents=True)
    places.unit(units.FRONT).write_text("unit")
    places.folder.mkdir(parents=True)
    places.record.write_text(Record("haproxy", {"port": 8080}, (), {"not_after": 7}).text())
    found = call(monkeypatch, tmp_path)
    assert (found["present"], found["provider"], found["active"]) == (True, "haproxy", "inactive")
    assert (found["certificate"], len(found["files_digest"])) == ({"not_after": 7}, 64)


def test_all_problems_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    held = [{"address": "0.0.0.0", "port": 8080, "use": "gateway", "holder": "nginx (pid 123, unit nginx.service)"}]
    monkeypatch.setattr(gateway_info.holders, "held", lambda ports, names: held)
    found = call(monkeypatch, tmp_path, packages=["haproxy", "other"], require=True)
    assert found["msg"].splitlines() == [
        "This host cannot run the gateway; nothing was changed.",
        (
            "  1. found port 8080 taken by nginx (pid 123, unit nginx.service), wanted 0.0.0.0:8080 free for the"
            " gateway. Stop it, or choose another port."
        ),
        (
            "  2. found no package other, and apt knows none to install, wanted other for the gateway."
            " Run `apt-get update` on the host, or install it from where you have it."
        ),
    ]


@pytest.mark.parametrize(
    ("states", "word"),
    [
        (["active"], "active"),
        (["active", "reloading"], "active"),
        (["active", "failed"], "failed"),
        (["active", "activating"], "failed"),
        (["inactive"], "inactive"),
        ([], "inactive"),
    ],
)
def test_one_word_for_all_units(states: list[str], word: str) -> None:
    assert live.active([State(active=state) for state in states]) == word
