# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The figures that HAProxy, the default provider, is held to."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.gateway.behaviour import Behaviour
from benchmarks.gateway.cost import Shared, percentile
from benchmarks.gateway.faults import Event
from benchmarks.gateway.report import MEDIAN, TAIL, Costs, added, markdown
from benchmarks.gateway.targets import DIRECT

FEW = 32


@dataclass(frozen=True)
class Figure:
    """One figure; `at_least` turns the comparison round. nan never holds."""

    name: str
    wanted: float
    found: float
    unit: str = ""
    at_least: bool = False

    @property
    def holds(self) -> bool:
        return self.found >= self.wanted if self.at_least else self.found <= self.wanted


def of_cost(costs: Costs, name: str) -> list[Figure]:
    """Figures against direct, the worst of all numbers of users."""
    users = list(costs[DIRECT])
    few, many = [count for count in users if count <= FEW], [count for count in users if count > FEW]
    own, bare = costs[name], costs[DIRECT]
    # One user alone is asked for short answers, where a request's own cost falls on few tokens.
    loaded = [count for count in users if count > 1]
    return [
        Figure(f"added TTFT p50, N <= {FEW}", 1, max(added(costs, name, n, "ttfts", MEDIAN) for n in few), "ms"),
        Figure(f"added TTFT p99, N <= {FEW}", 5, max(added(costs, name, n, "ttfts", TAIL) for n in few), "ms"),
        *(Figure(f"added TTFT p99, N = {n}", 20, added(costs, name, n, "ttfts", TAIL), "ms") for n in many),
        Figure("added ITL p99", 2, max(added(costs, name, n, "gaps", TAIL) for n in users), "ms"),
        Figure("more merged gaps than direct", 1, max(own[n].merged - bare[n].merged for n in users), "%"),
        Figure("CPU per 1,000 tokens", 0.05, max(own[n].cpu_per_thousand for n in loaded), "s"),
        Figure("memory", 30, max(cost.memory for cost in own.values()), "MB"),
        Figure("failed requests", 0, sum(len(cost.failures) for cost in own.values())),
    ]


def of_shared(own: Shared, bare: Shared) -> list[Figure]:
    """Figures of two engines together."""
    ratio = percentile(own.ttfts, TAIL) / percentile(bare.ttfts, TAIL)
    return [
        Figure("two engines, of the sum of both alone", 0.98, own.rate / bare.rate, at_least=True),
        Figure("... TTFT p99 to direct", 1.5, ratio, "times"),
    ]


def _ended(what: str, event: Event) -> list[Figure]:
    return [
        Figure(f"engine {what}: new requests failed", 0, len(event.new)),
        Figure("... failed, beyond those running on it", 0, max(len(event.lost) - event.on_engine, 0)),
        Figure("... in rotation after ready", 2, event.back, "s"),
    ]


def of_behaviour(found: Behaviour) -> list[Figure]:
    """Figures of what happens around a fault; what is not claimed is nan."""
    drained, full = found.drained, found.full
    nothing = float("nan")
    return [
        *_ended("killed", found.killed),
        *_ended("stopped", found.stopped),
        Figure("engine hung, /health too: last failure after", 4, found.hung.last_failure, "s"),
        Figure("drain: failed", 0, sum(bool(each.failure) for each in drained.outcomes) if drained else nothing),
        Figure("... new requests at the drained one", 0, drained.on_engine if drained else nothing),
        Figure("keep-alive race at 5 s: failed", 0, found.race),
        Figure("generations per engine's 500", 1, found.generations),
        Figure("client gone, seen by the engine: stream", 0.5, found.left_stream, "s"),
        Figure("... not a stream", 0.5, found.left_whole, "s"),
        Figure("queue full: slowest 429", 50, 1000 * max(full.refused) if full and full.refused else nothing, "ms"),
        Figure("... neither answered nor 429", 0, len(full.others) if full else nothing),
    ]


def verdict_table(figures: Sequence[Figure]) -> str:
    """What was wanted, what was found, whether it holds."""
    rows = [
        [
            figure.name,
            f"{'>=' if figure.at_least else '<='} {figure.wanted:g} {figure.unit}".strip(),
            "none" if math.isnan(figure.found) else f"{figure.found:.3g} {figure.unit}".strip(),
            "holds" if figure.holds else "**missed**",
        ]
        for figure in figures
    ]
    return markdown(["figure", "wanted", "found", "verdict"], rows)
