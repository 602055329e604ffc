# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Targets of one run beside each other: gateway and server, one host and the other, whose rounds took turns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.judge import margins, matching, verdict
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.judge.side_by_side import Judged, Two, judged

Point = Mapping[str, Any]
Pair = Mapping[str, str]

METRICS = ("ttft_ms", "tpot_ms", "output_tps")
# Of the first target against the second: within a run neither of them was there first.
WORDS = (
    (verdict.REGRESSION, "worse"),
    (verdict.IMPROVEMENT, "better"),
    (verdict.NO_CHANGE, "no difference"),
    (verdict.INCONCLUSIVE, "inconclusive"),
)


def pairs_of(
    points: Sequence[Point], order: Mapping[str, Any], given_margins: Mapping[str, Any] | None = None
) -> list[dict[str, Any]]:
    """For each pair of targets, and each metric of each point that both have, the ratio of the first to the second.

    :param order: ``pairs`` names them; without it each gateway is laid beside each server, and each server beside the
        first one
    """
    limits = margins.laid_over(given_margins)
    named = [(pair, two) for pair in _named(order) for two in _twos(pair, points)]
    natural = matching.natural(order.get("cases", ()))
    found = []
    for metric in METRICS:
        if metric in limits:
            chosen = [(pair, two) for pair, two in named if matching.is_compared(two.candidate, metric, natural)]
            rows = judged([two for _pair, two in chosen], metric, limits)
            found += [
                _row(pair, two, metric, row, order)
                for (pair, two), row in zip(chosen, rows, strict=True)
                if row is not None
            ]
    return found


def _named(order: Mapping[str, Any]) -> list[Pair]:
    if order.get("pairs"):
        return list(order["pairs"])
    targets = order.get("targets", ())
    servers = [one["name"] for one in targets if one["via"] == "direct"]
    couples = [(one["name"], server) for one in targets if one["via"] == "gateway" for server in servers]
    couples += [(server, servers[0]) for server in servers[1:]]
    return [{"name": f"{one} / {other}", "a": one, "b": other} for one, other in couples]


def _twos(pair: Pair, points: Sequence[Point]) -> list[Two]:
    """The points of a pair, of one deployment where there is one that has both."""
    found = []
    for point in points:
        if point["target"] == pair["a"]:
            others = [
                one for one in points if one["target"] == pair["b"] and matching.alike(one) == matching.alike(point)
            ]
            own = [one for one in others if one["deployment"] == point["deployment"]]
            # Blocks of different deployments do not take turns round by round.
            names = (pair["a"], pair["b"])
            found += [Two(point, one, paired=True, names=names) for one in own]
            found += [Two(point, one, names=names) for one in others if not own and len(others) == 1]
    return found


def _row(pair: Pair, two: Two, metric: str, found: Judged, order: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": pair["name"],
        "a": pair["a"],
        "b": pair["b"],
        "case": two.candidate["case"],
        "endpoint": two.candidate["endpoint"],
        "stream": two.candidate["stream"],
        "load": two.candidate["load"],
        "metric": metric,
        "ratio": found.ratio,
        "ci95": found.ci95,
        "verdict": dict(WORDS)[found.verdict],
        "paired": two.paired,
        "needed_rounds": found.needed_rounds,
        "note": found.note,
        "margin": found.margin,
        "unlike": _unlike(pair, order),
        "point": two.candidate["id"],
    }


def _unlike(pair: Pair, order: Mapping[str, Any]) -> str:
    """A gateway before two servers is no detour to one of them: it has twice as much behind it."""
    counts = {one["name"]: len(one.get("hosts") or ()) for one in order.get("targets", ())}
    a, b = counts.get(pair["a"], 0), counts.get(pair["b"], 0)
    if a == b or not (a and b):
        return ""
    return f"{pair['a']} has {_hosts(a)} behind it, {pair['b']} has {_hosts(b)}: the ratio is of unequal hardware."


def _hosts(number: int) -> str:
    return f"{number} host" + ("s" if number > 1 else "")
