# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The gateway as files."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.rendered import File, Rendered, Unit
from ansible_collections.dgxspark.serving.plugins.module_utils.report import gateway_files
from ansible_collections.dgxspark.serving.plugins.module_utils.report.explain import explain

GATEWAY = {
    "provider": "fake",
    "hosts": ["spark1", "spark2"],
    "urls": {"spark1": "http://192.0.2.11:8080", "spark2": "http://192.0.2.12:8080"},
}


@pytest.fixture(autouse=True)
def fake_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    def render(description: Mapping[str, Any], host: str) -> Rendered:
        files = (File("a.cfg", "one\ntwo @ENGINE_KEY@\n"), File("b.cfg", f"on {host}\n"))
        return Rendered(files, (Unit("dgxspark-gateway.service", "[Unit]\n"),), ())

    monkeypatch.setitem(gateway_files.PROVIDERS, "fake", SimpleNamespace(render=render))


def test_files_and_units_of_each_host() -> None:
    assert gateway_files.gateway_files(GATEWAY) == [
        "",
        "# spark1: gateway fake at http://192.0.2.11:8080",
        "",
        "# spark1: /etc/dgxspark-serving/gateway/a.cfg",
        "one",
        "two @ENGINE_KEY@",
        "",
        "# spark1: /etc/dgxspark-serving/gateway/b.cfg",
        "on spark1",
        "",
        "# spark1: /etc/systemd/system/dgxspark-gateway.service",
        "[Unit]",
        "",
        "# spark2: gateway fake at http://192.0.2.12:8080",
        "# spark2: /etc/dgxspark-serving/gateway/a.cfg, the same",
        "",
        "# spark2: /etc/dgxspark-serving/gateway/b.cfg",
        "on spark2",
        "# spark2: /etc/systemd/system/dgxspark-gateway.service, the same",
    ]


def test_they_stand_behind_the_commands_of_the_plan() -> None:
    plan: dict[str, Any] = {"replicas": [], "ranks": {}, "gateway": GATEWAY}
    assert explain(plan)[2:] == gateway_files.gateway_files(GATEWAY)


@pytest.mark.parametrize("plan", [{"replicas": [], "ranks": {}}, {"replicas": [], "ranks": {}, "gateway": None}])
def test_without_a_gateway_there_is_nothing(plan: dict[str, Any]) -> None:
    assert len(explain(plan)) == 2
