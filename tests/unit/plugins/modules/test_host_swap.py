# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module host_swap."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.facts import fstab
from ansible_collections.dgxspark.serving.plugins.modules import host_swap
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.swap_host import FSTAB, SwapHost
from ansible_collections.dgxspark.serving.tests.unit.plugins.modules.fake_module import Ended, FakeModule


class WarningModule(FakeModule):
    """Gives its warnings in its result."""

    def __init__(self, state: str) -> None:
        super().__init__({"state": state})
        self.warnings: list[str] = []

    def warn(self, text: str) -> None:
        self.warnings.append(text)

    def exit_json(self, **result: Any) -> None:
        super().exit_json(**result, warnings=self.warnings)


def call(monkeypatch: pytest.MonkeyPatch, host: SwapHost, state: str = "absent", uid: int = 0) -> dict[str, Any]:
    monkeypatch.setattr(host_swap.os, "geteuid", lambda: uid)
    monkeypatch.setattr(host_swap, "HostFiles", lambda: host)
    monkeypatch.setattr(host_swap, "AnsibleModule", lambda **arguments: WarningModule(state))
    with pytest.raises(Ended) as ended:
        host_swap.main()
    return ended.value.result


def test_needs_root(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    result = call(monkeypatch, SwapHost(tmp_path), uid=1000)
    assert result["failed"]
    assert result["msg"] == "Swap can be changed by root only. Set become: true for this task."


def test_the_diff_shows_fstab_and_what_goes_off(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    host = SwapHost(tmp_path)
    host.services = {"zramswap.service"}
    result = call(monkeypatch, host)
    rows, there = result["diff"]
    assert (result["changed"], rows["before"], rows["after"]) == (True, FSTAB, host.read(fstab.PATH))
    assert there["before"] == "on: /swap.img\nstarts swap: zramswap.service\nruns: zramswap.service\n"
    assert there["after"] == ""
    back = call(monkeypatch, host, "restored")
    assert (back["diff"][1]["before"], back["diff"][1]["after"]) == ("", there["before"])
    assert len(call(monkeypatch, host, "restored")["diff"]) == 1


def test_failures_and_warnings_reach_the_user(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    host = SwapHost(tmp_path)
    host.stuck = {"/swap.img"}
    assert call(monkeypatch, host)["msg"].startswith("Swap is still on: /swap.img")
    host.on({})
    assert call(monkeypatch, host, "restored")["warnings"][0].startswith("/swap.img did not come on again")
