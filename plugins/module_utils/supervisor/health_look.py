# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Looks at an engine's ``/health`` that are made when somebody asks, and shared by those who ask meanwhile. An edge."""

from __future__ import annotations

import threading
import time

from .engine import Engine, why

# Seconds that an engine may take to say that it is healthy.
TIMEOUT = 1.0
# Seconds for which a look tells something.
LATELY = 5.0


class HealthLook:
    """The looks at one engine, one at a time."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._done = threading.Condition()
        self._under_way = False
        self._number = 0
        self._found = ""
        self._at = -LATELY

    def trouble(self) -> str:
        """Look now; why the engine is not healthy, or nothing."""
        with self._done:
            number = self._number
            if self._under_way:
                self._done.wait_for(lambda: self._number != number)
                return self._found
            self._under_way = True
        found = "the look at the engine's /health failed"
        try:
            found = self._look()
        finally:
            with self._done:
                self._found, self._at = found, time.monotonic()
                self._number += 1
                self._under_way = False
                self._done.notify_all()
        return found

    def lately(self) -> str:
        """What the last look found; nothing when nobody has asked lately."""
        with self._done:
            return self._found if time.monotonic() - self._at < LATELY else ""

    def _look(self) -> str:
        try:
            status, _body = self._engine.ask("/health", TIMEOUT)
        except OSError as error:
            return f"the engine's /health gives no answer ({why(error)})"
        if status == 200:
            return ""
        return self._engine.refusal(status) or f"the engine's /health answers {status}"
