# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Memory of a host, in bytes. On these hosts engine and system share it, and no cgroup bounds the engine."""

from __future__ import annotations

import re
from dataclasses import dataclass

GIB = 1024**3
_FIELD = re.compile(r"^(MemTotal|MemAvailable):\s+(\d+) kB$", re.MULTILINE)


@dataclass(frozen=True)
class Memory:
    """:ivar available: what can be had without swapping, page cache included"""

    total: int
    available: int


def parse_meminfo(text: str) -> Memory:
    """Read ``/proc/meminfo``.

    :raises ValueError: MemTotal or MemAvailable is not there
    """
    found = {name: int(kib) * 1024 for name, kib in _FIELD.findall(text)}
    if len(found) < 2:
        raise ValueError("/proc/meminfo has no MemTotal or no MemAvailable")
    return Memory(total=found["MemTotal"], available=found["MemAvailable"])


def under_floor(memory: Memory, floor: int) -> str:
    """The reason to kill an engine at once, or nothing."""
    if memory.available >= floor:
        return ""
    return f"memory available {gib(memory.available)} is under the floor of {gib(floor)}"


def needed(memory: Memory, share: float, floor: int) -> int:
    """What must be available before an engine that takes ``share`` of the total is started."""
    return int(share * memory.total) + floor


def gib(size: int) -> str:
    """A size for people."""
    return f"{size / GIB:.1f} GiB"
