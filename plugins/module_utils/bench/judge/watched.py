# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What hosts and rounds said, read so that whatever is missing is no figure and never an error. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

# Seconds around a round in which a counter's samples count for it: they come once a second.
AROUND = 1.5
_CONTAINER = re.compile(r"dgxspark-(?P<replica>.+)-r(?P<rank>\d+)")


def at(data: Any, *path: str) -> Any:
    """What lies under these keys; None when one of them is not there."""
    for key in path:
        if not isinstance(data, Mapping):
            return None
        data = data.get(key)
    return data


def number(data: Any, *path: str) -> float | None:
    """The figure under these keys; None when there is none."""
    value = at(data, *path)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    return value


def text(data: Any, *path: str) -> str:
    """The words under these keys; empty when there are none."""
    value = at(data, *path)
    return value if isinstance(value, str) else ""


def entries(data: Any, *path: str) -> list[Any]:
    """The list under these keys; empty when there is none."""
    value = at(data, *path)
    return list(value) if isinstance(value, (list, tuple)) else []


def keyed(data: Any, *path: str) -> dict[str, Any]:
    """The mapping under these keys; empty when there is none."""
    value = at(data, *path)
    return {str(key): one for key, one in value.items()} if isinstance(value, Mapping) else {}


def figures(samples: Iterable[Any], *path: str) -> list[float]:
    """One figure of each sample that has it."""
    return [value for value in (number(sample, *path) for sample in samples) if value is not None]


@dataclass(frozen=True)
class Window:
    """The time of one round, Unix seconds."""

    start: float
    end: float

    def has(self, when: float, around: float = 0.0) -> bool:
        """Whether a time is in it."""
        return self.start - around <= when <= self.end + around


@dataclass(frozen=True)
class Member:
    """A rank of a replica.

    :ivar container: its name; empty when the host did not say it
    """

    rank: int
    host: str
    container: str = ""


@dataclass(frozen=True)
class Group:
    """A replica that was measured.

    :ivar windows: when it was, warm-up left out
    """

    replica: str
    members: tuple[Member, ...]
    windows: tuple[Window, ...]


def measured(rounds: Iterable[Any]) -> list[Any]:
    """Rounds that count: no warm-up, and none that a ladder left out."""
    return [one for one in rounds if isinstance(one, Mapping) and not one.get("warmup") and not one.get("skipped")]


def windows(rounds: Iterable[Any], targets: Iterable[str] | None = None) -> tuple[Window, ...]:
    """When rounds that count were.

    :param targets: of these targets only; of all when None
    """
    wanted = None if targets is None else set(targets)
    found = []
    for one in measured(rounds):
        began, seconds = number(one, "began"), number(one, "seconds")
        if began is not None and seconds is not None and (wanted is None or text(one, "target") in wanted):
            found.append(Window(began, began + max(seconds, 0.0)))
    return tuple(found)


def samples_of(snapshots: Any) -> list[Mapping[str, Any]]:
    """A host's samples in the order of their time, from what a sampler returns or from what a result keeps of it."""
    kept = [at(snapshots, "before"), *entries(snapshots, "during"), at(snapshots, "after")]
    found = [one for one in [*entries(snapshots, "samples"), *kept] if number(one, "t") is not None]
    return sorted(found, key=lambda sample: sample["t"])


def within(samples: Iterable[Mapping[str, Any]], times: Sequence[Window], around: float = 0.0) -> list[Any]:
    """Samples in any of these times."""
    return [sample for sample in samples if any(window.has(sample["t"], around) for window in times)]


def merged(times: Iterable[Window], around: float = 0.0) -> list[Window]:
    """Times without overlaps, each made longer at both ends."""
    found: list[Window] = []
    for time in sorted(times, key=lambda time: time.start):
        start, end = time.start - around, time.end + around
        if found and start <= found[-1].end:
            found[-1] = Window(found[-1].start, max(end, found[-1].end))
        else:
            found.append(Window(start, end))
    return found


def moved(samples: Sequence[Mapping[str, Any]], times: Sequence[Window], kind: str) -> dict[str, float]:
    """Bytes that went through each counter during these times, both ways.

    :param kind: ``rdma`` or ``net``
    :returns: only counters that were seen twice; one that was set back meanwhile lacks what came before
    """
    found: dict[str, float] = {}
    for time in merged(times, AROUND):
        for before, after in pairwise(within(samples, [time])):
            for name in keyed(after, kind):
                for way in ("rx", "tx"):
                    first, last = number(before, kind, name, way), number(after, kind, name, way)
                    if first is not None and last is not None:
                        found[name] = found.get(name, 0.0) + max(last - first, 0.0)
    return found


def groups(order: Any, rounds: Sequence[Any], samples: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[Group]:
    """The replicas of a run with their ranks: as targets have them, else as the containers of hosts are called.

    Deployments of one run may give one replica's name to other hosts each time.
    """
    deployed: dict[str, list[Any]] = {}
    for target in entries(order, "targets"):
        deployed.setdefault(text(target, "deployment"), []).append(target)
    return [group for targets in deployed.values() for group in _groups(targets, rounds, samples)]


def _groups(
    targets: Sequence[Any], rounds: Sequence[Any], samples: Mapping[str, Sequence[Mapping[str, Any]]]
) -> list[Group]:
    times = windows(rounds, [text(target, "name") for target in targets])
    called = _by_containers({host: within(seen, times, AROUND) for host, seen in samples.items()})
    members = dict(called)
    for target in targets:
        replica, hosts = text(target, "replica"), _hosts(target)
        if replica and hosts:
            names = {member.host: member.container for member in called.get(replica, ())}
            members[replica] = tuple(Member(rank, host, names.get(host, "")) for rank, host in enumerate(hosts))
    found = []
    for replica, ranks in sorted(members.items()):
        covering = [text(target, "name") for target in targets if _covers(target, replica, ranks)]
        played = windows(rounds, covering)
        if played:
            found.append(Group(replica, ranks, played))
    return found


def _hosts(target: Any) -> list[str]:
    return [host for host in entries(target, "hosts") if isinstance(host, str)]


def _covers(target: Any, replica: str, members: Sequence[Member]) -> bool:
    """Whether requests to a target reach a replica."""
    if text(target, "replica"):
        return text(target, "replica") == replica
    return {member.host for member in members} <= set(_hosts(target))


def _by_containers(samples: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, tuple[Member, ...]]:
    found: dict[str, set[tuple[int, str, str]]] = {}
    for host, seen in samples.items():
        for name in {name for sample in seen for name in keyed(sample, "containers")}:
            match = _CONTAINER.fullmatch(name)
            if match:
                found.setdefault(match["replica"], set()).add((int(match["rank"]), host, name))
    return {replica: tuple(Member(*one) for one in sorted(ranks)) for replica, ranks in found.items()}
