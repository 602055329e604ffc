# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests of the containers of a host, with a Docker and control groups that are made up."""

from __future__ import annotations

import json
import socketserver
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.sampler import container_files
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.sampler.container_files import ContainerFiles

NAME = "dgxspark-main-0-r1"


class Docker(socketserver.ThreadingUnixStreamServer):
    """Docker's socket with containers that run, as pids by name."""

    daemon_threads = True

    def __init__(self, path: Path) -> None:
        super().__init__(str(path), _Request)
        self.pids: dict[str, int] = {}
        self.asked: list[str] = []
        self.status = 200

    def answer(self, path: str) -> Any:
        self.asked.append(unquote(path))
        if path.startswith("/containers/json?"):
            return [{"Id": f"id-{name}"} for name in self.pids]
        name = path.split("/")[2].removeprefix("id-")
        return {"Name": f"/{name}", "State": {"Pid": self.pids.get(name, 0)}}


class _Request(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        path = self.rfile.readline().split()[1].decode()
        while self.rfile.readline().strip():
            continue
        body = json.dumps(self.server.answer(path)).encode()
        self.wfile.write(f"HTTP/1.0 {self.server.status} x\r\n\r\n".encode() + body)


class Clock:
    """Time that a test moves."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Trial:
    """A host whose Docker and control groups a test changes."""

    def __init__(self, root: Path) -> None:
        self.root, self.told, self.clock = root, [], Clock()
        self.docker = Docker(root / "d")
        threading.Thread(target=self.docker.serve_forever, daemon=True).start()
        self.files = ContainerFiles(root, self.told.append, str(root / "d"), self.clock)

    def run(self, name: str, pid: int, **files: str) -> None:
        """Have a container run in a control group of version 2 that has these files, dots as underscores."""
        self.write(f"proc/{pid}/cgroup", f"0::/system.slice/docker-{pid}.scope\n")
        for file, text in files.items():
            self.write(f"sys/fs/cgroup/system.slice/docker-{pid}.scope/{file.replace('_', '.')}", text)
        self.docker.pids[name] = pid

    def write(self, path: str, text: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="ascii")

    def asked(self) -> dict[str, Any]:
        """A sample after one at which Docker was asked."""
        self.files.sample()
        self.files.wait(20)
        return self.files.sample()


@pytest.fixture
def trial(tmp_path: Path) -> Iterator[Trial]:
    found = Trial(tmp_path)
    yield found
    found.files.close()
    found.docker.shutdown()
    found.docker.server_close()


def test_cpu_and_memory_of_our_containers(trial: Trial) -> None:
    stat = {"memory_current": "9000\n", "memory_stat": "anon 1\ninactive_file 2000\n"}
    trial.run(NAME, 42, cpu_stat="usage_usec 1500000\n", **stat)
    assert trial.files.sample() == {}
    assert trial.asked() == {NAME: {"cpu_s": 1.5, "memory": 7000}}
    assert trial.docker.asked[0] == '/containers/json?filters={"label": ["dgxspark.serving.deployment"]}'
    trial.run(NAME, 42, cpu_stat="usage_usec 2500000\n", **stat)
    assert trial.files.sample() == {NAME: {"cpu_s": 2.5, "memory": 7000}}


def test_docker_is_asked_seldom(trial: Trial) -> None:
    trial.asked()
    for _sample in range(20):
        trial.clock.now += 1
        trial.asked()
    assert len(trial.docker.asked) == 1
    trial.clock.now += container_files.ASK_EVERY
    trial.run(NAME, 42, cpu_stat="usage_usec 0\n")
    assert trial.asked() == {NAME: {"cpu_s": 0.0, "memory": None}}


def test_version_1_of_control_groups(trial: Trial) -> None:
    trial.write("proc/42/cgroup", "5:cpuacct:/docker/x\n4:memory:/docker/x\n0::/docker/x\n")
    trial.write("sys/fs/cgroup/cpuacct/docker/x/cpuacct.usage", "2500000000\n")
    trial.write("sys/fs/cgroup/memory/docker/x/memory.usage_in_bytes", "500\n")
    trial.write("sys/fs/cgroup/memory/docker/x/memory.stat", "inactive_file 1\ntotal_inactive_file 100\n")
    trial.docker.pids[NAME] = 42
    assert trial.asked() == {NAME: {"cpu_s": 2.5, "memory": 400}}


def test_one_that_is_started_again_is_found_again(trial: Trial) -> None:
    trial.run(NAME, 42, cpu_stat="usage_usec 9000000\n")
    trial.asked()
    # The kernel has no answer for the file of a group that is gone.
    trial.write("sys/fs/cgroup/system.slice/docker-42.scope/cpu.stat", "")
    trial.run(NAME, 43, cpu_stat="usage_usec 1000\n")
    assert trial.files.sample() == {}
    trial.files.wait(20)
    assert trial.files.sample() == {NAME: {"cpu_s": 0.001, "memory": None}}


def test_one_without_a_control_group_is_there_all_the_same(trial: Trial) -> None:
    trial.run(NAME, 42)
    assert trial.asked() == {NAME: {"cpu_s": None, "memory": None}}
    assert trial.files.sample() == {NAME: {"cpu_s": None, "memory": None}}
    trial.docker.pids.clear()
    trial.clock.now += container_files.ASK_EVERY
    assert trial.asked() == {}


def test_a_docker_that_refuses_is_told_and_what_was_known_stays(trial: Trial) -> None:
    trial.run(NAME, 42, cpu_stat="usage_usec 1000000\n")
    trial.asked()
    trial.docker.status = 500
    trial.clock.now += container_files.ASK_EVERY
    assert trial.asked() == {NAME: {"cpu_s": 1.0, "memory": None}}
    assert trial.told == [
        "Docker does not say which containers run (Docker answers with status 500): nothing new is known of containers."
    ]


def test_a_host_without_docker_has_no_containers_and_no_error(tmp_path: Path) -> None:
    told: list[str] = []
    files = ContainerFiles(tmp_path, told.append, str(tmp_path / "none"))
    files.sample()
    files.wait(20)
    assert (files.sample(), told) == ({}, [])
