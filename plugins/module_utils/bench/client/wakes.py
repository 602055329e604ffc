# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Waits for connections, and knows of each wake how late it may be. An edge."""

from __future__ import annotations

import select
from time import perf_counter

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.lag import Lag, late_by
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.run_queue import RunQueue

# Seconds between two looks at the kernel's account: each costs as much as all else of a wake. What is found counts for
# all wakes in between.
ACCOUNT_S = 0.005


class Wakes:
    """Waits of one thread; to be made by it, and to be closed.

    :ivar late: by how much what the last wake brought may have come before it because we were busy, in seconds
    :ivar lag: all of them
    """

    def __init__(self, epoll: select.epoll) -> None:
        self.lag = Lag()
        self.late = 0.0
        self._poll = epoll.poll
        self._queue = RunQueue()
        self._last = perf_counter()
        self._account_at = 0.0

    def begin(self) -> None:
        """Forget what was before."""
        self._queue.waited()
        self._last = perf_counter()

    def wait(self, seconds: float) -> tuple[list[tuple[int, int]], float]:
        """Sleep until there is something to read, at most so long; give it and the stamp of the wake."""
        before = perf_counter()
        if before >= self._account_at:
            self._account_at = before + ACCOUNT_S
            self.lag.queued(self._queue.waited())
        # A little less than whole milliseconds: binary fractions must not make it one more.
        ready = self._poll(seconds - 1e-7 if seconds > 0.0 else 0.0)
        wake = perf_counter()
        if ready:
            self.late = late_by(wake - before, wake - self._last)
        elif seconds > 0.0:
            self.lag.waited(wake - before - seconds)
        self._last = wake
        return ready, wake

    def close(self) -> None:
        """Look at the kernel's account once more, and give it back."""
        self.lag.queued(self._queue.waited())
        self._queue.close()
