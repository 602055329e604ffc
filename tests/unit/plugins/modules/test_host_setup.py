# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The modules host_info and host_setup, on a folder that stands for the host."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.host_files import HostFiles
from ansible_collections.dgxspark.serving.plugins.module_utils.host_setup import earlyoom
from ansible_collections.dgxspark.serving.plugins.module_utils.host_setup.look import oom_score
from ansible_collections.dgxspark.serving.plugins.module_utils.host_setup.record import Setup
from ansible_collections.dgxspark.serving.plugins.module_utils.host_setup.state import Due, Seen, Undo, Wanted
from ansible_collections.dgxspark.serving.plugins.modules import host_info, host_setup

PATH = "/etc/systemd/system/docker.service.d/50-dgxspark-serving.conf"
PARAMS = {
    "memlock": True,
    "earlyoom": True,
    "earlyoom_free": 2.0,
    "earlyoom_prefer": "",
    "earlyoom_avoid": "^sshd$",
    "oom_protection": False,
    "docker": True,
    "docker_group": True,
    "gpu_clock_max": 2200,
}


class FakeModule:
    """An AnsibleModule on whose host docker.service has one process."""

    def __init__(self, check_mode: bool = False, pid: int = 0, **params: Any) -> None:
        self.params = {"files": {}, "keep": [], "notes": {}, "scores": {}, "drop": [], **params}
        self.check_mode = check_mode
        self.pid = pid

    def run_command(self, argv: list[str]) -> tuple[int, str, str]:
        assert argv[:2] == ["systemctl", "show"]
        return 0, f"Id=docker.service\nMainPID={self.pid}\n", ""


@pytest.fixture
def setup(tmp_path: Path) -> Setup:
    return Setup(HostFiles(tmp_path))


@pytest.fixture
def process() -> Iterator[int]:
    """A process whose score may be raised, which needs no root."""
    with subprocess.Popen(["sleep", "600"]) as child:
        yield child.pid
        child.kill()


def test_a03_check_mode_shows_the_file_and_writes_nothing(setup: Setup, tmp_path: Path) -> None:
    module = FakeModule(check_mode=True, files={PATH: "[Service]\n"}, notes={"clock": True})
    diffs = host_setup.present(module, setup)
    assert diffs == [{"before_header": PATH, "after_header": PATH, "before": "", "after": "[Service]\n"}]
    assert list(tmp_path.iterdir()) == []


def test_files_are_written_once_and_taken_back(setup: Setup) -> None:
    module = FakeModule(files={PATH: "[Service]\n"})
    assert host_setup.present(module, setup)
    assert host_setup.present(module, setup) == []
    assert setup.files.read(PATH) == "[Service]\n"
    assert host_setup.restored(FakeModule(check_mode=True), setup)
    assert setup.files.read(PATH) == "[Service]\n"
    diffs = host_setup.restored(FakeModule(), setup)
    assert [(diff["before"], diff["after"]) for diff in diffs] == [("[Service]\n", "")]
    assert setup.files.read(PATH) is None
    assert host_setup.restored(FakeModule(), setup) == []


def test_scores_of_running_services(process: int) -> None:
    before = oom_score(process)
    assert before is not None
    wanted = before + 7
    scores = {"docker.service": wanted, "containerd.service": 5}
    assert host_setup.scored(FakeModule(check_mode=True, pid=process), scores)
    assert oom_score(process) == before
    diffs = host_setup.scored(FakeModule(pid=process), scores)
    assert [(diff["before_header"], diff["after"]) for diff in diffs] == [
        ("OOM score of docker.service", f"{wanted}\n"),
    ]
    assert oom_score(process) == wanted
    assert host_setup.scored(FakeModule(pid=process), scores) == []


def test_switches_reach_the_decision() -> None:
    command = tuple(earlyoom.command(2.0, avoid="^sshd$"))
    assert host_info.wanted(PARAMS, "dev") == Wanted(True, command, False, True, "dev", 2200)
    off = {**PARAMS, "earlyoom": False, "docker_group": False}
    assert host_info.wanted(off, "dev") == Wanted(True, (), False, True, "", 2200)


@pytest.mark.parametrize(
    ("work", "nothing"),
    [
        (Due(), True),
        (Due(notes={"clock": True}, later=["wait"], impossible=["no"]), True),
        (Due(swap=True), False),
        (Due(user="dev"), False),
        (Due(scores={"docker.service": -900}), False),
        (Undo(), True),
        (Undo(records=["swap"]), False),
    ],
)
def test_nothing_is_to_be_done(work: Due | Undo, nothing: bool) -> None:
    answer = host_info.result_of(asdict(work), Seen(running=None))
    assert answer["nothing"] is nothing
    assert answer["running"] is None
    assert not answer["changed"]
    assert "later" not in answer["due"]
