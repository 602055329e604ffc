# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is wanted of each host, from the plan and the inventory. Pure, on the controller."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

GID_INDEX = "NCCL_IB_GID_INDEX"
SOCKET = "socket"

Link = Mapping[str, str]


def wanted(host: str, rank: Mapping[str, Any], links: Mapping[str, Sequence[Link]]) -> dict[str, Any]:
    """What of :class:`want.Want` follows from plan and inventory, as plain data.

    :param rank: the host's rank in the plan; empty when nothing is planned for it
    :param links: fabric links of every host of the group, as :func:`variables.read_links` gives them
    """
    container = rank.get("container", {})
    own = rank.get("links") or links.get(host, ())
    return {
        "host": host,
        "world_size": rank.get("world_size", 0),
        "transport": rank.get("transport", SOCKET),
        "image": container.get("image", ""),
        "container": container.get("name", ""),
        "memory_share": rank.get("supervision", {}).get("memory_share"),
        "gid_index": container.get("env", {}).get(GID_INDEX),
        "links": [dict(link) for link in own],
        "peers": peers(host, rank, own, links),
    }


def peers(
    host: str, rank: Mapping[str, Any], own: Sequence[Link], links: Mapping[str, Sequence[Link]]
) -> list[dict[str, Any]]:
    """Who must be reached by the links of a host.

    All hosts of its replica, where that has several; else the next host of the group on each link, so that every link
    is looked at and no host asks all others.
    """
    together = rank.get("hosts", ()) if rank.get("world_size", 0) > 1 else ()
    order = list(links)
    start = order.index(host) + 1 if host in order else 0
    others = [other for other in order[start:] + order[:start] if other != host]
    found = []
    for link in own:
        network = ipaddress.ip_interface(link["address"]).network
        there = (
            {"host": other, "address": str(address.ip), "interface": link["interface"], "must": bool(together)}
            for other in (together or others)
            if other != host
            for address in [ipaddress.ip_interface(far["address"]) for far in links.get(other, ())]
            if address.ip in network
        )
        # Only as far as needed: the links of each further host may cost time to read.
        found += there if together else islice(there, 1)
    return found
