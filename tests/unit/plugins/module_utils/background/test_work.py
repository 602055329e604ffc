# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests of work in the background, with real processes."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.background import folder as folders
from ansible_collections.dgxspark.serving.plugins.module_utils.background.folder import JobFolder
from ansible_collections.dgxspark.serving.plugins.module_utils.background.status import GONE
from ansible_collections.dgxspark.serving.plugins.module_utils.background.work import Progress, WorkFailed, run_job

Work = Callable[[Progress], dict[str, Any]]


class Ended(Exception):
    """The module has answered."""


class Module:
    """As much of an AnsibleModule as it takes."""

    def __init__(self, stage: str, wait: float = 30, check_mode: bool = False) -> None:
        self.params = {"job_stage": stage, "job_id": "x", "job_wait": wait}
        self.check_mode = check_mode

    def exit_json(self, **result: Any) -> NoReturn:
        raise Ended(result)

    def fail_json(self, msg: str, **result: Any) -> NoReturn:
        raise Ended({"failed": True, "msg": msg, **result})


def ask(stage: str, work: Work, wait: float = 30, check_mode: bool = False, changed: bool = True) -> dict[str, Any]:
    with pytest.raises(Ended) as ended:
        run_job(Module(stage, wait, check_mode), work, changed)
    return dict(ended.value.args[0])


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(folders, "jobs_root", lambda: tmp_path / "jobs")
    yield tmp_path / "jobs"
    JobFolder("x").end()


def until_stopped(progress: Progress) -> dict[str, Any]:
    progress.tell(3, 9, "at it")
    progress.beat()
    while True:
        time.sleep(1)


def test_work_that_is_done_at_once_is_one_call(root: Path) -> None:
    answer = ask("start", lambda progress: {"found": 1})
    assert (answer["found"], answer["changed"], answer["job"]["state"]) == (1, True, "done")
    assert not (root / "x").exists()


def test_the_work_says_whether_it_changed_anything() -> None:
    assert ask("start", lambda progress: {"changed": False})["changed"] is False
    assert ask("start", lambda progress: {}, changed=False)["changed"] is False


def test_work_goes_on_after_the_call_and_can_be_asked_and_ended() -> None:
    answer = ask("start", until_stopped, wait=0)
    assert (answer["job"]["state"], answer["changed"]) == ("running", False)
    while answer["job"]["done"] != 3:
        answer = ask("poll", until_stopped, wait=0)
    assert (answer["job"]["total"], answer["job"]["text"]) == (9, "at it")
    assert JobFolder("x").alive()
    ask("stop", until_stopped)
    assert not JobFolder("x").alive()
    answer = ask("poll", until_stopped, wait=0)
    assert (answer["failed"], answer["msg"]) == (True, GONE)


def test_a_second_start_joins_the_first(tmp_path: Path) -> None:
    ask("start", until_stopped, wait=0)
    before = (JobFolder("x").path / "lock").read_text(encoding="ascii")
    assert ask("start", lambda progress: {}, wait=0)["job"]["state"] == "running"
    assert (JobFolder("x").path / "lock").read_text(encoding="ascii") == before


def test_what_an_operator_can_mend_is_a_sentence() -> None:
    def refuse(progress: Progress) -> dict[str, Any]:
        raise WorkFailed("Make room.")

    answer = ask("start", refuse)
    assert (answer["failed"], answer["msg"]) == (True, "Make room.")


def test_a_fault_of_ours_is_told_as_one() -> None:
    def break_down(progress: Progress) -> dict[str, Any]:
        raise KeyError("x")

    assert "KeyError: 'x'. This is a fault of the collection" in ask("start", break_down)["msg"]


def test_work_that_is_killed_has_failed() -> None:
    ask("start", until_stopped, wait=0)
    os.killpg(int((JobFolder("x").path / "lock").read_text(encoding="ascii")), signal.SIGKILL)
    answer = ask("poll", until_stopped)
    assert (answer["failed"], answer["msg"]) == (True, GONE)


def test_a_folder_that_is_used_again_names_its_new_processes_alone() -> None:
    """What is ended is the group in it: a digit of the one before would end somebody else's."""
    folder = JobFolder("x")
    folder.make()
    (folder.path / "lock").write_text("1234567890", encoding="ascii")
    descriptor = folder.claim()
    assert descriptor is not None
    assert (folder.path / "lock").read_text(encoding="ascii") == str(os.getpgrp())
    os.close(descriptor)


def test_done_is_said_before_the_process_ends() -> None:
    def serve(progress: Progress) -> dict[str, Any]:
        progress.finish({"received": 5})
        return until_stopped(progress)

    answer = ask("start", serve)
    assert (answer["received"], answer["job"]["state"]) == (5, "done")
    assert JobFolder("x").alive()
    assert ask("poll", serve)["received"] == 5
    ask("stop", serve)
    assert not JobFolder("x").path.exists()


def test_who_does_not_wait_is_told_when_he_asks() -> None:
    answer = ask("start", lambda progress: {"found": 1}, wait=0)
    while JobFolder("x").alive():
        time.sleep(0.01)
    assert answer.get("found") in (None, 1)
    assert ask("poll", until_stopped)["found"] == 1


def test_check_mode_starts_nothing(root: Path) -> None:
    assert ask("start", until_stopped, check_mode=True) == {"changed": True}
    assert not root.exists()


def test_what_is_old_and_ended_is_forgotten(root: Path) -> None:
    old = JobFolder("old")
    old.make()
    os.utime(old.asked, (0, 0))
    ask("start", lambda progress: {})
    assert not old.path.exists()
