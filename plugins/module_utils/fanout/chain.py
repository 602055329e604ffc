# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who takes from whom: chains over the fabric, as long as possible, so that each host sends a payload once. Pure.

Hosts on a switch make one chain. Where each two share a cable of their own, the chain goes along the cables.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping, Sequence
from typing import Any

Links = Mapping[str, Sequence[Mapping[str, str]]]
Plan = dict[str, dict[str, Any]]


def plan(
    source: str, targets: Sequence[str], links: Links, any_addresses: Mapping[str, str] | None = None
) -> tuple[Plan, list[str]]:
    """Say for each host where it listens, whom it answers, and whom it asks.

    :param targets: in the order of the chain, as far as the cables allow it
    :param links: ``fabric_links`` of each host: address with prefix length
    :param any_addresses: an address of each host by which others reach it without the fabric; nothing when only the
        fabric will do
    :returns: for the source and each target that can be reached ``listen`` and ``peers``, addresses, and ``upstreams``,
        the addresses of each host that it may ask, nearest first; and a sentence for each target that cannot be reached
    """
    net = _Network(links, any_addresses or {})
    wanted = [host for host in dict.fromkeys(targets) if host != source]
    above: dict[str, list[str]] = {source: []}
    _descend(source, wanted, above, net.fabric)
    last = source
    for host in wanted:
        if host not in above and net.other(last, host):
            above[host] = [last, *above[last]]
            last = host
            _descend(host, wanted, above, net.fabric)
    made: Plan = {host: {"listen": [], "peers": [], "upstreams": []} for host in above}
    for host, ancestors in above.items():
        for ancestor in ancestors:
            theirs, ours = net.ends(ancestor, host)
            if theirs:
                made[host]["upstreams"].append(theirs)
                made[ancestor]["listen"] = list(dict.fromkeys([*made[ancestor]["listen"], *theirs]))
                made[ancestor]["peers"] = list(dict.fromkeys([*made[ancestor]["peers"], *ours]))
    return made, [_fault(source, host, links.get(host, ())) for host in wanted if host not in above]


def _descend(top: str, wanted: Sequence[str], above: dict[str, list[str]], meet: Any) -> None:
    """Go from a host to the first one that it meets and that has none above it, and so on, before going back."""
    way = [top]
    while way:
        following = next((host for host in wanted if host not in above and meet(way[-1], host)[0]), "")
        if following:
            above[following] = [way[-1], *above[way[-1]]]
            way.append(following)
        else:
            way.pop()


class _Network:
    """Which hosts can meet, and with which addresses."""

    def __init__(self, links: Links, others: Mapping[str, str]) -> None:
        self._fabric = {
            host: [ipaddress.ip_interface(link["address"]) for link in own if link.get("address")]
            for host, own in links.items()
        }
        self._others = others

    def fabric(self, one: str, other: str) -> tuple[list[str], list[str]]:
        """Addresses of the one, and of the other, in networks of the fabric that both are in."""
        pairs = [
            (mine, theirs)
            for mine in self._fabric.get(one, ())
            for theirs in self._fabric.get(other, ())
            if mine.network == theirs.network and mine.ip != theirs.ip
        ]
        return _unique(pair[0].ip for pair in pairs), _unique(pair[1].ip for pair in pairs)

    def other(self, one: str, other: str) -> bool:
        """Whether they can meet without the fabric."""
        return bool(self._others.get(one) and self._others.get(other))

    def ends(self, one: str, other: str) -> tuple[list[str], list[str]]:
        """As :meth:`fabric`, or without the fabric where there is no such network."""
        ends = self.fabric(one, other)
        if not ends[0] and self.other(one, other):
            return [self._others[one]], [self._others[other]]
        return ends


def _unique(addresses: Any) -> list[str]:
    return list(dict.fromkeys(str(address) for address in addresses))


def _fault(source: str, host: str, own: Sequence[Mapping[str, str]]) -> str:
    found = ", ".join(link["address"] for link in own) or "nothing"
    return (
        f"{host} has {found} in fabric_links, and needs an address in a network of {source}, or of a host that {source}"
        " reaches. Write its fabric address, or set fanout_network=any to copy over the management network."
    )
