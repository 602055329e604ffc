# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fabric as the inventory has it: who meets whom on which link, and what cannot be right."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping, Sequence

Link = Mapping[str, str]
Links = Mapping[str, Sequence[Link]]


def peers(host: str, links: Links) -> list[dict[str, str]]:
    """The other hosts on each link of a host.

    :returns: ``host`` and ``address`` of each, with this host's own ``interface`` and ``source`` address
    """
    found = []
    for link in links[host]:
        own = ipaddress.ip_interface(link["address"])
        for other, theirs in links.items():
            for one in theirs:
                address = ipaddress.ip_interface(one["address"])
                if other != host and address.network == own.network:
                    way = {"interface": link["interface"], "source": str(own.ip)}
                    found.append({"host": other, "address": str(address.ip), **way})
    return found


def faults(host: str, links: Links) -> list[str]:
    """Why the links of a host cannot be set up as they are written; sentences."""
    own = links[host]
    found = []
    names = [link["interface"] for link in own]
    found += [
        f"fabric_links names {name} twice; write one entry for each interface."
        for name in sorted({name for name in names if names.count(name) > 1})
    ]
    for number, link in enumerate(own):
        address = ipaddress.ip_interface(link["address"])
        place = f"fabric_links[{number}].address of {link['interface']}"
        owners = [
            f"{other} ({one['interface']})"
            for other, theirs in links.items()
            for index, one in enumerate(theirs)
            if (other, index) != (host, number) and ipaddress.ip_interface(one["address"]).ip == address.ip
        ]
        if owners:
            found.append(
                f"{place} is {address.ip}, which {owners[0]} has too; give each interface an address of its own."
            )
        if address.ip == address.network.network_address and address.network.num_addresses > 2:
            found.append(f"{place} is {address}, the network itself; write the address of the host in it.")
    return found + _alone(host, links)


def _alone(host: str, links: Links) -> list[str]:
    """A link with nobody at its other end: a change of it could not be confirmed, and is a slip of the pen."""
    if sum(1 for theirs in links.values() if theirs) < 2:
        return []
    met = {peer["interface"] for peer in peers(host, links)}
    return [
        f"{link['interface']} is to get {link['address']}, and no other host has a link in"
        f" {ipaddress.ip_interface(link['address']).network}; correct the address or its prefix length in fabric_links."
        for link in links[host]
        if link["interface"] not in met
    ]
