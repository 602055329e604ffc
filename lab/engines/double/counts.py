# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the double has been asked for since it started, or since it was last told to forget that."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Counts:
    """Counts of requests, for tests of what stands in front of an engine."""

    def __init__(self) -> None:
        self._requests: Counter[str] = Counter()
        self._refused = 0
        self._answers: Counter[str] = Counter()

    def request(self, method: str, path: str) -> None:
        """Count a request of any kind."""
        self._requests[f"{method} {path}"] += 1

    def refuse(self) -> None:
        """Count a request that got 401."""
        self._refused += 1

    def generation(self) -> None:
        """Count a request for tokens that the engine takes up, whatever becomes of it."""
        self._answers["asked"] += 1

    def failure(self) -> None:
        """Count one that fails before its answer begins."""
        self._answers["failed"] += 1

    @contextmanager
    def answer(self) -> Iterator[None]:
        """Count how the answer to a request for tokens ends: cut off by its client, by an error, or whole."""
        try:
            yield
        except (asyncio.CancelledError, GeneratorExit):
            self._answers["aborted"] += 1
            raise
        except Exception:
            self._answers["failed"] += 1
            raise
        self._answers["finished"] += 1

    def clear(self) -> None:
        """Forget all of it."""
        self._requests.clear()
        self._answers.clear()
        self._refused = 0

    def value(self) -> dict[str, Any]:
        """Return them."""
        generations = {name: self._answers[name] for name in ("asked", "finished", "failed", "aborted")}
        return {"requests": dict(self._requests), "refused": self._refused, "generations": generations}
