# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What on a host keeps a new rank from working, found before anything is stopped. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils import ports as port_table
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.memory import Memory, gib, needed


@dataclass(frozen=True)
class Problem:
    """One thing in the way, in the words a user needs.

    :ivar id: a word for it that stays the same
    :ivar found: what there is
    :ivar wanted: what would be right
    :ivar remedy: what to do, a sentence without its full stop
    """

    id: str
    found: str
    wanted: str
    remedy: str


@dataclass(frozen=True)
class Owner:
    """The process behind a socket.

    :ivar container: id of the container it runs in; empty when it is in none
    :ivar unit: systemd service that it belongs to; empty when it is in none
    """

    pid: int
    command: str
    container: str = ""
    unit: str = ""


def stranger(name: str, status: str) -> list[Problem]:
    """A container of the wanted name that is not ours is never replaced (field fault D06).

    :param status: its status; empty when there is none
    """
    if not status:
        return []
    return [
        Problem(
            "stranger",
            f"a container {name} ({status}) that dgxspark.serving did not make",
            "that name free",
            f"It is left as it is; rename it with: docker rename {name} NEW_NAME",
        )
    ]


def ports(
    wanted: Sequence[Mapping[str, Any]],
    found: Sequence[port_table.Listener],
    owners: Mapping[int, Owner],
    names: Mapping[str, str],
    ours: Mapping[str, str],
    our_ports: Sequence[int],
    our_units: Collection[str] = (),
) -> list[Problem]:
    """Ports that somebody else holds (field fault N08).

    :param wanted: ``port``, ``address`` and ``use`` of each
    :param owners: the process behind a socket, by the socket's number; only those that could be read
    :param names: names of containers by id
    :param ours: names of our own ranks on this host by id; they make room
    :param our_ports: ports that our own running ranks are known to use, for where no owner can be read
    :param our_units: those of the supervisors of our running ranks, which are in no container
    """
    problems = []
    uses = {(one["address"], one["port"]): one["use"] for one in wanted}
    for address, port, listener in port_table.taken(uses, found):
        owner = owners.get(listener.inode)
        if port in our_ports if owner is None else owner.container in ours or owner.unit in our_units:
            continue
        problems.append(
            Problem(
                "port",
                f"port {port} taken by {_who(owner, names)}",
                f"{address}:{port} free for the {uses[address, port]}",
                "Stop it, or choose another port",
            )
        )
    return problems


def _who(owner: Owner | None, names: Mapping[str, str]) -> str:
    if owner is None:
        return "a process (run with become to see which)"
    if owner.container:
        inside = names.get(owner.container, owner.container[:12])
        return f"{owner.command} (process {owner.pid}) in container {inside}"
    return f"{owner.command} (process {owner.pid})"


def links(wanted: Sequence[Mapping[str, str]], here: Mapping[str, Sequence[str]]) -> list[Problem]:
    """Fabric links that this host does not have as the inventory says (field faults N03 and N14).

    :param wanted: ``interface`` and ``address``, with its prefix length, of each link
    :param here: addresses of each interface, without prefix lengths
    """
    problems = []
    for link in wanted:
        interface, address = link["interface"], link["address"].partition("/")[0]
        elsewhere = sorted(name for name, addresses in here.items() if address in addresses and name != interface)
        if interface not in here:
            known = ", ".join(sorted(name for name in here if name != "lo")) or "none"
            found = f"no interface {interface}; there are {known}"
        elif address in here[interface]:
            continue
        else:
            found = f"{interface} with {', '.join(here[interface]) or 'no address'}"
        found += f"; {elsewhere[0]} has {address}" if elsewhere else f"; this host does not own {address}"
        remedy = "Correct fabric_links of this host, or give the interface its address"
        problems.append(Problem("link", found, f"{interface} with {address}", remedy))
    return problems


def memory(now: Memory, share: float, floor: int, shares_back: Sequence[float | None]) -> list[Problem]:
    """Memory that will not be there even when our own engines have stopped; said only when that is certain.

    Page cache counts as there, for the kernel gives it back (field fault U01).

    :param share: of all memory, what the new engine takes
    :param floor: bytes that must be left then
    :param shares_back: what each of our running engines takes; None where that is not known
    """
    if None in shares_back:
        return []
    back = int(sum(filter(None, shares_back)) * now.total)
    need = needed(now, share, floor)
    if now.available + back >= need:
        return []
    given = f" and {gib(back)} that our running engine gives back" if back else ""
    return [
        Problem(
            "memory",
            f"{gib(now.available)} of {gib(now.total)} memory available{given}",
            f"{gib(need)}: a share of {share:g} for the engine and {gib(floor)} for the host",
            "Stop what else uses memory there, or set a smaller serving_gpu_memory_utilization",
        )
    ]
