# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a host's clock is compared with the controller's when its sampler ends."""

from __future__ import annotations

from typing import Any
from unittest.mock import MagicMock

import pytest
from ansible.errors import AnsibleConnectionFailure

from ansible_collections.dgxspark.serving.plugins.action import benchmark_sampler

NOW = 1_700_000_000.0


class Host:
    """A host whose clock is ahead by 90 s, and where each question takes a second less than the one before."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, state: str, check_mode: bool = False) -> None:
        self.asked: list[str] = []
        self.now = NOW
        self.broken = False
        self.answer: dict[str, Any] = {"running": False, "snapshots": {"samples": []}}
        self.arguments = {"state": state, "run": "r1"}
        task = MagicMock(args=self.arguments, check_mode=check_mode, async_val=0)
        others = [MagicMock() for _number in range(5)]
        self.plugin = benchmark_sampler.ActionModule(task, *others)
        monkeypatch.setattr(self.plugin, "_execute_module", self.execute)
        monkeypatch.setattr(self.plugin, "_low_level_execute_command", self.command)
        monkeypatch.setattr(benchmark_sampler.time, "time", lambda: self.now)

    def execute(self, module_name: str, module_args: dict[str, Any], task_vars: Any) -> dict[str, Any]:
        assert (module_name, module_args) == ("dgxspark.serving.benchmark_sampler", self.arguments)
        return dict(self.answer)

    def command(self, command: str, sudoable: bool) -> dict[str, Any]:
        if self.broken:
            raise AnsibleConnectionFailure("no route")
        self.asked.append(command)
        took = 4 - len(self.asked)
        self.now += took
        return {"rc": 0, "stdout": f"{self.now - took / 2 + 90:.9f}\n"}

    def run(self) -> dict[str, Any]:
        result: dict[str, Any] = self.plugin.run(task_vars={})
        return result


def test_the_clock_comes_with_the_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    host = Host(monkeypatch, "stopped")
    assert host.run() == {"running": False, "snapshots": {"samples": []}, "clock": {"offset_s": 90.0, "error_s": 0.5}}
    assert host.asked == ["date +%s.%N"] * 3


def test_a_host_that_cannot_be_asked_loses_no_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    host = Host(monkeypatch, "stopped")
    host.broken = True
    assert host.run() == {"running": False, "snapshots": {"samples": []}, "clock": None}


@pytest.mark.parametrize(("state", "check_mode"), [("started", False), ("once", False), ("stopped", True)])
def test_only_at_the_end(monkeypatch: pytest.MonkeyPatch, state: str, check_mode: bool) -> None:
    host = Host(monkeypatch, state, check_mode)
    assert "clock" not in host.run()
    assert host.asked == []


def test_a_module_that_failed_says_why_and_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    host = Host(monkeypatch, "stopped")
    host.answer = {"failed": True, "msg": "run: found ''"}
    assert host.run() == {"failed": True, "msg": "run: found ''"}
