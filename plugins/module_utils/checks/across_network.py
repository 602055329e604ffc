# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the two ends of a fabric link must have in common, and what they must not."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.checks.check import (
    FAIL,
    WARN,
    Check,
    failed,
    passed,
    skipped,
)

Findings = list[tuple[str, Check]]

# What keeps a host from answering its peers.
_CAUSES = ("network.interface", "network.address", "network.mtu")


def mtu(networks: Mapping[str, Mapping[str, Any]], replicas: Sequence[Mapping[str, Any]]) -> Findings:
    """Hosts of one replica have one MTU in each network they share; said of those that have less than another.

    :param networks: ``mtu`` and ``addresses`` by interface, of each host
    """
    name = "across.mtu"
    compared = False
    findings: Findings = []
    for replica in replicas:
        for network, ends in _ends(networks, replica["hosts"]).items():
            compared = compared or len({host for host, _interface, _size in ends}) > 1
            most_host, most_interface, most = max(ends, key=lambda end: end[2])
            for host, interface, size in ends:
                if size < most:
                    found = f"{interface} {size} in {network}"
                    wanted = f"{most}, as {most_interface} of {most_host} has"
                    remedy = f"Set fabric_mtu to one value for all hosts; by hand: ip link set {interface} mtu {most}"
                    findings.append((host, failed(name, found, wanted, remedy)))
    return findings or ([("", passed(name, "the same at both ends of each link"))] if compared else [])


def without_echoes(
    found: Mapping[str, Sequence[Check]],
    networks: Mapping[str, Mapping[str, Any]],
    across: Sequence[tuple[str, Check]] = (),
) -> dict[str, list[Check]]:
    """Name a cause once: a host that does not hear a peer says no more than the peer does of its own fault.

    :param found: the checks of each host
    :param networks: ``silent`` of each host: the peers that do not answer it as they should
    :param across: what the comparison of the hosts has found; an MTU that it names is not named by the host, too
    """
    told = {host for host, check in across if check.id == "across.mtu" and check.status == FAIL}
    causes = {
        host: next((one.id for one in checks if one.id in _CAUSES and one.status in (FAIL, WARN)), "")
        for host, checks in found.items()
    }
    result = {}
    for host, checks in found.items():
        silent = networks.get(host, {}).get("silent", [])
        named = [f"{causes[peer]} of {peer}" for peer in silent if causes.get(peer)]
        echo = bool(silent) and len(named) == len(silent)
        echoes = {"network.jumbo": ", ".join(named)} if echo else {}
        echoes |= {"network.mtu": "across.mtu"} if host in told else {}
        result[host] = [
            skipped(one.id, f"follows from {echoes[one.id]}") if one.id in echoes else one for one in checks
        ]
    return result


def _ends(networks: Mapping[str, Mapping[str, Any]], hosts: Sequence[str]) -> dict[str, list[tuple[str, str, int]]]:
    """Host, interface and MTU of the ends in each network."""
    ends: dict[str, list[tuple[str, str, int]]] = {}
    for host in hosts:
        sizes = networks.get(host, {}).get("mtu", {})
        for interface, address in _addresses(networks.get(host, {}).get("addresses", {})):
            if interface in sizes:
                ends.setdefault(str(address.network), []).append((host, interface, sizes[interface]))
    return ends


def address(addresses: Mapping[str, Mapping[str, Sequence[str]]]) -> Findings:
    """No two hosts have one address (field fault N14).

    :param addresses: those of each fabric interface, of each host
    """
    name = "across.address"
    if len(addresses) < 2:
        return []
    owners: dict[str, str] = {}
    findings: Findings = []
    for host, interfaces in addresses.items():
        for interface, found in _addresses(interfaces):
            owner = owners.setdefault(str(found.ip), host)
            if owner != host:
                shown = f"{found.ip} on {interface}, which {owner} has too"
                remedy = "Give each host an address of its own, in its fabric_links and on its interface"
                findings.append((host, failed(name, shown, "an address of its own", remedy)))
    return findings or [("", passed(name, f"{len(owners)} addresses, each on one host"))]


def _addresses(
    interfaces: Mapping[str, Sequence[str]],
) -> Iterator[tuple[str, ipaddress.IPv4Interface | ipaddress.IPv6Interface]]:
    """Every address but those that IPv6 makes by itself, the same on many machines or none of a user's concern."""
    for interface, texts in interfaces.items():
        for text in texts:
            found = ipaddress.ip_interface(text)
            if not (found.version == 6 and found.is_link_local):
                yield interface, found
