# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which run of ansible-playbook this is, for the lock on the hosts."""

from __future__ import annotations

import getpass
import hashlib
import multiprocessing
import os
import socket
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Run:
    """One process of ansible-playbook.

    :ivar id: the same for all its workers, and for no other process
    :ivar by: ``user@controller``
    :ivar pid: its process id
    """

    id: str
    by: str
    pid: int

    def is_certainly_over(self, lock: Mapping[str, Any]) -> bool:
        """Whether the run that holds a lock ran on this controller, and runs no more."""
        return lock["by"] == self.by and lock["run"] != run_id(self.by, int(lock["pid"]), started(int(lock["pid"])))


def run_id(by: str, pid: int, start: str) -> str:
    """An id of a process that no other one has, also when its number is used again.

    :param start: when it started; empty when there is no such process
    """
    return hashlib.sha256(f"{by} {pid} {start}".encode()).hexdigest()[:12]


def started(pid: int) -> str:
    """When a process started, in a form that only has to differ; empty when there is no such process."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
        # After the name, which may hold anything, in parentheses: the 20th word is the start time in clock ticks.
        return stat.rpartition(")")[2].split()[19]
    except FileNotFoundError:
        if Path("/proc/self").exists():
            return ""
    # A controller without /proc, such as macOS.
    argv = ["ps", "-o", "lstart=", "-p", str(pid)]
    return subprocess.run(argv, check=False, capture_output=True, text=True).stdout.strip()


@cache
def this_run() -> Run:
    """The run that this process, a worker of it or itself, belongs to."""
    parent = multiprocessing.parent_process()
    pid = os.getpid() if parent is None or parent.pid is None else parent.pid
    by = f"{_user()}@{socket.gethostname()}"
    return Run(run_id(by, pid, started(pid)), by, pid)


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())  # a container's user without an entry in passwd
