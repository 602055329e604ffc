# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fabric of one host: its links, and what they lead to. ``network.ports`` is made by the module itself."""

from __future__ import annotations

from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.checks import (
    network_links,
    network_manager,
    network_peers,
    network_rdma,
    network_twin,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.checks.check import Check, skipped
from ansible_collections.dgxspark.serving.plugins.module_utils.checks.ids import GROUPS
from ansible_collections.dgxspark.serving.plugins.module_utils.checks.merged import merged
from ansible_collections.dgxspark.serving.plugins.module_utils.checks.network_view import ADDRESSES, ROCE, View, view
from ansible_collections.dgxspark.serving.plugins.module_utils.checks.want import Want
from ansible_collections.dgxspark.serving.plugins.module_utils.facts import netdev, rdma
from ansible_collections.dgxspark.serving.plugins.module_utils.facts import network_manager as manager_files
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.raw import Raw, Sources

WORDS = tuple(word for word in GROUPS["network"] if word != "ports")
RDMA = ("rdma_device", "gid_index", "infiniband")


def sources(want: Want) -> Sources:
    """What to read: nothing on a host without links."""
    if not want.links:
        return Sources()
    found = Sources(commands={ADDRESSES: ("ip", "-json", "address")})
    found |= netdev.sources(link["interface"] for link in want.links)
    found |= manager_files.SOURCES
    found |= network_peers.sources(want)
    if want.transport == ROCE:
        found |= rdma.sources()
        if want.gid_index is not None:
            devices = [link["rdma_device"] for link in want.links if link["rdma_device"]]
            found |= rdma.gid_sources(devices, want.gid_index)
    return found


def checks(raw: Raw, want: Want) -> list[Check]:
    """All checks of the network, in the order in which they are shown."""
    if not want.links:
        return [skipped(f"network.{word}", "no fabric_links") for word in WORDS]
    seen = view(raw, want)
    if not seen.interfaces:
        said = raw.output(ADDRESSES).err.strip().partition("\n")[0] or "no list"
        return [skipped(f"network.{word}", f"ip -json address gave {said}") for word in WORDS]
    return [_check(seen, word) for word in WORDS]


def _check(seen: View, word: str) -> Check:
    name = f"network.{word}"
    want = seen.want
    if word in RDMA and want.transport != ROCE:
        return skipped(name, network_rdma.SOCKET)
    if word == "gid_index" and want.gid_index is None:
        return skipped(name, "fabric_gid_index is not set, so NCCL chooses")
    if word == "infiniband":
        return network_rdma.infiniband(seen)
    if word == "twin":
        return merged(name, network_twin.twin(seen), "no QSFP interface in fabric_links")
    if word in ("route", "jumbo"):
        of_peer = {"route": network_peers.route, "jumbo": network_peers.jumbo}[word]
        return merged(name, [of_peer(seen, peer) for peer in want.peers], "no other host on the fabric")
    of_link = {
        "interface": network_links.interface,
        "mtu": network_links.mtu,
        "speed": network_links.speed,
        "address": network_links.address,
        "pcie": network_links.pcie,
        "rdma_device": network_rdma.rdma_device,
        "gid_index": network_rdma.gid_index,
        "manager": network_manager.manager,
    }[word]
    return merged(name, [of_link(seen, link) for link in want.links], "no fabric_links")


def facts(raw: Raw, want: Want) -> dict[str, Any]:
    """MTU and addresses of the links, and the hosts that do not answer as they should; for the checks across hosts."""
    seen = view(raw, want)
    links = [seen.interfaces[link["interface"]] for link in want.links if link["interface"] in seen.interfaces]
    return {
        "mtu": {one.name: one.mtu for one in links if one.mtu},
        "addresses": {one.name: list(one.addresses) for one in links},
        "silent": network_peers.silent(seen),
    }
