# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The results as Markdown tables."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from benchmarks.gateway.behaviour import Behaviour
from benchmarks.gateway.cost import Cost, Shared, percentile
from benchmarks.gateway.faults import Event
from benchmarks.gateway.targets import DIRECT

MEDIAN, TAIL = 0.5, 0.99
# A target's costs by users at once.
Costs = Mapping[str, Mapping[int, Cost]]


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def added(costs: Costs, name: str, users: int, values: str, share: float) -> float:
    """Milliseconds more than direct at a percentile of `ttfts` or `gaps`."""
    own, bare = (percentile(getattr(costs[each][users], values), share) for each in (name, DIRECT))
    return 1000 * (own - bare)


def _ms(cost: Cost, values: str, share: float) -> str:
    return f"{1000 * percentile(getattr(cost, values), share):.1f}"


def _seconds(value: float) -> str:
    return "never" if math.isnan(value) else f"{value:.2f} s"


def cost_table(costs: Costs) -> str:
    """Direct in absolute figures, the others as what they add to it."""
    users = list(costs[DIRECT])
    header = ["", *costs]
    rows = []
    for count in users:
        bare = costs[DIRECT][count]
        rows.append(
            [
                f"TTFT p50 / p99, ms, N={count}",
                f"{_ms(bare, 'ttfts', MEDIAN)} / {_ms(bare, 'ttfts', TAIL)} in all",
                *(
                    f"+{added(costs, name, count, 'ttfts', MEDIAN):.1f} / "
                    f"+{added(costs, name, count, 'ttfts', TAIL):.1f}"
                    for name in costs
                    if name != DIRECT
                ),
            ]
        )
    for count in users:
        bare = costs[DIRECT][count]
        rows.append(
            [
                f"ITL p99, ms, N={count}",
                f"{_ms(bare, 'gaps', TAIL)} in all",
                *(f"+{added(costs, name, count, 'gaps', TAIL):.1f}" for name in costs if name != DIRECT),
            ]
        )
    rows.append(["gaps < 1 ms, %, " + _at(users), *(_each(costs[name], "merged", ".1f") for name in costs)])
    rows.append(
        ["CPU s per 1,000 tokens, " + _at(users), *(_each(costs[name], "cpu_per_thousand", ".3f") for name in costs)]
    )
    rows.append(["memory (PSS), MB", *(f"{max(cost.memory for cost in costs[name].values()):.0f}" for name in costs)])
    rows.append(["failed requests", *(str(sum(len(cost.failures) for cost in costs[name].values())) for name in costs)])
    rows.append(["requests, " + _at(users), *(_count(costs[name]) for name in costs)])
    return markdown(header, [[cell.replace("+-", "-") for cell in row] for row in rows])


def _at(users: Sequence[int]) -> str:
    return "N=" + " / ".join(map(str, users))


def _each(cells: Mapping[int, Cost], value: str, form: str) -> str:
    return " / ".join(format(getattr(cost, value), form) for cost in cells.values())


def _count(cells: Mapping[int, Cost]) -> str:
    return " / ".join(str(len(cost.ttfts)) for cost in cells.values())


def shared_table(shared: Mapping[str, Shared]) -> str:
    """Two engines together, against the sum of both alone."""
    bare = shared[DIRECT]
    rows = [
        [
            name,
            f"{each.rate:.1f}",
            f"{each.rate / bare.rate:.3f}",
            f"{1000 * percentile(each.ttfts, MEDIAN):.0f} / {1000 * percentile(each.ttfts, TAIL):.0f}",
            f"{percentile(each.ttfts, TAIL) / percentile(bare.ttfts, TAIL):.2f}",
            f"{each.split:.2f}",
        ]
        for name, each in shared.items()
    ]
    return markdown(["", "tok/s", "of both alone", "TTFT p50 / p99, ms", "p99 to direct", "busier engine"], rows)


def _ended(event: Event) -> str:
    begun = f"{len(event.lost)} of {event.on_engine}"
    return f"{begun} / {len(event.new)} of {sum(each.started >= event.at for each in event.outcomes)}"


def behaviour_table(found: Mapping[str, Behaviour]) -> str:
    """One column for each target."""
    rows = [
        ["engine killed: failed, running on it / new", *(_ended(each.killed) for each in found.values())],
        ["... last failure after", *(_seconds(each.killed.last_failure) for each in found.values())],
        ["... in rotation after ready", *(_seconds(each.killed.back) for each in found.values())],
        ["engine stopped: failed, running on it / new", *(_ended(each.stopped) for each in found.values())],
        ["... in rotation after ready", *(_seconds(each.stopped.back) for each in found.values())],
        ["engine hung with /health: failed, running on it / new", *(_ended(each.hung) for each in found.values())],
        [
            "... last failure after",
            *(
                f"never: {e.hung.stuck} stuck" if e.hung.stuck else _seconds(e.hung.last_failure)
                for e in found.values()
            ),
        ],
        ["keep-alive race at 5 s: failed", *(str(each.race) for each in found.values())],
        [
            "engine's 500: generations, body",
            *(f"{e.generations}, {'unchanged' if e.unchanged else 'rewritten'}" for e in found.values()),
        ],
        [
            "client gone, seen by the engine: stream / not",
            *(f"{_seconds(each.left_stream)} / {_seconds(each.left_whole)}" for each in found.values()),
        ],
        ["drain and back: failed / new requests at the drained one", *(_drained(each) for each in found.values())],
        ["queue full: answered, 429 (slowest), others; most at one engine", *(_full(each) for each in found.values())],
    ]
    return markdown(["", *found], rows)


def _drained(each: Behaviour) -> str:
    event = each.drained
    if event is None:
        return "does not claim it"
    failed = sum(bool(outcome.failure) for outcome in event.outcomes)
    return f"{failed} of {len(event.outcomes)} / {event.on_engine}"


def _full(each: Behaviour) -> str:
    full = each.full
    if full is None:
        return "does not claim it"
    slowest = f" ({1000 * max(full.refused):.0f} ms)" if full.refused else ""
    others = ", ".join(sorted(set(full.others))) or "none"
    return f"{full.answered}, {len(full.refused)}{slowest}, {others}; {full.peak}"
