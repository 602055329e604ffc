# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How much of the processors a run left unused: whether another lane would find one."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

TICK = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class CpuTimes:
    """Seconds of all processors since the machine started."""

    idle: float
    waiting: float
    total: float


def parse_cpu_times(text: str) -> CpuTimes:
    """Return the first line of /proc/stat: user nice system idle iowait irq softirq steal, then what user has, too."""
    fields = [int(field) / TICK for field in text.splitlines()[0].split()[1:9]]
    return CpuTimes(fields[3], fields[4], sum(fields))


def read_cpu_times() -> CpuTimes:
    """Return those of now."""
    return parse_cpu_times(Path("/proc/stat").read_text(encoding="ascii"))


def idle_line(began: CpuTimes, ended: CpuTimes) -> str:
    """Return one sentence on what was left."""
    total = ended.total - began.total
    if total <= 0:
        return "processors: no time passed"
    idle, waiting = ended.idle - began.idle, ended.waiting - began.waiting
    return f"processors: {100 * idle / total:.0f} % idle, {100 * waiting / total:.0f} % idle and waiting for the disk"
