# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a host is too short of memory to take more requests, well before its engine must be killed for it. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .memory import Memory, gib

PATH = "proc/pressure/memory"
# Times the floor: under the first it begins, from the second on it is over at once.
ENTER, LEAVE = 2, 3
# Seconds above ENTER after which it is over, too: an engine keeps what it took, and LEAVE may never come.
CALM = 60.0
# Percent of ten seconds in which all tasks waited for memory: over the first it begins, under the second it is over.
STALL_ENTER, STALL_LEAVE = 10.0, 5.0
_FULL = re.compile(r"^full\s.*?\bavg10=(\d+(?:\.\d+)?)", re.MULTILINE)


@dataclass(frozen=True)
class Pressure:
    """:ivar short: memory is short
    :ivar stalled: tasks wait for memory
    :ivar calm_since: since when memory is short no more, but not plenty yet
    :ivar words: why there is pressure; empty when there is none
    """

    short: bool = False
    stalled: bool = False
    calm_since: float | None = None
    words: str = ""


def full_avg10(text: str) -> float | None:
    """Percent of the last ten seconds in which all tasks waited; None where the kernel does not say."""
    found = _FULL.search(text)
    return float(found[1]) if found else None


def look(before: Pressure, memory: Memory, floor: int, stall: float | None, now: float) -> Pressure:
    """Take one more look into account.

    :param floor: bytes of available memory under which an engine is killed
    :param stall: what :func:`full_avg10` read
    """
    calm_since = None
    short = memory.available < ENTER * floor
    if before.short and not short and memory.available < LEAVE * floor:
        calm_since = before.calm_since if before.calm_since is not None else now
        short = now - calm_since < CALM
    stalled = stall is not None and stall > (STALL_ENTER if not before.stalled else STALL_LEAVE)
    words = []
    if short:
        words.append(f"memory available {gib(memory.available)}, the floor is {gib(floor)}")
    if stalled:
        words.append(f"all tasks waited for memory {stall:g} % of the last 10 s")
    return Pressure(short, stalled, calm_since if short else None, "; ".join(words))
