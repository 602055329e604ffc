# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Looks at a container that answer late."""

from __future__ import annotations

import threading

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.docker_socket import Docker
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.engine import Engine
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.state import Container, Run
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.watch import ContainerWatch, EngineWatch
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.supervisor.fake_engine import FakeEngine

LIMIT = 60.0  # seconds until a wait counts as failed


class SlowDocker(Docker):
    """The first look tells of before the start, and only after the second one has been answered."""

    def __init__(self) -> None:
        super().__init__("nothing")
        self.asked, self.answer = threading.Event(), threading.Event()

    def look(self, name: str) -> Container:
        if self.asked.is_set():
            return Container("running")
        self.asked.set()
        self.answer.wait(LIMIT)
        return Container("stopped")


def test_an_answer_from_before_a_start_is_dropped() -> None:
    docker = SlowDocker()
    news: list[str] = []
    watch = ContainerWatch(docker, "r0", lambda: news.append(watch.container().status))
    late = threading.Thread(target=watch.look)
    late.start()
    assert docker.asked.wait(LIMIT)
    watch.look()
    docker.answer.set()
    late.join(LIMIT)
    assert watch.container() == Container("running")
    assert news == ["running"]


@pytest.mark.parametrize("status", [401, 403])
def test_g13_an_engine_that_refuses_our_key_is_up(status: int) -> None:
    engine = FakeEngine()
    engine.statuses["/health"] = status
    healthy = threading.Event()
    watch = EngineWatch(Engine(engine.api), healthy.set)
    watch.begin()
    watch.watch(Run("id", "1"), serves=False)
    try:
        assert healthy.wait(LIMIT)
        assert watch.healthy(Run("id", "1"))
    finally:
        engine.close()
