# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Know a process again: a pid alone is reused, a pid with its start time is not."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path


def start_time_of(stat_line: str) -> int:
    """Return the start time (clock ticks since boot) from the text of /proc/PID/stat."""
    # The program name, in brackets, may hold blanks and brackets itself; field 22 counts from the last one.
    return int(stat_line.rpartition(")")[2].split()[19])


@dataclass(frozen=True)
class Process:
    """A process of this machine by pid and start time (clock ticks since boot)."""

    pid: int
    started: int

    @classmethod
    def now(cls, pid: int) -> Process:
        """Describe a running process; raises FileNotFoundError when there is none."""
        return cls(pid, start_time_of(Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")))

    def alive(self) -> bool:
        """Say whether exactly this process is still there (a zombie is not)."""
        try:
            line = Path(f"/proc/{self.pid}/stat").read_text(encoding="utf-8")
        except (FileNotFoundError, ProcessLookupError):
            return False
        return start_time_of(line) == self.started and line.rpartition(")")[2].split()[0] != "Z"

    def stop(self, timeout: float) -> bool:
        """Send SIGTERM and wait up to `timeout` seconds; return whether it is gone. A stranger is never signalled."""
        if self.alive():
            os.kill(self.pid, signal.SIGTERM)
        until = time.monotonic() + timeout
        while self.alive():
            if time.monotonic() > until:
                return False
            time.sleep(0.1)
        return True
