# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""``/proc/meminfo`` in full; :mod:`supervisor.memory` reads only what a supervisor needs. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping

PATH = "/proc/meminfo"
_FIELD = re.compile(r"^([\w()]+):\s+(\d+)(?: kB)?\s*$", re.MULTILINE)
# Parts that do not overlap. What a driver takes for a GPU is in none of them.
_EXPLAINED = (
    "MemFree",
    "Buffers",
    "Cached",
    "SwapCached",
    "AnonPages",
    "Slab",
    "KernelStack",
    "PageTables",
    "SecPageTables",
    "Percpu",
    "VmallocUsed",
    "Hugetlb",
    "Zswap",
)


def fields(text: str) -> dict[str, int]:
    """Each field, in bytes; those without a unit, such as ``HugePages_Total``, are of no use here."""
    return {name: int(kib) * 1024 for name, kib in _FIELD.findall(text)}


def used(found: Mapping[str, int]) -> int:
    """Bytes that cannot be had: page cache can, and what a GPU holds cannot (field fault U10)."""
    return found["MemTotal"] - found["MemAvailable"]


def cache(found: Mapping[str, int]) -> int:
    """Bytes that hold copies of files and can be had."""
    return found.get("Cached", 0) + found.get("Buffers", 0) - found.get("Shmem", 0)


def unexplained(found: Mapping[str, int]) -> int:
    """Bytes in use that are no process's, no file's and not the kernel's own tables: a GPU's, mostly."""
    return max(0, found["MemTotal"] - sum(found.get(name, 0) for name in _EXPLAINED))
