# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which hosts make up which replica."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.faults import Fault
from ansible_collections.dgxspark.serving.plugins.module_utils.variables import (
    BY_KEY,
    is_name,
    misspelt_key,
    show,
)

ENTRY_KEYS = ("name", "replicas", *BY_KEY)


@dataclass(frozen=True)
class Entry:
    """One deployment as the user wrote it.

    :ivar place: how a fault names it; empty for the deployment that no variable spells out
    :ivar values: its own values by key, unchecked
    :ivar replicas: hosts of each replica, rank 0 first; None when they are to be laid out
    """

    name: str
    place: str
    values: Mapping[str, Any]
    replicas: tuple[tuple[str, ...], ...] | None

    @property
    def listed_place(self) -> str:
        """Where it stands in ``serving_deployments``, or would if it were spelt out."""
        return self.place or "serving_deployments[0]"


def read_entries(deployments: Sequence[Any], default_name: str) -> tuple[list[Entry], list[Fault]]:
    """Read ``serving_deployments``; without any, there is one deployment named ``default_name``."""
    if not deployments:
        return [Entry(default_name, "", {}, None)], []
    entries: list[Entry] = []
    faults: list[Fault] = []
    for number, raw in enumerate(deployments):
        place = f"serving_deployments[{number}]"
        if not isinstance(raw, Mapping):
            faults.append(Fault(place, show(raw), "a mapping with a name", f"Write {place} as a mapping"))
            continue
        for key in raw:
            if key not in ENTRY_KEYS:
                faults.append(misspelt_key(place, str(key), ENTRY_KEYS))
        name = raw.get("name")
        if not is_name(name):
            wanted = "lower-case letters, digits and dashes, at most 40"
            faults.append(Fault(f"{place}.name", show(name), wanted, "Give each deployment a name"))
        elif any(entry.name == name for entry in entries):
            faults.append(Fault(f"{place}.name", show(name), "a name of its own", "Rename one of the two deployments"))
        replicas, more = _read_replicas(raw.get("replicas"), f"{place}.replicas")
        faults += more
        entries.append(
            Entry(
                name=str(name),
                place=place,
                values={key: value for key, value in raw.items() if key in BY_KEY},
                replicas=replicas,
            )
        )
    return entries, faults


def _read_replicas(raw: Any, place: str) -> tuple[tuple[tuple[str, ...], ...] | None, list[Fault]]:
    if raw is None:
        return None, []
    wanted = "a list of host lists such as [[spark1], [spark2]]"
    fault = Fault(place, show(raw), wanted, f"Write {place} as {wanted}")
    if not isinstance(raw, (list, tuple)) or not raw:
        return (), [fault]
    for hosts in raw:
        if not isinstance(hosts, (list, tuple)) or not hosts or not all(isinstance(host, str) for host in hosts):
            return (), [fault]
    return tuple(tuple(hosts) for hosts in raw), []


def lay_out(
    entry: Entry, group: str, hosts: Sequence[str], size: int, size_place: str
) -> tuple[list[tuple[str, ...]], list[Fault]]:
    """The replicas of one deployment.

    :param hosts: the members of the group, in inventory order
    :param size: hosts of one replica, tensor times pipeline parallel size
    :param size_place: how a fault names where the size was set
    """
    if entry.replicas is None:
        if len(hosts) % size:
            fault = Fault(
                size_place,
                f"{size} hosts for each replica",
                f"a divisor of the {len(hosts)} hosts of group {group}",
                f"Name the hosts of each replica in {entry.listed_place}.replicas, or change the size",
            )
            return [], [fault]
        return [tuple(hosts[start : start + size]) for start in range(0, len(hosts), size)], []
    faults = []
    for number, replica in enumerate(entry.replicas):
        place = f"{entry.place}.replicas[{number}]"
        faults += [
            Fault(
                place,
                show(host),
                f"a host of group {group} ({', '.join(hosts)})",
                f"Add {host} to the inventory group {group}, or name another host",
            )
            for host in replica
            if host not in hosts
        ]
        if len(replica) != size:
            faults.append(
                Fault(
                    place,
                    f"{len(replica)} hosts",
                    f"tensor_parallel_size x pipeline_parallel_size = {size}",
                    "Name as many hosts, rank 0 first, or change the size",
                )
            )
    return list(entry.replicas), faults


def double_bookings(placed: Sequence[tuple[str, str]]) -> list[Fault]:
    """Hosts that stand in more than one place: a Spark has one GPU.

    :param placed: for each host of each replica its name and where it stands
    """
    first: dict[str, str] = {}
    faults = []
    for host, place in placed:
        if host in first:
            found = f"'{host}', which is in {first[host]} too"
            faults.append(Fault(place, found, "each host once", f"Remove {host} from one of them"))
        first.setdefault(host, place)
    return faults
