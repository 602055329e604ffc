# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether all ranks of a replica worked, and over what they talked: idle GPUs, RDMA that stands still. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.judge.finding import (
    ERROR,
    WARNING,
    Finding,
    finding,
    note,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.judge.watched import (
    Group,
    Member,
    figures,
    moved,
    within,
)

Seen = Mapping[str, Sequence[Mapping[str, Any]]]

# Percent of use below which a GPU idles, and above which another one works.
IDLE, WORKS = 5.0, 20.0
# So many samples make a median.
FEWEST = 3
# Bytes that are nothing beside what ranks send each other for one answer, and the share of a twin that is in use.
LITTLE = 1_000_000
TWIN_SHARE = 0.01
# A device's PCI domain, by which the halves of one port differ: rocep1s0f0 and roceP2p1s0f0.
_DOMAIN = re.compile(r"P\d+(?=p\d)")


def of_group(group: Group, seen: Seen) -> list[Finding]:
    """Findings of one replica.

    :param seen: samples by host
    """
    if len({member.host for member in group.members}) < 2:
        return []
    return [*_idle(group, seen), *_rdma(group, seen)]


def rank_name(member: Member, group: Group) -> str:
    """A rank for people."""
    return f"Rank {member.rank} of {group.replica} on {member.host}"


def _idle(group: Group, seen: Seen) -> list[Finding]:
    use = {}
    for member in group.members:
        values = figures(within(seen.get(member.host, ()), group.windows), "gpu", "util_pct")
        if len(values) >= FEWEST:
            use[member] = (median(values), len(values))
    if not use:
        return []
    busiest = max(use, key=lambda member: use[member][0])
    if use[busiest][0] <= WORKS:
        return []
    others = f"rank {busiest.rank} on {busiest.host} at {use[busiest][0]:.0f} %"
    return [
        finding(
            "rank_idle",
            ERROR,
            rank_name(member, group),
            f"its GPU at {value:.0f} % in the measured time (median of {count} samples) beside {others}",
            "all ranks at work",
            f"See docker logs {member.container or 'of its container'} on {member.host}, and whether the engine's "
            "tensor_parallel_size and pipeline_parallel_size use this host.",
        )
        for member, (value, count) in use.items()
        if value < IDLE
    ]


def _rdma(group: Group, seen: Seen) -> list[Finding]:
    hosts = [host for host in dict.fromkeys(member.host for member in group.members) if seen.get(host)]
    rdma = {host: moved(seen[host], group.windows, "rdma") for host in hosts}
    net = {host: sum(moved(seen[host], group.windows, "net").values()) for host in hosts}
    known = [host for host in hosts if rdma[host]]
    if hosts and not known:
        text = f"{group.replica}: {', '.join(hosts)} show no RDMA counters, so these cannot say whether NCCL used RDMA."
        return [note("rdma_unknown", text)]
    found = []
    for host in known:
        total = sum(rdma[host].values())
        if total < LITTLE:
            found.append(_still(group, host, total, net[host]))
        else:
            found += _twins(group, host, rdma[host])
    return found


def _still(group: Group, host: str, total: float, net: float) -> Finding:
    sockets = net > 10 * max(total, LITTLE)
    beside = f" beside {net / 1e6:.0f} MB of its network interfaces" if sockets else ""
    return finding(
        "rdma_still",
        WARNING,
        f"{group.replica} on {host}",
        f"{total / 1e6:.1f} MB through RDMA in the measured time{beside}",
        "the traffic of NCCL there",
        ("NCCL runs on sockets? " if sockets else "")
        + "Look for NET/IB or NET/Socket in the engine's log with NCCL_DEBUG=INFO, and check NCCL_IB_HCA and that "
        "/dev/infiniband is in the container.",
    )


def _twins(group: Group, host: str, devices: Mapping[str, float]) -> list[Finding]:
    """Ports of which one half alone carried the data; the other half's bandwidth was not used."""
    ports: dict[str, list[str]] = {}
    for name in sorted(devices):
        ports.setdefault(_DOMAIN.sub("", name), []).append(name)
    found = []
    for halves in ports.values():
        total = sum(devices[name] for name in halves)
        still = [name for name in halves if devices[name] < TWIN_SHARE * total]
        if len(halves) < 2 or total < LITTLE or not still:
            continue
        used = [name for name in halves if name not in still]
        found.append(
            finding(
                "rdma_one_twin",
                WARNING,
                f"{group.replica} on {host}",
                f"all data of the port through {', '.join(used)} and none through {', '.join(still)}",
                "both halves of the port in use",
                f"Name both in fabric_links, so that NCCL_IB_HCA is {','.join(halves)}: one half alone has half the "
                "bandwidth.",
            )
        )
    return found
