# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When the lab starts a Docker Engine, with what, and which one it stops."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab import docker_engine
from lab.errors import LabError
from lab.process import Process


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give every test a cache of its own; return the engine's folder in it."""
    monkeypatch.setenv("DGXSPARK_CACHE", str(tmp_path))
    made = docker_engine.engine_folder()
    made.mkdir()
    return made


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen]:
    """Run a process that stands for dockerd."""
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    yield child
    child.kill()
    child.wait(30)


def record(folder: Path, process: Process) -> Path:
    """Write what a start by hand writes."""
    path = folder / "engine.json"
    path.write_text(json.dumps({"by": "hand", "pid": process.pid, "started": process.started}), encoding="utf-8")
    return path


def test_engine_that_answers_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = object()
    monkeypatch.setattr(docker_engine, "connect", lambda: answer)
    assert docker_engine.ensure_engine() is answer


def test_no_engine_and_no_right_to_start_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docker_engine, "connect", lambda: None)
    monkeypatch.setattr(docker_engine, "may_install", lambda: False)
    with pytest.raises(LabError, match=r"No Docker Engine answers and the lab may not start one: start Docker"):
        docker_engine.ensure_engine()


@pytest.mark.parametrize("lacking", [True, False])
def test_wrapper_is_the_runtime_only_where_the_capability_is_missing(
    folder: Path, lacking: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(docker_engine, "lacks_capability", lambda _status: lacking)
    arguments = docker_engine._daemon_arguments(folder)
    assert f"--data-root={folder / 'data'}" in arguments
    assert ("--default-runtime=lab-runc" in arguments) is lacking
    wrapper = folder / "runc-wrap"
    assert wrapper.exists() is lacking
    if lacking:
        assert wrapper.stat().st_mode & 0o111


def test_own_engine_is_stopped(folder: Path, sleeper: subprocess.Popen) -> None:
    path = record(folder, Process.now(sleeper.pid))
    assert docker_engine.stop_engine() is True
    assert sleeper.wait(30) != 0
    assert not path.exists()


def test_other_engine_is_left_alone(folder: Path) -> None:
    assert docker_engine.stop_engine() is False


def test_process_that_got_the_pid_later_is_left_alone(folder: Path, sleeper: subprocess.Popen) -> None:
    real = Process.now(sleeper.pid)
    record(folder, Process(real.pid, real.started - 1))
    assert docker_engine.stop_engine() is False
    assert real.alive()


def test_end_of_the_daemon_is_told_with_its_log(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docker_engine, "connect", lambda: None)
    (folder / "dockerd.log").write_text("one\nno space left on device\n", encoding="utf-8")
    daemon = subprocess.Popen([sys.executable, "-c", ""])
    daemon.wait(30)
    with pytest.raises(LabError, match="no space left on device"):
        docker_engine._wait_for_engine(daemon, folder)
