# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The folder of a piece of work in the background, and the process behind it: an edge, it reads /proc and signals."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import time
from contextlib import suppress
from pathlib import Path

from ansible_collections.dgxspark.serving.plugins.module_utils.background.status import (
    FAILED,
    GONE,
    RUNNING,
    Status,
    decoded,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.hostpaths import HostPaths

# Seconds that work has to end by itself before it is killed.
GRACE = 5.0
# Seconds after which what an ended run has left is removed.
OLD = 86400


def jobs_root() -> Path:
    """Where the work of this user is kept; a reboot may take it."""
    if os.geteuid() == 0:
        return HostPaths().run / "jobs"
    return Path.home() / ".cache/dgxspark-serving/jobs"


class JobFolder:
    """One piece of work.

    :ivar path: its folder, readable by its user alone
    """

    def __init__(self, name: str) -> None:
        self.path = jobs_root() / name

    @property
    def log(self) -> Path:
        return self.path / "log"

    @property
    def asked(self) -> Path:
        """Its time of change is when somebody last asked."""
        return self.path / "asked"

    def make(self) -> None:
        """Have an empty folder."""
        shutil.rmtree(self.path, ignore_errors=True)
        self.path.mkdir(mode=0o700, parents=True)
        self.asked.touch()

    def claim(self) -> int | None:
        """Be the process of this work until it ends; None when another one is it.

        The lock is the process's own: it is gone with it, also when it is killed, and its children do not have it.
        """
        descriptor = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            return None
        # A folder that is used again has the group of before in it, whose number may be longer.
        os.ftruncate(descriptor, 0)
        os.write(descriptor, str(os.getpgrp()).encode())
        return descriptor

    def alive(self) -> bool:
        """Whether its process runs. Not to be asked by that process, which would lose its lock."""
        try:
            descriptor = os.open(self.path / "lock", os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True
        finally:
            os.close(descriptor)
        return False

    def write(self, status: Status) -> None:
        """Write down how far it is; a reader sees all of it or all of the one before."""
        part = self.path / "status.part"
        part.write_bytes(status.encoded())
        part.replace(self.path / "status.json")

    def read(self) -> Status | None:
        """How far it is; None when there is no such work. Work whose process is gone has failed."""
        alive = self.alive()
        try:
            status = decoded((self.path / "status.json").read_bytes())
        except (FileNotFoundError, ValueError):
            return None
        return Status(state=FAILED, error=GONE) if status.state == RUNNING and not alive else status

    def ask(self, seconds: float) -> Status | None:
        """How far it is, at the latest after some seconds, and at once when it has ended."""
        with suppress(FileNotFoundError):
            self.asked.touch(exist_ok=True)
        until = time.monotonic() + seconds
        while True:
            status = self.read()
            if status is None or status.state != RUNNING or time.monotonic() >= until:
                return status
            time.sleep(0.1)

    def end(self) -> bool:
        """End its processes and forget it; whether any ran."""
        ran = self.alive()
        if ran:
            group = int((self.path / "lock").read_text(encoding="ascii"))
            with suppress(ProcessLookupError):
                os.killpg(group, signal.SIGTERM)
            until = time.monotonic() + GRACE
            while self.alive() and time.monotonic() < until:
                time.sleep(0.05)
            # Children may have outlived it.
            with suppress(ProcessLookupError):
                os.killpg(group, signal.SIGKILL)
        shutil.rmtree(self.path, ignore_errors=True)
        return ran


def forget_old() -> None:
    """Remove what runs that nobody ended have left."""
    root = jobs_root()
    for folder in list(root.iterdir()) if root.is_dir() else []:
        job = JobFolder(folder.name)
        with suppress(FileNotFoundError):
            if time.time() - job.asked.stat().st_mtime > OLD and not job.alive():
                shutil.rmtree(folder, ignore_errors=True)
