# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan of a whole test: rounds of pairs, and for each host what it runs in each. Plain data for Ansible."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_test import all_gather, orders, pairs
from ansible_collections.dgxspark.serving.plugins.module_utils.faults import ConfigurationError, Fault

BEFORE = "settings before prepare"
AFTER = "settings of prepare"
TRIAL_SLACK = 120


@dataclass(frozen=True)
class Wish:
    """What the user chose.

    :ivar pairs: ``auto``, ``all``, or pairs by name
    :ivar seconds: length of a measurement
    :ivar streams: TCP connections of a measurement
    :ivar disturb: measure although engines run
    """

    pairs: str
    seconds: int
    streams: int
    disturb: bool


def make(
    links: Mapping[str, object],
    looks: Mapping[str, Mapping[str, Any]],
    replicas: Sequence[Sequence[str]],
    wish: Wish,
    choice: all_gather.Choice,
) -> dict[str, Any]:
    """Plan a test.

    :param links: ``fabric_links`` of each host as the user wrote them
    :param looks: what :func:`host.read` says of each host
    :param replicas: hosts of each replica, rank 0 first
    :returns: ``pairs``, and ``rounds``, each with what every host of it runs
    :raises ConfigurationError: with every fault of the configuration
    :raises RuntimeError: when engines run, with what to do
    """
    read, faults = pairs.read(links)
    chosen, more = pairs.pairs(read, replicas, wish.pairs)
    faults += more
    if not faults and not chosen:
        wanted = "two hosts with fabric_links in one network"
        faults.append(
            Fault("fabric_links", "no two hosts that share a network", wanted, "Write fabric_links for both hosts")
        )
    if faults:
        raise ConfigurationError(faults)
    _refuse_to_disturb(chosen, looks, wish.disturb)
    rounds = []
    for together in pairs.rounds(chosen):
        parts: dict[str, Any] = {}
        for pair in together:
            parts.update(_parts(pair, looks, wish, choice))
        rounds.append(parts)
    return {"pairs": [{**asdict(pair), "name": pair.name} for pair in chosen], "rounds": rounds}


def _refuse_to_disturb(chosen: Sequence[pairs.Pair], looks: Mapping[str, Mapping[str, Any]], disturb: bool) -> None:
    hosts = dict.fromkeys(host for pair in chosen for host in (pair.client, pair.server))
    busy = [f"{', '.join(looks[host]['engines'])} on {host}" for host in hosts if looks[host]["engines"]]
    if busy and not disturb:
        raise RuntimeError(
            f"Engines run here, which the test would slow down: {'; '.join(busy)}. Stop them with the playbook stop, "
            "or give -e fabric_test_disturb=true."
        )


def _parts(
    pair: pairs.Pair, looks: Mapping[str, Mapping[str, Any]], wish: Wish, choice: all_gather.Choice
) -> dict[str, dict[str, Any]]:
    steps = {
        "tools": orders.tools(pair, looks, wish.seconds, wish.streams),
        "all_gather": all_gather.part(pair, looks, choice),
        "before": orders.tcp(pair, looks, wish.seconds, wish.streams, BEFORE),
        "after": orders.tcp(pair, looks, wish.seconds, wish.streams, AFTER),
    }
    # Both trials, the playbook's own time between them, and then the hosts put their settings back by themselves.
    trial = sum(max((job["limit"] for job in steps[name].servers), default=0) for name in ("before", "after"))
    common = {
        "pair": pair.name,
        "trial_seconds": int(trial) + TRIAL_SLACK,
        "interfaces": [link.client["interface"] for link in pair.links],
        "devices": [device for link in pair.links if (device := link.client["rdma_device"])],
    }
    server = {"side": "server", **{name: step.servers for name, step in steps.items()}}
    client = {"side": "client", "peer": pair.server, **{name: step.measurements for name, step in steps.items()}}
    return {pair.server: {**common, **server}, pair.client: {**common, **client}}
