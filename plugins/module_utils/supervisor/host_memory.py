# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Looks at the memory of the host. An edge."""

from __future__ import annotations

from pathlib import Path

from . import pressure
from .memory import parse_meminfo
from .pressure import Pressure


class HostMemory:
    """:param root: ``/`` on a host
    :param floor: bytes of available memory under which an engine is killed
    :ivar memory: at the last look
    :ivar pressure: after the last look
    """

    def __init__(self, root: Path, floor: int, now: float) -> None:
        self._meminfo, self._stalls = root / "proc/meminfo", root / pressure.PATH
        self._floor = floor
        self.pressure = Pressure()
        self.look(now)

    def look(self, now: float) -> None:
        """Look again."""
        self.memory = parse_meminfo(self._meminfo.read_text(encoding="ascii"))
        try:
            stall = pressure.full_avg10(self._stalls.read_text(encoding="ascii"))
        except OSError:
            # The kernel does not count it, or was told not to.
            stall = None
        self.pressure = pressure.look(self.pressure, self.memory, self._floor, stall, now)
