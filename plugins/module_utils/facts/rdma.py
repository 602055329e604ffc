# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""RDMA devices: which interface each belongs to, whether it is active, and its table of GIDs."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ansible_collections.dgxspark.serving.plugins.module_utils.facts import netdev
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.raw import Raw, Sources

INFINIBAND = "/sys/class/infiniband"
VERBS = "/dev/infiniband/uverbs*"
ROCE_V2 = "RoCE v2"

# Where the entries of a host's own addresses are; a table has 256 places, and reading all costs a thousand files.
_GIDS = 16
_IBDEV2NETDEV = re.compile(r"(?P<device>\S+)\s+port\s+\d+\s+==>\s+(?P<netdev>\S+)\s+\(\w+\)")


@dataclass(frozen=True)
class Device:
    """An RDMA device.

    :ivar netdev: its interface; empty when unknown
    :ivar state: such as ``ACTIVE`` or ``DOWN``; empty when unknown
    :ivar physical: such as ``LinkUp`` or ``Disabled``; empty when unknown
    """

    netdev: str
    state: str = ""
    physical: str = ""


@dataclass(frozen=True)
class Gid:
    """An entry of a device's table: one address in one way of RDMA.

    :ivar kind: such as ``RoCE v2``
    """

    address: ipaddress.IPv6Address
    kind: str

    @property
    def ipv4(self) -> str:
        """The IPv4 address in it; empty when there is none."""
        return str(self.address.ipv4_mapped or "")


def sources() -> Sources:
    """What to read of all RDMA devices."""
    return Sources(
        (f"{INFINIBAND}/*/ports/1/state", f"{INFINIBAND}/*/ports/1/phys_state"),
        (f"{INFINIBAND}/*/device", VERBS),
        # Says what the PCI devices do not, such as the interface of a bond.
        {"ibdev2netdev": ("ibdev2netdev",)},
    )


def gid_sources(devices: Iterable[str], index: int) -> Sources:
    """What to read of the tables of GIDs of these devices.

    :param index: the entry that is asked for; the first sixteen are read to say which would be right
    """
    return Sources(
        tuple(
            f"{INFINIBAND}/{name}/ports/1/{table}/{number}"
            for name in devices
            for number in (*range(_GIDS), *([] if index < _GIDS else [index]))
            for table in ("gids", "gid_attrs/types")
        )
    )


def devices(raw: Raw) -> dict[str, Device]:
    """All RDMA devices by name."""
    owners = {
        path: link.split("/")[-2]
        for link, path in raw.links.items()
        if link.startswith(f"{netdev.NET}/") and link.endswith("/device")
    }
    said = {
        match["device"]: match["netdev"]
        for match in map(_IBDEV2NETDEV.match, raw.output("ibdev2netdev").out.splitlines())
        if match
    }
    paths = {
        link.split("/")[-2]: path
        for link, path in raw.links.items()
        if link.startswith(f"{INFINIBAND}/") and link.endswith("/device")
    }
    return {
        name: Device(
            owners.get(paths.get(name, ""), said.get(name, "")),
            _word(raw.text(f"{INFINIBAND}/{name}/ports/1/state")),
            _word(raw.text(f"{INFINIBAND}/{name}/ports/1/phys_state")),
        )
        for name in sorted({*paths, *said})
    }


def hcas_for(interface: str, found: Mapping[str, Device], ports: Mapping[str, Iterable[str]]) -> list[str]:
    """The devices for data of one interface: its own, then that of its twin on the same port (field fault P05).

    :param ports: the interfaces of each QSFP port
    """
    halves = next((list(names) for names in ports.values() if interface in names), [interface])
    halves.sort(key=lambda name: name != interface)
    return [name for half in halves for name, device in found.items() if device.netdev == half]


def gids(raw: Raw, device: str) -> dict[int, Gid]:
    """The table of a device by index, without the empty entries; those that were read."""
    table = {}
    start = f"{INFINIBAND}/{device}/ports/1/gids/"
    for path, text in raw.files.items():
        if path.startswith(start):
            number = path[len(start) :]
            kind = raw.text(f"{INFINIBAND}/{device}/ports/1/gid_attrs/types/{number}")
            try:
                address = ipaddress.IPv6Address(text.strip())
            except ValueError:
                continue
            if int(address):
                table[int(number)] = Gid(address, kind)
    return table


def _word(text: str) -> str:
    """The word of such as ``4: ACTIVE``."""
    return text.rpartition(":")[2].strip()
