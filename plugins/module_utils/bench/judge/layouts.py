# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The two layouts of a run: a replica on each host (TP=1 twice) and replicas over two hosts each (TP=2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.judge import matching
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.judge.side_by_side import Two

# How TP=2 and TP=1 twice are reached, the fairest first. A single replica has no gateway, and is the whole layout.
TP1X2, TP2 = "tp1x2", "tp2"
WAYS = (("gateway", "gateway"), ("direct", "direct"), ("direct", "gateway"))
Point = Mapping[str, Any]
Deployment = Mapping[str, Any]


@dataclass(frozen=True)
class Sides:
    """The points of either layout, valid or not.

    :ivar hosts: of TP=1 and of TP=2
    """

    tp1x2: Sequence[Point]
    tp2: Sequence[Point]
    hosts: tuple[int, int] = (2, 2)

    @property
    def names(self) -> dict[str, str]:
        """How a reader knows the layouts. On two Sparks: ``TP=1 twice`` and ``TP=2``."""
        if self.hosts == (2, 2):
            return {TP1X2: "TP=1 twice", TP2: "TP=2"}
        return {TP1X2: f"TP=1 on {self.hosts[0]} hosts", TP2: f"TP=2 on {self.hosts[1]} hosts"}

    @property
    def tp2_is_one_server(self) -> bool:
        """Whether one server is the whole of TP=2, so that it needs no gateway."""
        return self.hosts[1] == 2

    def all(self) -> list[Point]:
        """Those of both."""
        return [*self.tp1x2, *self.tp2]


def sides_of(points: Sequence[Point], deployments: Iterable[Deployment]) -> Sides | None:
    """None when the run does not have both layouts."""
    found: dict[str, dict[str, int]] = {TP1X2: {}, TP2: {}}
    for deployment in deployments:
        layout, hosts = _layout(deployment)
        if layout:
            found[layout][deployment["id"]] = hosts
    own = {layout: [one for one in points if one["deployment"] in ids] for layout, ids in found.items()}
    if not (own[TP1X2] and own[TP2]):
        return None
    return Sides(own[TP1X2], own[TP2], (max(found[TP1X2].values()), max(found[TP2].values())))


def _layout(deployment: Deployment) -> tuple[str, int]:
    """Which of the two it is, empty when neither, and over how many hosts."""
    replicas = deployment.get("replicas") or []
    hosts = [len(replica.get("hosts") or ()) for replica in replicas]
    if deployment.get("tensor_parallel_size") == 1 and len(replicas) >= 2 and set(hosts) == {1}:
        return TP1X2, sum(hosts)
    if deployment.get("tensor_parallel_size") == 2 and set(hosts) == {2}:
        return TP2, sum(hosts)
    return "", 0


def both(sides: Sides, case: str, users: int, *, all_hosts: bool) -> Two | None:
    """The points of a case with so many users at once, TP=2 as the candidate; None when a side has none.

    Both sides are reached the same way, if there is one: by their gateways, else without. What all hosts do together
    can be told of TP=1 twice only by the gateway in front of them, as a server alone is a part of it; of TP=2 as well,
    when it has several replicas.
    """
    for tp2, tp1x2 in WAYS:
        if all_hosts and (tp1x2 != "gateway" or (tp2 != "gateway" and not sides.tp2_is_one_server)):
            continue
        ones = [_choice(sides.tp2, case, users, tp2), _choice(sides.tp1x2, case, users, tp1x2)]
        if ones[0] is not None and ones[1] is not None:
            return Two(ones[0], ones[1], names=(sides.names[TP2], sides.names[TP1X2]))
    return None


def _choice(points: Iterable[Point], case: str, users: int, via: str) -> Point | None:
    """Streamed chat first, then a load with refill before a series; a step of a ladder when there is no other."""
    fitting = [
        one
        for one in points
        if one["case"] == case and one["via"] == via and one["stream"] and one["load"].get("n") == users
    ]
    return min(fitting, key=_preference, default=None)


def _preference(point: Point) -> tuple[bool, bool, bool, str]:
    ladder = matching.tag_of(point) == "ladder"
    return (not point["valid"], point["endpoint"] != "chat", ladder, point["load"]["model"] + point["target"])


def cases_of(sides: Sides) -> list[str]:
    """Cases that both layouts have."""
    theirs = {one["case"] for one in sides.tp2}
    return list(dict.fromkeys(one["case"] for one in sides.tp1x2 if one["case"] in theirs))


def most_users(sides: Sides, case: str) -> int | None:
    """The greatest number of users above one that both layouts were measured with, all hosts together."""
    numbers = {one["load"].get("n") for one in sides.all() if one["case"] == case} - {None, 1}
    return max((number for number in numbers if both(sides, case, number, all_hosts=True)), default=None)
