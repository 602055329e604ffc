# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""CPU time and memory of our containers, from the files of their control groups: an edge.

Docker says which there are. It is asked in a thread: one that does not answer must not hold up the samples.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.sampler import parse
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.sampler.kernel_files import KernelFile
from ansible_collections.dgxspark.serving.plugins.module_utils.containers import DEPLOYMENT_LABEL
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.docker_socket import QUICK, Docker
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.plain_http import exchange

SOCKET = "/var/run/docker.sock"
GROUPS = "sys/fs/cgroup"
# Seconds between two questions for new containers; that one is gone its files say at once.
ASK_EVERY = 30.0
# Names in version 2 and in version 1.
_CPU = ("cpu.stat", "cpuacct.usage")
_MEMORY = ("memory.current", "memory.usage_in_bytes")


class ContainerFiles:
    """:param root: ``/`` on a host
    :param tell: told in a sentence what is wrong
    """

    def __init__(
        self,
        root: Path,
        tell: Callable[[str], None],
        docker_socket: str = SOCKET,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._root, self._tell, self._socket, self._clock = root, tell, docker_socket, clock
        self._files: dict[str, tuple[KernelFile, KernelFile, KernelFile]] = {}
        self._pids: dict[str, int] = {}
        self._readable: set[str] = set()
        # What the thread found, until the next sample takes it.
        self._found: dict[str, int] | None = None
        self._thread: threading.Thread | None = None
        self._next = clock()

    def sample(self) -> dict[str, dict[str, Any]]:
        """CPU seconds so far and bytes, by container; None where its control group does not say."""
        self._take()
        values = {}
        for name, (cpu, current, stat) in list(self._files.items()):
            seconds = parse.cpu_seconds(cpu.read())
            if seconds is None and name in self._readable:
                # Its group is gone and so is it; maybe it has been started again.
                self._drop(name)
                self._next = self._clock()
                continue
            values[name] = {"cpu_s": seconds, "memory": parse.group_memory(current.read(), stat.read())}
        if self._clock() >= self._next and (self._thread is None or not self._thread.is_alive()):
            self._next = self._clock() + ASK_EVERY
            self._thread = threading.Thread(target=self._ask, daemon=True)
            self._thread.start()
        return values

    def wait(self, seconds: float) -> None:
        """Wait for Docker's answer, so that the next sample has the containers."""
        if self._thread is not None:
            self._thread.join(seconds)

    def close(self) -> None:
        """Let all files go."""
        for name in list(self._files):
            self._drop(name)

    def _ask(self) -> None:
        """Which of our containers run, and as which process."""
        try:
            self._found = _pids(self._socket)
        except FileNotFoundError:
            self._found = {}  # a host without Docker
        except (OSError, ValueError, KeyError, TypeError) as error:
            self._tell(f"Docker does not say which containers run ({error}): nothing new is known of containers.")

    def _take(self) -> None:
        found, self._found = self._found, None
        if found is None:
            return
        for name in [name for name in self._files if found.get(name) != self._pids.get(name)]:
            self._drop(name)
        for name, pid in found.items():
            if name not in self._files:
                self._open(name, pid)

    def _open(self, name: str, pid: int) -> None:
        try:
            text = (self._root / f"proc/{pid}/cgroup").read_text(encoding="utf-8", errors="replace")
        except OSError:
            return  # it has just ended
        folders = parse.groups(text)
        current = self._first(folders["memory"], _MEMORY)
        cpu = KernelFile(self._first(folders["cpu"], _CPU))
        self._files[name] = (cpu, KernelFile(current), KernelFile(current.with_name("memory.stat")))
        self._pids[name] = pid
        if cpu.there:
            self._readable.add(name)

    def _first(self, folders: list[str], names: tuple[str, ...]) -> Path:
        """The first of such files that is there; else one that is not."""
        base = self._root / GROUPS
        paths = [base / folder / name for folder in folders for name in names]
        return next((path for path in paths if path.is_file()), base / "none")

    def _drop(self, name: str) -> None:
        for file in self._files.pop(name):
            file.close()
        self._pids.pop(name, None)
        self._readable.discard(name)


def _pids(docker_socket: str) -> dict[str, int]:
    """The first process of each of our containers that run.

    :raises OSError: Docker does not answer
    """
    filters = quote(json.dumps({"label": [DEPLOYMENT_LABEL]}))
    status, body = exchange(docker_socket, "GET", f"/containers/json?filters={filters}", QUICK)
    if status != 200:
        raise ConnectionError(f"Docker answers with status {status}")
    found = {}
    for entry in json.loads(body):
        described = Docker(docker_socket).inspect(entry["Id"]) or {}
        pid = int(described.get("State", {}).get("Pid", 0))
        if pid:
            found[str(described["Name"]).removeprefix("/")] = pid
    return found
