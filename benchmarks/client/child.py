# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run one tool as a process: how long, how much of the processors, how much memory."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.gateway.processes import family, memory_mb

# Looking costs the processor, too: at a tool of 1 GB it is some milliseconds.
LOOK_SECONDS = 0.25
LIMIT = 240.0


@dataclass(frozen=True)
class Usage:
    """What a process and its children took."""

    began: float
    ended: float
    cpu: float
    memory_mb: float
    processes: int
    code: int | None

    @property
    def wall(self) -> float:
        return self.ended - self.began


def run(command: Sequence[str], log: Path, environment: Mapping[str, str], limit: float = LIMIT) -> Usage:
    """Run a command to its end; after the limit it is ended, and its exit code is None."""
    memory, processes = 0.0, 0
    with log.open("wb") as output:
        began = time.monotonic()
        child = subprocess.Popen(
            command,
            env={**os.environ, **environment},
            cwd=Path(__file__).parents[2],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        next_look = began + LOOK_SECONDS
        while True:
            pid, status, usage = os.wait4(child.pid, os.WNOHANG)
            now = time.monotonic()
            if pid:
                break
            if now >= next_look:
                next_look = now + LOOK_SECONDS
                try:
                    memory = max(memory, memory_mb([child.pid]))
                    processes = max(processes, len(family([child.pid])))
                except (FileNotFoundError, ProcessLookupError):
                    pass
            if now - began > limit:
                os.killpg(child.pid, 9)
                os.waitpid(child.pid, 0)
                child.returncode = -9
                return Usage(began, now, 0.0, memory, processes, None)
            time.sleep(0.02)
    child.returncode = os.waitstatus_to_exitcode(status)
    # The largest of its processes by ru_maxrss, which sees what lived shorter than a look.
    cpu = usage.ru_utime + usage.ru_stime
    return Usage(began, now, cpu, max(memory, usage.ru_maxrss * 1024 / 1e6), processes or 1, child.returncode)
