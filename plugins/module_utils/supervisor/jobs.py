# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is done to a container, one after the other, beside the loop that must never wait. An edge."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable


class Jobs:
    """One thread that works off jobs in their order.

    :param done: called after each job, in that thread
    """

    def __init__(self, done: Callable[[], None]) -> None:
        self._done = done
        self._queue: queue.SimpleQueue[tuple[str, Callable[[], None]]] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._names: list[str] = []
        threading.Thread(target=self._work, name="jobs", daemon=True).start()

    def add(self, name: str, job: Callable[[], None]) -> None:
        """Have a job done after those that were added before."""
        with self._lock:
            self._names.append(name)
        self._queue.put((name, job))

    def doing(self) -> str:
        """The name of what is done or waits to be done; a start or stop before evidence. Empty when nothing is."""
        with self._lock:
            return next((name for name in self._names if name != "evidence"), self._names[0] if self._names else "")

    def _work(self) -> None:
        while True:
            name, job = self._queue.get()
            try:
                job()
            finally:
                with self._lock:
                    self._names.remove(name)
                self._done()
