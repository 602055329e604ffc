# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The loop around the module replica_drain: what is shown, what is handed on, and how it ends."""

from __future__ import annotations

from typing import Any
from unittest.mock import MagicMock

import pytest

from ansible_collections.dgxspark.serving.plugins.action import replica_drain

WAITING = {
    "changed": True,
    "done": False,
    "words": "3 requests running",
    "replica": "chat-0",
    "since": {"told": 5.0, "idle": None},
}
STILL = {**WAITING, "changed": False, "words": "1 request running"}
DONE = {**WAITING, "changed": False, "done": True, "words": ""}


class Loop:
    """The plugin with looks that are given; each takes its window on a clock of its own."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, looks: list[dict[str, Any]], **arguments: Any) -> None:
        self.now = 0.0
        self.looks = looks
        self.given: list[dict[str, Any]] = []
        self.shown: list[str] = []
        self.warned: list[str] = []
        check_mode = arguments.pop("check_mode", False)
        task = MagicMock(args={"state": "drained", **arguments}, check_mode=check_mode, async_val=0)
        self.plugin = replica_drain.ActionModule(task, MagicMock(), MagicMock(), MagicMock(), MagicMock(), MagicMock())
        monkeypatch.setattr(self.plugin, "_execute_module", self.execute)
        monkeypatch.setattr(replica_drain.time, "monotonic", lambda: self.now)
        monkeypatch.setattr(replica_drain.Display, "display", lambda display, text: self.shown.append(text))
        monkeypatch.setattr(replica_drain.Display, "warning", lambda display, text: self.warned.append(text))

    def execute(self, module_name: str, module_args: dict[str, Any], task_vars: Any) -> dict[str, Any]:
        assert module_name == "dgxspark.serving.replica_drain"
        self.given.append(dict(module_args))
        self.now += module_args["window"]
        return dict(self.looks[min(len(self.given), len(self.looks)) - 1])

    def run(self) -> dict[str, Any]:
        return self.plugin.run(task_vars={"inventory_hostname": "spark1"})


def test_it_shows_how_many_are_left(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = Loop(monkeypatch, [WAITING, STILL, DONE])
    result = loop.run()
    assert (result["changed"], result["done"], bool(result.get("failed"))) == (True, True, False)
    assert loop.shown == [
        "spark1: draining chat-0: 3 requests running, 10 s",
        "spark1: draining chat-0: 1 request running, 20 s",
    ]
    assert [given.get("since") for given in loop.given] == [None, WAITING["since"], WAITING["since"]]
    assert all("@" in given["by"] for given in loop.given)


def test_back_in_rotation(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = Loop(monkeypatch, [{**WAITING, "words": "not ready: loading"}, DONE], state="undrained")
    assert loop.run()["done"]
    assert loop.shown == ["spark1: undraining chat-0: not ready: loading, 10 s"]


def test_when_the_time_is_over_it_names_what_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = Loop(monkeypatch, [WAITING], timeout=25)
    result = loop.run()
    assert result["failed"]
    assert result["msg"].startswith("chat-0 is not drained after 25 s: 3 requests running. It gets no new requests")
    assert [given["window"] for given in loop.given] == [10, 10, 5]


def test_by_force_it_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = Loop(monkeypatch, [WAITING], timeout="10", force="yes")
    result = loop.run()
    assert (bool(result.get("failed")), result["done"]) == (False, False)
    assert loop.warned == ["spark1: chat-0 is not drained after 10 s: 3 requests running."]


def test_a_replica_that_does_not_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = Loop(monkeypatch, [{**WAITING, "words": "not ready: loading"}], state="undrained", timeout=10)
    assert loop.run()["msg"].startswith(
        "chat-0 is not back after 10 s: not ready: loading. It gets requests as soon as"
    )


@pytest.mark.parametrize("state", ["drained", "undrained"])
def test_check_mode_looks_once(monkeypatch: pytest.MonkeyPatch, state: str) -> None:
    loop = Loop(monkeypatch, [WAITING], state=state, check_mode=True)
    assert loop.run()["changed"]
    assert (len(loop.given), loop.shown) == (1, [])


def test_what_fails_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = Loop(monkeypatch, [{"failed": True, "msg": "found no rank 0"}])
    assert loop.run()["msg"] == "found no rank 0"
    assert len(loop.given) == 1
