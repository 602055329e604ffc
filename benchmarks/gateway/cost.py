# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a gateway adds to a stream, and what it uses itself: one cell of the table for one target at a time."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from benchmarks.gateway.load import load
from benchmarks.gateway.outcome import Wish
from benchmarks.gateway.processes import cpu_seconds, memory_mb
from benchmarks.gateway.stage import Stage
from benchmarks.gateway.targets import Target

# A gap shorter than this means that tokens were merged, in seconds.
MERGED = 0.001
# Later than this at its 99th percentile, the client itself shows in the figures, in seconds.
LAG_LIMIT = 0.005


@dataclass(frozen=True)
class Cell:
    """Users at once, requests in all, tokens of each, seconds to the first token and between two."""

    users: int
    requests: int
    tokens: int = 128
    ttft: float = 0.1
    itl: float = 0.02


# One user alone is asked short, to get a number of first tokens in a few seconds.
CELLS = (Cell(1, 40, 16, 0.01, 0.005), Cell(8, 16), Cell(32, 32), Cell(128, 128))


@dataclass
class Cost:
    """What one target took in one cell, over all rounds; seconds and MB."""

    ttfts: list[float] = field(default_factory=list)
    gaps: list[float] = field(default_factory=list)
    lags: list[float] = field(default_factory=list)
    tokens: int = 0
    cpu: float = 0.0
    memory: float = 0.0
    wall: float = 0.0
    failures: list[str] = field(default_factory=list)

    @property
    def merged(self) -> float:
        """Share of gaps in which tokens were merged, in percent."""
        return 100 * sum(gap < MERGED for gap in self.gaps) / max(len(self.gaps), 1)

    @property
    def cpu_per_thousand(self) -> float:
        """CPU seconds for 1,000 tokens."""
        return 1000 * self.cpu / max(self.tokens, 1)


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which this share of the values lies; nan when there is none.

    >>> percentile([3.0, 1.0, 2.0], 0.5)
    2.0
    """
    ordered = sorted(values)
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)] if ordered else float("nan")


def measure(stage: Stage, target: Target, cell: Cell, cost: Cost) -> float:
    """Add one round of a cell to what a target took, after a short one that opens its connections; return its wall."""
    stage.set(ttft=cell.ttft, itl=cell.itl, slots=256, keep_alive=0, fails=0)
    load(target.ports, iter([Wish(2)] * cell.users), cell.users, key=target.key)
    before = cpu_seconds(target.pids)
    loaded = load(target.ports, iter([Wish(cell.tokens)] * cell.requests), cell.users, key=target.key)
    cost.cpu += cpu_seconds(target.pids) - before
    cost.memory = max(cost.memory, memory_mb(target.pids))
    good = [outcome for outcome in loaded.outcomes if not outcome.failure]
    cost.failures += [outcome.failure for outcome in loaded.outcomes if outcome.failure]
    cost.ttfts += [outcome.ttft for outcome in good]
    cost.gaps += itertools.chain.from_iterable(outcome.gaps for outcome in good)
    cost.lags += loaded.lags
    cost.tokens += sum(len(outcome.token_times) for outcome in good)
    cost.wall = loaded.ended - loaded.began
    return cost.wall


# Two engines of so many slots with mixed lengths, as many users as slots in all.
SLOTS, MIXED_ITL, LENGTHS = 8, 0.0267, (32, 224)


@dataclass
class Shared:
    """What two engines gave together: tokens per second, and times to the first token in seconds."""

    rate: float
    ttfts: list[float]
    split: float


def two_engines(stage: Stage, target: Target, seconds: float) -> Shared:
    """Have both engines work for a while; the first second does not count."""
    stage.set(ttft=0.1, itl=MIXED_ITL, slots=SLOTS, keep_alive=0, fails=0)
    users = 2 * SLOTS
    chances = [random.Random(number) for number in range(users)]

    def wish(user: int) -> Wish:
        return Wish(chances[user].randint(*LENGTHS))

    loaded = load(target.ports, wish, users, seconds=seconds, key=target.key)
    begin, end = loaded.began + 1, loaded.began + seconds
    times = itertools.chain.from_iterable(outcome.token_times for outcome in loaded.outcomes)
    generations = [stage.stats(number)["generations"] for number in (0, 1)]
    return Shared(
        sum(begin <= at < end for at in times) / (end - begin),
        [outcome.ttft for outcome in loaded.outcomes if outcome.token_times and outcome.started >= begin],
        max(generations) / max(sum(generations), 1),
    )
