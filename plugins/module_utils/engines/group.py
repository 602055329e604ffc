# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The hosts of one replica as its engine meets them, and what every engine needs to use the fabric."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.faults import Fault
from ansible_collections.dgxspark.serving.plugins.module_utils.variables import show

ROCE = "roce"
SOCKET = "socket"

# Without these NCCL finds no RDMA device and falls back to sockets in silence (field fault D11).
RDMA_DEVICES = ["/dev/infiniband"]
RDMA_CAPABILITIES = ["IPC_LOCK"]


@dataclass(frozen=True)
class Member:
    """A host of a replica.

    :ivar address: address of its control link; empty for a replica of one host
    :ivar interfaces: its fabric interfaces, the control link first
    :ivar rdma_devices: the RDMA devices of these
    :ivar gid_index: GID index that NCCL is to take on this host; None leaves the choice to NCCL
    """

    host: str
    address: str
    interfaces: tuple[str, ...]
    rdma_devices: tuple[str, ...]
    gid_index: int | None = None


@dataclass(frozen=True)
class Group:
    """The hosts of a replica, rank 0 first.

    :ivar transport: ``roce`` or ``socket``; empty for a replica of one host
    """

    members: tuple[Member, ...]
    transport: str

    @property
    def world_size(self) -> int:
        return len(self.members)

    @property
    def master(self) -> str:
        """Address at which the ranks meet: that of rank 0."""
        return self.members[0].address

    @property
    def devices(self) -> list[str]:
        """Device nodes that the container of each rank is given."""
        return list(RDMA_DEVICES) if self.transport == ROCE else []

    @property
    def capabilities(self) -> list[str]:
        """Capabilities that the container of each rank is given."""
        return list(RDMA_CAPABILITIES) if self.transport == ROCE else []


def host_environment(group: Group, rank: int) -> dict[str, str]:
    """The variables whose values are this host's own: a cable may sit in another cage on the next host (N04).

    All sockets go over the control link; under RoCE the data takes every RDMA device.
    """
    member = group.members[rank]
    control = member.interfaces[0]
    variables = {
        "NCCL_SOCKET_IFNAME": control,
        "GLOO_SOCKET_IFNAME": control,
        "TP_SOCKET_IFNAME": control,
        "UCX_NET_DEVICES": control,
        "OMPI_MCA_btl_tcp_if_include": control,
    }
    if group.transport == ROCE:
        variables["NCCL_IB_HCA"] = ",".join(member.rdma_devices)
        if member.gid_index is not None:
            variables["NCCL_IB_GID_INDEX"] = str(member.gid_index)
    return variables


def environment(group: Group, rank: int) -> dict[str, str]:
    """The fabric's variables for one rank; none for a replica of one host."""
    if group.world_size == 1:
        return {}
    if group.transport == ROCE:
        # The log then says which network carries the data.
        network = {"NCCL_DEBUG": "INFO", "NCCL_DEBUG_SUBSYS": "INIT,NET"}
    else:
        network = {"NCCL_IB_DISABLE": "1"}
    return {**host_environment(group, rank), "NCCL_IGNORE_CPU_AFFINITY": "1", **network}


def address_faults(name: str, users: Mapping[str, Any], group: Group, place: str, host: str) -> list[Fault]:
    """An address that the user's environment would give to every rank of a replica (field fault N14).

    :param name: the variable that tells the engine its own address
    :param users: the user's environment
    """
    if group.world_size == 1 or users.get(name) in (None, ""):
        return []
    wanted = "an address of its own for each rank: " + ", ".join(member.address for member in group.members)
    remedy = f"Remove it; the plan takes {name} from the first entry of fabric_links of each host"
    return [Fault(f"{place}.{name}", f"{show(users[name])} for all {group.world_size} ranks", wanted, remedy, host)]


def host_port(address: str, port: int) -> str:
    """An address and a port in one text.

    >>> host_port("192.0.2.11", 6379), host_port("2001:db8::1", 6379)
    ('192.0.2.11:6379', '[2001:db8::1]:6379')
    """
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
