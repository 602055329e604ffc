# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The loop around the module: what is shown, what is handed on, and how it ends."""

from __future__ import annotations

from typing import Any
from unittest.mock import MagicMock

import pytest

from ansible_collections.dgxspark.serving.plugins.action import replica_ready

NAME = "dgxspark-a-0-r0"
WAITING = {
    "state": "waiting",
    "stage": "start",
    "detail": "the engine does not answer yet",
    "engine_stage": "loading weights",
    "percent": 10,
    "line": "shards: 10%",
    "log": ["shards: 10%"],
    "diagnosis": [],
    "evidence": "",
    "wait": {"id": "w1"},
}
READY = {"state": "ready", "tokens": 32}
FAILED = {**WAITING, "state": "failed", "detail": "the engine ended with exit code 1"}


class Loop:
    """The plugin with looks that are given; each takes ``window`` seconds of a clock of its own."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, looks: list[dict[str, Any]], **arguments: Any) -> None:
        self.now = 0.0
        self.looks = looks
        self.given: list[dict[str, Any]] = []
        self.shown: list[str] = []
        task = MagicMock(args={"container": NAME, **arguments}, check_mode=False, async_val=0)
        self.plugin = replica_ready.ActionModule(task, MagicMock(), MagicMock(), MagicMock(), MagicMock(), MagicMock())
        monkeypatch.setattr(self.plugin, "_execute_module", self.execute)
        monkeypatch.setattr(replica_ready.time, "monotonic", lambda: self.now)
        monkeypatch.setattr(replica_ready.Display, "display", lambda display, text: self.shown.append(text))

    def execute(self, module_name: str, module_args: dict[str, Any], task_vars: Any) -> dict[str, Any]:
        assert module_name == "dgxspark.serving.replica_ready"
        self.given.append(dict(module_args))
        self.now += 8
        return self.looks[min(len(self.given), len(self.looks)) - 1]

    def run(self) -> dict[str, Any]:
        return self.plugin.run(task_vars={"inventory_hostname": "spark1"})


def test_it_shows_progress_until_it_is_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = Loop(monkeypatch, [WAITING, {**WAITING, "percent": 50, "line": "shards: 50%"}, READY])
    result = loop.run()
    assert result["tokens"] == 32
    assert not result.get("failed")
    assert loop.shown == [
        f"spark1: {NAME}: 8 s, the engine does not answer yet; loading weights 10 %: shards: 10%",
        f"spark1: {NAME}: 16 s, the engine does not answer yet; loading weights 50 %: shards: 50%",
    ]
    assert [given.get("wait") for given in loop.given] == [None, {"id": "w1"}, {"id": "w1"}]


def test_it_fails_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    result = Loop(monkeypatch, [WAITING, FAILED]).run()
    assert result["failed"]
    assert result["msg"].startswith(
        f"spark1: {NAME} did not become ready: after 16 s the engine ended with exit code 1.\nLast lines of its log:\n"
    )


def test_it_gives_up_without_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = Loop(monkeypatch, [WAITING], timeout=30)
    result = loop.run()
    assert result["failed"]
    assert f"{NAME} did not become ready until replica_ready_timeout (30 s): after 40 s" in result["msg"]


def test_it_goes_on_while_there_is_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = [{**WAITING, "percent": percent} for percent in range(15)]
    assert not Loop(monkeypatch, [*looks, READY], timeout=30, timeout_total=1000).run().get("failed")
    result = Loop(monkeypatch, [*looks, READY], timeout=25).run()
    assert "did not become ready within 100 s in all: after 104 s" in result["msg"]


def test_a_module_that_fails_speaks_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    result = Loop(monkeypatch, [{"failed": True, "msg": "Docker does not answer"}]).run()
    assert (result["failed"], result["msg"]) == (True, "Docker does not answer")


def test_nothing_is_waited_for_in_check_mode(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = Loop(monkeypatch, [])
    loop.plugin._task.check_mode = True
    assert loop.run()["skipped"]
    assert loop.given == []
