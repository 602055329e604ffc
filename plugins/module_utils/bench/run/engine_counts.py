# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the engines of a target count, before and after a round. An edge: it asks their /metrics."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.target import Target
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.run.metrics_text import gauges, samples
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.run.questions import get

SECONDS = 5.0
# Seconds between two looks while a warm-up round runs.
STEP = 1.0


def read(engines: Sequence[Target]) -> list[Mapping[str, Sequence[float]] | None]:
    """The samples of each engine; None of one that does not say."""
    texts = [get(engine, "/metrics", SECONDS).text() for engine in engines]
    return [samples(text) if text is not None else None for text in texts]


class Watch:
    """Looks at the engines' gauges while a warm-up round runs; measured rounds are left alone.

    :ivar seen: what each look showed
    """

    def __init__(self, engines: Sequence[Target]) -> None:
        self.seen: list[dict[str, float]] = []
        self._engines = engines
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)

    def __enter__(self) -> Watch:
        if self._engines:
            self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._over.set()
        if self._engines:
            self._thread.join(SECONDS + 1)

    def _work(self) -> None:
        while not self._over.wait(STEP):
            self.seen.append(gauges(read(self._engines)))
