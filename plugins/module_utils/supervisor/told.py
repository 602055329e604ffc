# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What each gateway was told of a drain: who drains waits until all know. Pure; the caller gives the time."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

# Seconds after its last question for which a gateway counts as there.
HEARD = 5.0
# Seconds after the first telling until a gateway counts as told: it may ask for each of its lists of replicas.
SETTLED = 2.0


@dataclass(frozen=True)
class _Entry:
    drained: bool
    since: float
    at: float


class Told:
    """What was told, by address; for several threads.

    :param now: since when there is somebody to ask
    """

    def __init__(self, now: float) -> None:
        self._began = now
        self._lock = threading.Lock()
        self._entries: dict[str, _Entry] = {}

    def note(self, address: str, drained: bool, now: float) -> None:
        """Note that an address was told whether the replica is drained."""
        with self._lock:
            self._forget(now)
            before = self._entries.get(address)
            since = before.since if before is not None and before.drained == drained else now
            self._entries[address] = _Entry(drained, since, now)

    def shown(self, drained: bool, now: float) -> dict[str, Any]:
        """Who knows what is so now.

        :returns: ``drain``, addresses that know of the drain; ``waiting``, those that asked lately and do not know what
            is so now; ``listening``, for how many seconds they have been able to ask
        """
        with self._lock:
            self._forget(now)
            know = {
                address: entry.drained == drained and now - entry.since >= SETTLED
                for address, entry in self._entries.items()
            }
        return {
            "drain": sorted(address for address, knows in know.items() if knows and drained),
            "waiting": sorted(address for address, knows in know.items() if not knows),
            "listening": round(now - self._began, 1),
        }

    def _forget(self, now: float) -> None:
        self._entries = {address: entry for address, entry in self._entries.items() if now - entry.at <= HEARD}
