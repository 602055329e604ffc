# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What processes and all their children use: CPU seconds, and memory where a shared page counts in parts."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

TICK = os.sysconf("SC_CLK_TCK")


def _fields(pid: int) -> list[str]:
    """The fields of /proc/PID/stat after the name, which may hold blanks; the first is the state."""
    return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()


def family(pids: Iterable[int]) -> set[int]:
    """Processes with all that descends from them."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int(_fields(int(entry.name))[1])
            except (FileNotFoundError, ProcessLookupError):
                continue
    found = {pid for pid in pids if pid in parents}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def cpu_seconds(pids: Iterable[int]) -> float:
    """User and system time so far, in steps of a clock tick (10 ms)."""
    return sum(sum(int(field) for field in _fields(pid)[11:13]) for pid in family(pids)) / TICK


def memory_mb(pids: Iterable[int]) -> float:
    """Proportional set size in MB (10^6 bytes)."""
    total = 0
    for pid in family(pids):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines():
            if line.startswith("Pss:"):
                total += int(line.split()[1])
    return total * 1024 / 1e6
