# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fabric links of the hosts of one replica: what carries the data, what cannot work, and what is merely unwise.

Links are as :func:`variables.read_links` gives them, the control link first.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping, Sequence
from itertools import combinations

from ansible_collections.dgxspark.serving.plugins.module_utils.engines.group import ROCE, SOCKET
from ansible_collections.dgxspark.serving.plugins.module_utils.faults import Fault

Link = Mapping[str, str]
Links = Mapping[str, Sequence[Link]]

EXAMPLE = "[{interface: enp1s0f0np0, address: 192.0.2.11/24, rdma_device: rocep1s0f0}]"

# The QSFP netdevs of a Spark, such as enP2p1s0f0np0: PCI domain (none is 0) and number of the port.
_QSFP = re.compile(r"en(P(?P<domain>\d+))?p\d+s\d+f(?P<port>\d+)(np\d+)?")
_OTHER_NETWORKS = {"enP7s7": "the management network", "wlP9s9": "Wi-Fi"}


def transport_for(wish: str, links: Links) -> tuple[str, Fault | None]:
    """What carries the data of a replica of several hosts: ``roce`` or ``socket``.

    :param wish: ``auto``, ``roce`` or ``socket``; ``auto`` is RoCE where every link of every host has an RDMA device
    :param links: the links of each of its hosts
    """
    if wish == SOCKET:
        return SOCKET, None
    lacking = [
        (host, number, link) for host in links for number, link in enumerate(links[host]) if not link["rdma_device"]
    ]
    if wish == ROCE:
        fault = None
        if lacking:
            host, number, link = lacking[0]
            place = f"fabric_links[{number}].rdma_device"
            remedy = (
                f"Write the RDMA device of {link['interface']} (rdma link shows it), or set serving_transport: auto"
            )
            fault = Fault(place, "nothing", "an RDMA device for each link, for serving_transport is roce", remedy, host)
        return ROCE, fault
    return (ROCE if not lacking and all(links.values()) else SOCKET), None


def group_faults(links: Links) -> list[Fault]:
    """Why the hosts of one replica could not meet on the fabric.

    :param links: the links of each host, rank 0 first; at least two hosts
    """
    faults = [
        Fault(
            "fabric_links",
            "nothing",
            "the QSFP interfaces of this host, for its replica spans several hosts",
            f"Write fabric_links: {EXAMPLE}",
            host,
        )
        for host, own in links.items()
        if not own
    ]
    control = {host: ipaddress.ip_interface(own[0]["address"]) for host, own in links.items() if own}
    place = "fabric_links[0].address"
    unreachable = {host for host, address in control.items() if address.ip.is_loopback or address.ip.is_unspecified}
    # The network that counts is rank 0's, or that of the first rank that has one.
    first = next((host for host in control if host not in unreachable), "")
    owner: dict[str, str] = {}
    for host, address in control.items():
        if address.version == 6 and host not in unreachable:
            remedy = f"Write the IPv4 address of {links[host][0]['interface']}, such as 192.0.2.11/24"
            faults.append(Fault(place, str(address), "an IPv4 address, which the supervisors need", remedy, host))
        elif host in unreachable:
            wanted = "an address that the other hosts of the replica can reach"
            remedy = f"Write the address of {links[host][0]['interface']}, such as 192.0.2.11/24"
            faults.append(Fault(place, str(address), wanted, remedy, host))
        elif address.network != control[first].network:
            wanted = f"an address in {control[first].network}, where {first} has its control link"
            remedy = "Put the link of that network first in fabric_links, or mend the address"
            faults.append(Fault(place, str(address), wanted, remedy, host))
        # Said in the words of the plan, which compares all hosts: the same fault is then reported once.
        if str(address.ip) in owner:
            found = f"{address.ip}, which {owner[str(address.ip)]} has too"
            remedy = "Write the address that this host's interface really has"
            faults.append(Fault(place, found, "an address of its own", remedy, host))
        owner.setdefault(str(address.ip), host)
    return faults


def group_warnings(links: Links) -> list[str]:
    """What works and is slower, or less certain, than it could be; sentences."""
    warnings = []
    for host, own in links.items():
        warnings += _network_warnings(host, own) + _half_warnings(host, own) + _subnet_warnings(host, own)
    return warnings + _reach_warnings(links)


def _reach_warnings(links: Links) -> list[str]:
    """Links beyond the control link that lead nowhere: NCCL waits for its peer there until it gives up."""
    first, reference = next(iter(links.items()))
    networks = {ipaddress.ip_interface(link["address"]).network for link in reference}
    return [
        f"{host}: {link['interface']} is in {network}, where {first} has no link: no data passes between the two there."
        for host, own in links.items()
        for link in own[1:]
        if (network := ipaddress.ip_interface(link["address"]).network) not in networks
    ]


def _network_warnings(host: str, own: Sequence[Link]) -> list[str]:
    return [
        f"{host}: {link['interface']} in fabric_links is {_OTHER_NETWORKS[link['interface']]} of a DGX Spark: ranks on"
        " it are many times slower. Name the QSFP interfaces instead."
        for link in own
        if link["interface"] in _OTHER_NETWORKS
    ]


def _half_warnings(host: str, own: Sequence[Link]) -> list[str]:
    """A cable needs both twins of its port for its full speed (field fault N18)."""
    twins: dict[str, list[str]] = {}
    for link in own:
        match = _QSFP.fullmatch(link["interface"])
        if match:
            twins.setdefault(match["port"], []).append(link["interface"])
    return [
        f"{host}: fabric_links has one half only of QSFP port {port} ({names[0]}), which is half the bandwidth at most."
        f" Add {_twin(names[0])} with an address in a network of its own."
        for port, names in twins.items()
        if len(names) == 1
    ]


def _twin(interface: str) -> str:
    """The other netdev of the same QSFP port."""
    if interface.startswith("enP2"):
        return interface.replace("enP2", "en", 1)
    return interface.replace("en", "enP2", 1)


def _subnet_warnings(host: str, own: Sequence[Link]) -> list[str]:
    """Two netdevs of one host in one subnet: the kernel answers from either (field fault N20)."""
    warnings = []
    for one, other in combinations(own, 2):
        network = ipaddress.ip_interface(one["address"]).network
        if not network.overlaps(ipaddress.ip_interface(other["address"]).network):
            continue
        names = f"{one['interface']} and {other['interface']}"
        ports = [match["port"] for link in (one, other) if (match := _QSFP.fullmatch(link["interface"]))]
        if len(ports) == 2 and ports[0] == ports[1]:
            warnings.append(
                f"{host}: note that {names}, the two halves of QSFP port {ports[0]}, are in one network ({network})."
                " It works; a network for each half is the usual way."
            )
        else:
            warnings.append(
                f"{host}: {names} are two ports in one network ({network}), so traffic may leave by the wrong one."
                " Give each a network of its own."
            )
    return warnings
