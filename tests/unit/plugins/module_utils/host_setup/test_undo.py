# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is to be undone on a host, from what was noted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.host_setup import texts
from ansible_collections.dgxspark.serving.plugins.module_utils.host_setup.runtime import DAEMON_JSON
from ansible_collections.dgxspark.serving.plugins.module_utils.host_setup.state import (
    DOCKER,
    EARLYOOM,
    Container,
    Seen,
    Undo,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.host_setup.undo import undo
from ansible_collections.dgxspark.serving.plugins.module_utils.host_setup.units import Unit

WITH_NVIDIA = '{"debug": true, "runtimes": {"nvidia": {"path": "nvidia-container-runtime"}}}'
SEEN = Seen(
    units={DOCKER: Unit(there=True, active=True), EARLYOOM: Unit(there=True, active=True)},
    files={DAEMON_JSON: WITH_NVIDIA},
    scores={DOCKER: -900},
    groups=("dev", "docker"),
)
NOTES: dict[str, Any] = {"package:earlyoom": True, f"score:{DOCKER}": -500, "group:dev": True}
KEPT = {texts.drop_in_path(DOCKER): None}


def test_a_host_that_was_never_prepared() -> None:
    assert undo([], {}, {}, SEEN) == Undo()


def test_all_that_was_noted_is_undone() -> None:
    assert undo(["setup", "swap"], NOTES, KEPT, SEEN) == Undo(
        records=["setup", "swap"],
        setup=True,
        purge=["earlyoom"],
        user="dev",
        scores={DOCKER: -500},
        reload=True,
    )


def test_d08_files_and_packages_wait_for_the_engine_and_swap_does_not() -> None:
    work = undo(["setup", "swap"], NOTES, KEPT, replace(SEEN, running=(Container("vllm", True),)))
    assert work == Undo(
        records=["setup", "swap"],
        later=[
            (
                "Files, units and packages stay as they are while these use the GPU: vllm."
                " Run teardown with --tags host again when nothing of it runs."
            )
        ],
    )


def test_limits_alone_need_no_reload() -> None:
    assert not undo(["setup"], {}, {texts.LIMITS_PATH: None}, SEEN).reload


def test_an_earlyoom_of_the_user_comes_back() -> None:
    before = {"enabled": False, "active": True}
    work = undo(["setup"], {"earlyoom": before}, KEPT, SEEN)
    assert work.earlyoom == before
    assert work.purge == []


DOCKER_NOTES = {"package:docker.io": True, "package:containerd": True, "package:earlyoom": True}


def test_docker_goes_without_its_data() -> None:
    work = undo(["setup"], DOCKER_NOTES, KEPT, SEEN)
    assert work.purge == ["earlyoom"]
    assert work.remove == ["docker.io", "containerd"]


@pytest.mark.parametrize(
    ("running", "strangers", "by"),
    [((Container("web", False),), (), "web"), ((), ("docker-compose",), "docker-compose")],
)
def test_packages_that_are_in_use_stay(running: Any, strangers: Any, by: str) -> None:
    work = undo(["setup"], DOCKER_NOTES, KEPT, replace(SEEN, running=running), strangers)
    assert work.remove == []
    assert work.later == [f"These packages stay, for they are in use by {by}: docker.io, containerd."]


def test_daemon_json_comes_back_and_docker_is_restarted() -> None:
    kept = {**KEPT, DAEMON_JSON: '{"debug": true}'}
    assert undo(["setup"], {"runtime": True}, kept, SEEN).docker


def test_daemon_json_that_others_changed_stays() -> None:
    kept = {**KEPT, DAEMON_JSON: '{"debug": false}'}
    work = undo(["setup"], {"runtime": True}, kept, SEEN)
    assert work.drop == [DAEMON_JSON]
    assert not work.docker
    assert "Take runtimes.nvidia out of it yourself" in work.later[0]


def test_daemon_json_that_is_as_it_was() -> None:
    assert not undo(["setup"], {"runtime": True}, {**KEPT, DAEMON_JSON: WITH_NVIDIA}, SEEN).docker


def test_docker_is_not_restarted_under_containers() -> None:
    kept = {**KEPT, DAEMON_JSON: '{"debug": true}'}
    work = undo(["setup"], {"runtime": True}, kept, replace(SEEN, running=(Container("web", False),)))
    assert not work.docker
    assert work.later == ["Docker has the old settings after its next start; these run: web."]


def test_the_clock() -> None:
    there = replace(SEEN, units={**SEEN.units, texts.CLOCK_UNIT: Unit(there=True)})
    assert undo(["setup"], {"clock": True}, {texts.CLOCK_PATH: None}, there).clock
    assert not undo(["setup"], {"clock": True}, {texts.CLOCK_PATH: None}, SEEN).clock
