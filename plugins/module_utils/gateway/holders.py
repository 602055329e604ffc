# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who holds the ports that the gateway is to listen on. An edge: it reads /proc."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils import host_look, ports
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway import units
from ansible_collections.dgxspark.serving.plugins.module_utils.host_problems import Owner, Problem

OURS = (units.FRONT, units.ROUTER)


def holder(owner: Owner | None, containers: Mapping[str, str]) -> str:
    """A process in words, such as ``nginx (pid 123, unit nginx.service)``."""
    if owner is None:
        return "a process (run with become to see which)"
    where = ""
    if owner.container:
        where = f", container {containers.get(owner.container, owner.container[:12])}"
    elif owner.unit:
        where = f", unit {owner.unit}"
    return f"{owner.command} (pid {owner.pid}{where})"


def held(wanted: Sequence[Mapping[str, Any]], containers: Mapping[str, str]) -> list[dict[str, Any]]:
    """Those of the wanted ports that others than our own units hold.

    :param wanted: ``address``, ``port`` and ``use`` of each
    :param containers: names of containers by id
    """
    found = host_look.listeners()
    uses = {(one["address"], int(one["port"])): one["use"] for one in wanted}
    owners = _owners({listener.inode for _address, _port, listener in ports.taken(uses, found)})
    held_ports = []
    for address, port, listener in ports.taken(uses, found):
        owner = owners.get(listener.inode)
        if owner is None or owner.unit not in OURS:
            who = holder(owner, containers)
            held_ports.append({"address": address, "port": port, "use": uses[address, port], "holder": who})
    return held_ports


def _owners(inodes: Collection[int]) -> dict[int, Owner]:
    return host_look.owners(inodes) if inodes else {}


def problems(held_ports: Sequence[Mapping[str, Any]]) -> list[Problem]:
    """Ports that are held, as what keeps the gateway from working."""
    return [
        Problem(
            "port",
            f"port {one['port']} taken by {one['holder']}",
            f"{one['address']}:{one['port']} free for the {one['use']}",
            "Stop it, or choose another port",
        )
        for one in held_ports
    ]
