# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The looks at container and engine, in threads of their own: either may take seconds to answer. An edge."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from .docker_socket import Docker
from .engine import REFUSED, Engine
from .progress import Progress, look, parse_metrics
from .state import Container, Run

# Seconds between two looks at the container, and while the engine loads.
OFTEN = 1.0
# Seconds between two looks at the metrics of an engine that serves.
SELDOM = 5.0
# Seconds that an engine may take to answer.
ENGINE_TIMEOUT = 5.0


def clock() -> float:
    """Seconds since boot, with the time that the host slept: no correction of the date moves it."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class ContainerWatch:
    """The last known state of the container.

    :param changed: called when it is another one than before
    """

    def __init__(self, docker: Docker, name: str, changed: Callable[[], None]) -> None:
        self._docker, self._name, self._changed = docker, name, changed
        self._lock = threading.Lock()
        self._taken = 0.0
        self._container = Container("unknown")

    def begin(self) -> None:
        threading.Thread(target=self._keep_looking, name="container", daemon=True).start()

    def container(self) -> Container:
        with self._lock:
            return self._container

    def look(self) -> None:
        """Look now. An answer that was asked for before a newer one is dropped, for it may tell of before a start."""
        taken = clock()
        container = self._docker.look(self._name)
        with self._lock:
            changed = taken >= self._taken and container != self._container
            if taken >= self._taken:
                self._taken, self._container = taken, container
        if changed:
            self._changed()

    def _keep_looking(self) -> None:
        while True:
            self.look()
            time.sleep(OFTEN)


class EngineWatch:
    """Whether the engine of rank 0 is healthy after its start, and then whether it makes progress.

    :param changed: called when the engine has become healthy
    """

    def __init__(self, engine: Engine, changed: Callable[[], None]) -> None:
        self._engine = engine
        self._changed = changed
        self._wanted = threading.Condition()
        self._run: Run | None = None
        self._serves = False
        self._healthy: Run | None = None
        self._progress = Progress()

    def begin(self) -> None:
        threading.Thread(target=self._keep_looking, name="engine", daemon=True).start()

    def watch(self, run: Run | None, serves: bool) -> None:
        """Watch this run from now on: its health until it serves, its progress from then on; nothing without a run."""
        with self._wanted:
            if (run, serves) != (self._run, self._serves):
                self._run, self._serves = run, serves
                self._progress = Progress()
                self._wanted.notify()

    def healthy(self, run: Run | None) -> bool:
        with self._wanted:
            return run is not None and self._healthy == run

    def progress(self) -> Progress:
        with self._wanted:
            return self._progress

    def _keep_looking(self) -> None:
        while True:
            with self._wanted:
                self._wanted.wait_for(lambda: self._run is not None)
                run, serves = self._run, self._serves
            if serves:
                self._look_at_progress(run)
            else:
                self._look_at_health(run)
            with self._wanted:
                if (run, serves) == (self._run, self._serves):
                    self._wanted.wait(SELDOM if serves else OFTEN)

    def _look_at_health(self, run: Run | None) -> None:
        status, _body = self._ask("/health")
        # An engine that refuses our key is not down; whoever proves it says so (field fault G13).
        if status not in (200, *REFUSED):
            return
        with self._wanted:
            self._healthy = run
        self._changed()

    def _look_at_progress(self, run: Run | None) -> None:
        status, body = self._ask("/metrics")
        sample = parse_metrics(body) if status == 200 else None
        with self._wanted:
            if self._serves and run == self._run:
                self._progress = look(self._progress, sample, clock())

    def _ask(self, path: str) -> tuple[int, bytes]:
        """Status and body; 0 when nothing answers."""
        try:
            return self._engine.ask(path, ENGINE_TIMEOUT)
        except OSError:
            return 0, b""
