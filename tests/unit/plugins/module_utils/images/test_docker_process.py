# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Docker's command, and the room where it keeps images."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.background.work import WorkFailed
from ansible_collections.dgxspark.serving.plugins.module_utils.images import docker_process
from ansible_collections.dgxspark.serving.plugins.module_utils.images.docker_process import DockerProcess
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.images.fake_docker import FakeDocker


def test_an_image_that_is_not_there(tmp_path: Path) -> None:
    docker = FakeDocker(tmp_path)
    docker.give("acme/vllm:1", "one")
    assert docker.image("acme/vllm:2") is None
    assert docker.image("acme/vllm:1") is not None


def test_a_docker_that_does_not_answer(tmp_path: Path) -> None:
    program = tmp_path / "docker"
    program.write_text("#!/bin/sh\necho Cannot connect to the Docker daemon >&2\nexit 1\n", encoding="utf-8")
    program.chmod(0o755)
    with pytest.raises(WorkFailed, match=r"Docker does not answer: Cannot connect to the Docker daemon\."):
        DockerProcess(str(program)).image("acme/vllm:1")


def test_lines_come_one_by_one_and_the_last_is_the_error(tmp_path: Path) -> None:
    program = tmp_path / "docker"
    program.write_text("#!/bin/sh\necho one\necho two >&2\nexit 3\n", encoding="utf-8")
    program.chmod(0o755)
    lines: list[str] = []
    assert DockerProcess(str(program)).follow(["pull", "x"], lines.append) == (3, "two")
    assert lines == ["one", "two"]


def test_room_of_a_folder_that_is_not_there_is_that_of_the_one_above(tmp_path: Path) -> None:
    room = docker_process.room_for_images(str(tmp_path / "a/b"))
    assert room["docker_root"] == str(tmp_path / "a/b")
    assert room["docker_free"] > 0
    assert docker_process.room_for_images("") == {}


def test_m08_of_a_file_system_that_says_nothing_nobody_knows(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(docker_process.disk, "free", lambda path: None)
    assert docker_process.room_for_images(str(tmp_path)) == {}
