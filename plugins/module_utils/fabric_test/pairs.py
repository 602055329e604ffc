# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which two hosts are measured against each other, over which links, and which pairs at the same time."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

from ansible_collections.dgxspark.serving.plugins.module_utils.faults import Fault
from ansible_collections.dgxspark.serving.plugins.module_utils.variables import read_links, show

Link = Mapping[str, str]

AUTO = "auto"
ALL = "all"


@dataclass(frozen=True)
class SharedLink:
    """One network that two hosts share: the link of each of them, as ``variables.read_links`` gives it."""

    client: Link
    server: Link


@dataclass(frozen=True)
class Pair:
    """Two hosts and the links that they share; ``client`` sends, ``server`` listens."""

    client: str
    server: str
    links: tuple[SharedLink, ...]

    @property
    def name(self) -> str:
        return f"{self.client} - {self.server}"


def address(link: Link) -> str:
    """The address of a link without its prefix length."""
    return str(ipaddress.ip_interface(link["address"]).ip)


def shared(client: Sequence[Link], server: Sequence[Link]) -> tuple[SharedLink, ...]:
    """The links that two hosts share, in the client's order; both twins can be in one network."""
    left = list(server)
    found = []
    for link in client:
        network = ipaddress.ip_interface(link["address"]).network
        peer = next((one for one in left if ipaddress.ip_interface(one["address"]).network == network), None)
        if peer is not None:
            left.remove(peer)
            found.append(SharedLink(link, peer))
    return tuple(found)


def read(hosts: Mapping[str, object]) -> tuple[dict[str, list[dict[str, str]]], list[Fault]]:
    """Read ``fabric_links`` of each host; an address that two hosts claim is a fault (field fault N14)."""
    links, faults = {}, []
    owner: dict[str, str] = {}
    for host, value in hosts.items():
        links[host], more = read_links(value, host)
        faults += more
        for number, link in enumerate(links[host]):
            own = address(link)
            if own in owner:
                remedy = "Write the address that this host's interface really has"
                found = f"{own}, which {owner[own]} has too"
                faults.append(Fault(f"fabric_links[{number}].address", found, "an address of its own", remedy, host))
            owner.setdefault(own, host)
    return links, faults


def pairs(
    links: Mapping[str, Sequence[Link]], replicas: Sequence[Sequence[str]], wish: str = AUTO
) -> tuple[list[Pair], list[Fault]]:
    """The pairs to measure.

    :param links: ``fabric_links`` of each host, in inventory order
    :param replicas: hosts of each replica, rank 0 first
    :param wish: ``auto`` is neighbouring ranks, then one pair for each host that is in none; ``all`` is every two hosts
        that share a link; otherwise the pairs themselves, ``spark1:spark2,spark3:spark4``
    :returns: the pairs, and what is wrong with the wish
    """
    if wish not in (AUTO, ALL):
        return _named(links, wish)
    able = {(one, other): both for one, other in combinations(links, 2) if (both := shared(links[one], links[other]))}
    if wish == ALL:
        return [Pair(one, other, both) for (one, other), both in able.items()], []
    chosen: dict[frozenset[str], Pair] = {}
    for hosts in replicas:
        for one, other in pairwise(hosts):
            both = shared(links.get(one, ()), links.get(other, ()))
            if both:
                chosen.setdefault(frozenset((one, other)), Pair(one, other, both))
    seen = {host for pair in chosen.values() for host in (pair.client, pair.server)}
    # First pairs of two hosts that are in none, then what is left over with any neighbour.
    for lonely in (2, 1):
        for (one, other), both in able.items():
            if len({one, other} - seen) == lonely:
                chosen.setdefault(frozenset((one, other)), Pair(one, other, both))
                seen |= {one, other}
    return list(chosen.values()), []


def _named(links: Mapping[str, Sequence[Link]], wish: str) -> tuple[list[Pair], list[Fault]]:
    found, faults = [], []
    for text in filter(None, (part.strip() for part in wish.split(","))):
        names = [name.strip() for name in text.split(":")]
        if len(names) != 2 or names[0] == names[1] or not set(names) <= set(links):
            remedy = "Write two hosts of this run with a colon between them, such as spark1:spark2, or auto, or all"
            faults.append(Fault("fabric_test_pairs", show(text), "two hosts of the inventory", remedy))
            continue
        both = shared(links[names[0]], links[names[1]])
        if not both:
            remedy = "Give both a fabric_links entry in the same network"
            faults.append(Fault("fabric_test_pairs", f"{show(text)}, which share no network", "hosts that do", remedy))
            continue
        found.append(Pair(names[0], names[1], both))
    return found, faults


def rounds(chosen: Sequence[Pair]) -> list[list[Pair]]:
    """Pairs that share no host run at the same time: one list for each round."""
    found: list[list[Pair]] = []
    for pair in chosen:
        hosts = {pair.client, pair.server}
        free = next((one for one in found if not any(hosts & {busy.client, busy.server} for busy in one)), None)
        if free is None:
            found.append([pair])
        else:
            free.append(pair)
    return found
