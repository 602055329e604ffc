# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names and addresses of a lab, worked out from its name and its number of hosts. Pure."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass

from lab.errors import LabError

LAB_LABEL = "dgxspark.lab"
HOST_LABEL = "dgxspark.lab.host"
LIGHT_LABEL = "dgxspark.lab.light"
PREFIX = "dgxspark"
MAX_HOSTS = 40
# Outside of the ranges from which Docker picks (172.17-31 and 192.168), so that no host sees one subnet twice.
FABRIC_SUBNETS = (ipaddress.IPv4Network("10.100.0.0/24"), ipaddress.IPv4Network("10.100.1.0/24"))
FIRST_MANAGEMENT_ADDRESS = 10
MTU = 9000
NAME_PATTERN = re.compile(r"[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?")


@dataclass(frozen=True)
class Twin:
    """One half of QSFP port 0: network interface and RDMA device as DGX OS names them."""

    interface: str
    rdma_device: str


TWINS = (Twin("enp1s0f0np0", "rocep1s0f0"), Twin("enP2p1s0f0np0", "roceP2p1s0f0"))


@dataclass(frozen=True)
class FabricLink:
    """One jumbo link of a host: its end in the host, its far end and bridge in the fabric's namespace."""

    interface: str
    rdma_device: str
    address: str
    mac: str
    far_end: str
    bridge: str


@dataclass(frozen=True)
class HostPlan:
    """One host of a lab."""

    name: str
    index: int
    container: str
    volume: str
    links: tuple[FabricLink, ...]

    def chosen_links(self, interface: str | None) -> tuple[FabricLink, ...]:
        """Return the link of an interface, or all; raises LabError for an interface that is none of them."""
        if interface is None:
            return self.links
        chosen = tuple(link for link in self.links if link.interface == interface)
        if not chosen:
            known = ", ".join(link.interface for link in self.links)
            raise LabError(f"{self.name} has no fabric port '{interface}'; its ports are {known}.")
        return chosen


def check_lab_name(name: str) -> str:
    """Return the name; raises LabError when containers, volumes and folders could not carry it."""
    if not NAME_PATTERN.fullmatch(name):
        raise LabError(
            f"'{name}' cannot be a lab's name: use 1 to 32 lower-case letters, digits and inner hyphens, such as demo."
        )
    return name


def network_name(lab: str) -> str:
    """Return the name of the lab's management network."""
    return f"{PREFIX}-{lab}"


def fabric_container(lab: str) -> str:
    """Return the name of the container whose network namespace is the lab's QSFP switch."""
    return f"{PREFIX}-{lab}-fabric"


def hub_container(lab: str) -> str:
    """Return the name of the container that serves models to the lab's hosts."""
    return f"{PREFIX}-{lab}-hub"


def bridges() -> tuple[str, ...]:
    """Return the names of the switch's bridges, one per twin."""
    return tuple(f"twin{number}" for number in range(len(TWINS)))


def plan_host(lab: str, index: int) -> HostPlan:
    """Return host number `index` (from 1) of a lab."""
    name = f"spark{index}"
    links = tuple(
        FabricLink(
            interface=twin.interface,
            rdma_device=twin.rdma_device,
            address=f"{subnet.network_address + index}/{subnet.prefixlen}",
            # Fixed, as a card's is: the other hosts remember it while this one restarts.
            mac=f"02:53:50:00:{number:02x}:{index:02x}",
            far_end=f"{name}p{number}",
            bridge=bridge,
        )
        for number, (twin, subnet, bridge) in enumerate(zip(TWINS, FABRIC_SUBNETS, bridges(), strict=True))
    )
    container = f"{PREFIX}-{lab}-{name}"
    return HostPlan(name, index, container, f"{container}-docker", links)


def plan_hosts(lab: str, count: int) -> tuple[HostPlan, ...]:
    """Return all hosts of a lab; raises LabError for a number of hosts that a machine does not carry."""
    if not 1 <= count <= MAX_HOSTS:
        raise LabError(f"A lab has 1 to {MAX_HOSTS} hosts, {count} were asked for.")
    return tuple(plan_host(lab, index) for index in range(1, count + 1))


def management_address(subnet: str, index: int) -> str:
    """Return a host's fixed address on the management network (CIDR as Docker chose it)."""
    network = ipaddress.IPv4Network(subnet)
    address = network.network_address + FIRST_MANAGEMENT_ADDRESS + index
    if address not in network or address == network.broadcast_address:
        raise LabError(f"Docker's network {subnet} is too small for host {index}; give Docker larger address pools.")
    return str(address)
