# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The attempts at a pull: how many, what is shown between them, and how they end."""

from __future__ import annotations

from typing import Any
from unittest.mock import MagicMock

import pytest

from ansible_collections.dgxspark.serving.plugins.action import image_pull

TOO_MANY = {"failed": True, "msg": "toomanyrequests: You have reached your pull rate limit", "exception": "Traceback"}
LATE = {"failed": True, "msg": "net/http: TLS handshake\n timeout."}
DONE = {"changed": True, "image": {"Architecture": "arm64"}}


class Attempts:
    """The plugin with answers that are given."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, answers: list[dict[str, Any]], **arguments: Any) -> None:
        self.answers = answers
        self.pulls: list[dict[str, Any]] = []
        self.shown: list[str] = []
        self.slept: list[float] = []
        task = MagicMock(args={"name": "acme/vllm:1", **arguments}, check_mode=False, async_val=0)
        self.plugin = image_pull.ActionModule(task, MagicMock(), MagicMock(), MagicMock(), MagicMock(), MagicMock())
        monkeypatch.setattr(self.plugin, "_execute_module", self.execute)
        monkeypatch.setattr(image_pull.time, "sleep", self.slept.append)
        monkeypatch.setattr(image_pull.Display, "display", lambda display, text: self.shown.append(text))

    def execute(self, module_name: str, module_args: dict[str, Any], task_vars: Any) -> dict[str, Any]:
        assert module_name == "community.docker.docker_image_pull"
        self.pulls.append(module_args)
        return self.answers[min(len(self.pulls), len(self.answers)) - 1]

    def run(self) -> dict[str, Any]:
        return self.plugin.run(task_vars={"inventory_hostname": "spark1"})


def test_d10_a_limit_and_a_timeout_are_waited_out(monkeypatch: pytest.MonkeyPatch) -> None:
    attempts = Attempts(monkeypatch, [TOO_MANY, LATE, DONE])
    result = attempts.run()
    assert (result["image"], result["attempts"], result.get("failed")) == ({"Architecture": "arm64"}, 3, None)
    assert attempts.pulls == [{"name": "acme/vllm:1", "pull": "not_present"}] * 3
    assert attempts.slept == [10, 20]
    assert attempts.shown == [
        "spark1: cannot pull acme/vllm:1 now, again in 10 s: toomanyrequests: You have reached your pull rate limit",
        "spark1: cannot pull acme/vllm:1 now, again in 20 s: net/http: TLS handshake timeout",
    ]


def test_d10_a_tag_that_does_not_exist_is_asked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    attempts = Attempts(monkeypatch, [{"failed": True, "msg": "manifest for acme/vllm:nope not found"}])
    result = attempts.run()
    assert result["msg"] == (
        "spark1: found no image acme/vllm:1, and it cannot be pulled: manifest for acme/vllm:nope not found."
        " Correct the name or the tag in serving_image."
    )
    assert (result["attempts"], attempts.slept, attempts.shown) == (1, [], [])


def test_d10_a_limit_that_stays_names_the_ways_out(monkeypatch: pytest.MonkeyPatch) -> None:
    attempts = Attempts(monkeypatch, [TOO_MANY], attempts="2", delay=1)
    result = attempts.run()
    assert result["failed"]
    assert result["msg"].startswith("spark1: found no image acme/vllm:1, and it cannot be pulled after 2 attempts:")
    assert "docker login" in result["msg"]
    assert "docker load -i IMAGE.tar" in result["msg"]
    assert "exception" not in result
    assert attempts.slept == [1]


def test_an_image_that_is_there_is_asked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    attempts = Attempts(monkeypatch, [{"changed": False, "image": {"Architecture": "arm64"}}])
    assert attempts.run()["changed"] is False
    assert len(attempts.pulls) == 1
