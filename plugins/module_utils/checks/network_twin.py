# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The two halves of each QSFP port, which need each other for the full speed of the cable."""

from __future__ import annotations

import ipaddress
from itertools import combinations

from ansible_collections.dgxspark.serving.plugins.module_utils.checks.check import Check, passed, warned
from ansible_collections.dgxspark.serving.plugins.module_utils.checks.network_view import View, follows
from ansible_collections.dgxspark.serving.plugins.module_utils.facts import netdev, rdma

CHECK = "network.twin"


def twin(view: View) -> list[Check]:
    """Whether all halves are in use, and each in a network of its own."""
    return _halves(view) + _networks(view)


def _halves(view: View) -> list[Check]:
    """One half moves half of the data at most (field fault N18)."""
    links = {link["interface"] for link in view.want.links}
    missing = {netdev.port_of(name) for name in links if name not in view.interfaces}
    parts = []
    for port, names in view.ports.items():
        used = [name for name in names if name in links]
        if not used:
            continue
        spare = [name for name in names if name not in links]
        if port in missing:
            parts.append(follows(CHECK, "network.interface"))
            continue
        if len(names) == 1:
            found, wanted = f"{used[0]} and not its other half, which this host does not show", "both halves"
            remedy = "Shut down and take the power off for a minute: a half can be lost in a warm reboot"
        elif spare:
            found, wanted = f"{used[0]} only; its other half {spare[0]} is not in fabric_links", "both halves"
            remedy = f"Add {spare[0]}{_device_hint(view, used[0])} to fabric_links, with an address in its own network"
        else:
            parts.append(passed(CHECK, f"both halves: {' and '.join(names)}"))
            continue
        # One host needs no fabric; all it is for then is the copy of a model.
        several = view.want.world_size > 1
        parts.append(warned(CHECK, found, wanted, remedy) if several else passed(CHECK, found))
    return parts


def _device_hint(view: View, used: str) -> str:
    spare = rdma.hcas_for(used, view.devices, view.ports)[1:]
    return f" with rdma_device {spare[0]}" if spare else ""


def _networks(view: View) -> list[Check]:
    """Two interfaces in one network: the kernel may answer from either (field fault N20)."""
    parts = []
    for one, other in combinations(view.want.links, 2):
        network = ipaddress.ip_interface(one["address"]).network
        if not network.overlaps(ipaddress.ip_interface(other["address"]).network):
            continue
        names = f"{one['interface']} and {other['interface']}"
        if any({one["interface"], other["interface"]} <= set(halves) for halves in view.ports.values()):
            detail = f"{names} share {network}, which works; a network for each is the usual way"
            parts.append(passed(CHECK, f"{names} in one network", detail))
        else:
            remedy = "Give each port a network of its own, for traffic may leave by the wrong one"
            parts.append(warned(CHECK, f"{names} in one network, {network}", "a network for each port", remedy))
    return parts
