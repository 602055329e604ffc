# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What RDMA over the fabric needs: devices, their GIDs, and the files by which a container uses them."""

from __future__ import annotations

from ansible_collections.dgxspark.serving.plugins.module_utils.checks.check import Check, passed, skipped
from ansible_collections.dgxspark.serving.plugins.module_utils.checks.network_view import Link, View, follows
from ansible_collections.dgxspark.serving.plugins.module_utils.facts import rdma

SOCKET = "the transport is socket"

_MODULES = "Load the modules with modprobe -a mlx5_ib ib_uverbs; they come with the NVIDIA kernel of DGX OS"


def rdma_device(view: View, link: Link) -> Check:
    """Whether it is there, belongs to the interface, and is active."""
    check, name, netdev = "network.rdma_device", link["rdma_device"], link["interface"]
    device = view.devices.get(name)
    own = [one for one, found in view.devices.items() if found.netdev == netdev]
    if device is None:
        found = f"no RDMA device {name or 'named'} for {netdev}; there are {', '.join(view.devices) or 'none'}"
        remedy = f"Write rdma_device: {own[0]} for {netdev} into fabric_links" if own else _MODULES
        return view.bad(check, found, own[0] if own else f"an RDMA device of {netdev}", remedy)
    if device.netdev not in ("", netdev):
        remedy = f"Write the rdma_device of {netdev} into fabric_links" + (f": {own[0]}" if own else "")
        found = f"{name} belongs to {device.netdev}"
        return view.bad(check, found, f"the RDMA device of {netdev}" + (f", {own[0]}" if own else ""), remedy)
    if device.state not in ("", "ACTIVE"):
        if not view.works(netdev):
            return follows(check, "network.interface")
        state = f"{device.state} ({device.physical})" if device.physical else device.state
        remedy = f"Run ip link set {netdev} down, then up; if that does not help, shut down and take the power off"
        return view.bad(check, f"{name} is {state}", f"{name} ACTIVE", remedy)
    return passed(check, f"{name} of {netdev} active")


def gid_index(view: View, link: Link) -> Check:
    """Whether the index that is set leads to the link's address: tables differ between hosts (field fault N17)."""
    check, index, name = "network.gid_index", view.want.gid_index, link["rdma_device"]
    address = link["address"].partition("/")[0]
    table = rdma.gids(view.raw, name)
    if not table:
        return skipped(check, f"the table of {name or link['interface']} cannot be read")
    right = [number for number, gid in sorted(table.items()) if (gid.ipv4, gid.kind) == (address, rdma.ROCE_V2)]
    if index in right:
        return passed(check, f"{name} {index} is {address}")
    if not view.has(link):
        return follows(check, "network.address")
    gid = table.get(index) if index is not None else None
    found = f"{name} {index} is {gid.ipv4 or gid.address}, {gid.kind}" if gid else f"{name} {index} is empty"
    remedy = "Leave fabric_gid_index out, then NCCL chooses by itself"
    if right:
        remedy += f", or set {right[0]} for this host"
    return view.bad(check, found, f"{address}, {rdma.ROCE_V2}", remedy)


def infiniband(view: View) -> Check:
    """Whether there is what a container is given as /dev/infiniband (field fault D11)."""
    check = "network.infiniband"
    verbs = [path for path in view.raw.links if path.startswith(rdma.VERBS.rstrip("*"))]
    if verbs:
        return passed(check, f"{len(verbs)} of {rdma.VERBS}")
    if not view.devices:
        return follows(check, "network.rdma_device")
    return view.bad(check, f"no {rdma.VERBS}", "one for each RDMA device", _MODULES)
