# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files that make the fabric's addresses and MTU permanent, and what speaks against writing them."""

from __future__ import annotations

import ipaddress
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_setup.revert import NETPLAN, NETWORKMANAGER
from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_setup.seen import (
    KEYFILES,
    Seen,
    in_keyfile,
    in_netplan,
)

AUTO = "auto"
NETPLAN_FILE = "/etc/netplan/90-dgxspark-fabric.yaml"
PREFIX = "dgxspark-"
MODE = 0o600
# Gives each interface the same connection id on every run.
NAMESPACE = uuid.UUID("5b1c8a50-6f0e-4d43-9c43-6a0d2f8c7e11")
# Above connections that others made for the interface.
PRIORITY = 999
HEAD = "# Made by the role fabric of dgxspark.serving from fabric_links; a change by hand is overwritten.\n"

Link = Mapping[str, str]


class Refused(Exception):
    """The fabric is left as it is; ``str()`` is the text for the user."""


@dataclass(frozen=True)
class Foreign:
    """Somebody else's configuration of an interface of ours.

    :ivar path: its file
    :ivar kind: ``key`` (netplan, by name), ``match`` (netplan, by a pattern) or ``keyfile``
    """

    interface: str
    path: str
    kind: str


def keyfile(interface: str) -> str:
    """Path of our connection of NetworkManager for an interface."""
    return KEYFILES.replace("*", f"{PREFIX}{interface}")


def is_ours(path: str) -> bool:
    """Whether a configuration file is one that this collection writes."""
    return path == NETPLAN_FILE or PurePath(path).name.startswith(PREFIX)


def choose(wish: str, seen: Seen, names: Sequence[str]) -> str:
    """Who is to have the interfaces: whoever has them now.

    :param wish: ``auto``, ``netplan`` or ``networkmanager``
    :raises Refused: when there is nobody, or not the one that is wished for
    """
    if wish == NETPLAN and not seen.netplan:
        raise Refused("netplan is not installed, and fabric_manager is netplan. Install netplan.io, or set it to auto.")
    if wish == NETWORKMANAGER and not seen.networkmanager:
        raise Refused(
            "NetworkManager does not run, and fabric_manager is networkmanager."
            " Start it with: systemctl enable --now NetworkManager, or leave fabric_manager at auto."
        )
    if wish != AUTO:
        return wish
    if seen.netplan and NETPLAN_FILE in seen.netplan_files:
        return NETPLAN
    devices = [seen.devices[name] for name in names if name in seen.devices]
    ours = any(is_ours(path) for path in seen.keyfiles)
    if seen.networkmanager and (ours or any(one.uuid and not one.by_netplan for one in devices)):
        return NETWORKMANAGER
    # A host whose netplan has no file leaves everything to NetworkManager, where that runs.
    if seen.netplan and (seen.netplan_files or not seen.networkmanager):
        return NETPLAN
    if seen.networkmanager:
        return NETWORKMANAGER
    raise Refused(
        "Neither netplan nor NetworkManager is there to keep the fabric's addresses."
        " Install netplan.io, or set the addresses by hand and leave the role fabric out."
    )


def foreign(manager: str, seen: Seen, names: Sequence[str]) -> list[Foreign]:
    """Who else defines the interfaces, with the manager that is to have them."""
    found = []
    for name in names:
        mac = str(seen.interfaces.get(name, {}).get("mac", ""))
        for path, text in sorted(seen.netplan_files.items()):
            kind = "" if is_ours(path) else in_netplan(text, name, mac)
            if kind:
                found.append(Foreign(name, path, kind))
        if seen.networkmanager or manager == NETWORKMANAGER:
            found += [
                Foreign(name, path, "keyfile")
                for path, text in sorted(seen.keyfiles.items())
                if not is_ours(path) and in_keyfile(text, name)
            ]
    return found


def refuse_foreign(found: Sequence[Foreign], manager: str, take_over: bool) -> None:
    """Leave configuration of others alone, unless it is to be taken over and can be.

    :raises Refused: names the first one
    """
    for one in found:
        who = f"{one.path} configures {one.interface} already"
        if not take_over:
            raise Refused(
                f"{who}, and it is not of this collection."
                " Take the interface out of it, or set fabric_take_over to true: the file comes back with the undo."
            )
        if one.kind == "match":
            raise Refused(f"{who} by a pattern, which cannot be taken over. Take the interface out of it by hand.")
        if (one.kind == "keyfile") != (manager == NETWORKMANAGER):
            owner = NETWORKMANAGER if one.kind == "keyfile" else NETPLAN
            raise Refused(f"{who}, which {manager} cannot take over. Set fabric_manager to {owner}, or remove it.")


def files(manager: str, links: Sequence[Link], mtu: int, seen: Seen) -> dict[str, str | None]:
    """Text by path of all files of ours, None for one that has to go.

    :param mtu: in bytes
    """
    wanted: dict[str, str | None] = {path: None for path in (*seen.netplan_files, *seen.keyfiles) if is_ours(path)}
    if manager == NETPLAN:
        wanted[NETPLAN_FILE] = netplan_text(links, mtu)
    else:
        wanted.update({keyfile(link["interface"]): keyfile_text(link, mtu) for link in links})
    return wanted


def netplan_text(links: Sequence[Link], mtu: int) -> str:
    """Our netplan file. It names no renderer: the host's own stays."""
    lines = [HEAD.rstrip(), "network:", "  version: 2", "  ethernets:"]
    for link in links:
        lines += [
            f"    {link['interface']}:",
            "      dhcp4: false",
            "      dhcp6: false",
            f"      addresses: [{link['address']}]",
            f"      mtu: {mtu}",
            # A pulled cable must not hold up the boot.
            "      optional: true",
        ]
    return "\n".join(lines) + "\n"


def keyfile_text(link: Link, mtu: int) -> str:
    """Our connection of NetworkManager for one interface."""
    name, address = link["interface"], ipaddress.ip_interface(link["address"])
    fixed = ["method=manual", f"address1={address}", "never-default=true"]
    four, six = (fixed, ["method=link-local"]) if address.version == 4 else (["method=disabled"], fixed)
    lines = [
        HEAD.rstrip(),
        "[connection]",
        f"id={PREFIX}{name}",
        f"uuid={uuid.uuid5(NAMESPACE, name)}",
        "type=ethernet",
        f"interface-name={name}",
        f"autoconnect-priority={PRIORITY}",
        "",
        "[ethernet]",
        f"mtu={mtu}",
        "",
        "[ipv4]",
        *four,
        "",
        "[ipv6]",
        *six,
    ]
    return "\n".join(lines) + "\n"


def not_yet(links: Sequence[Link], mtu: int, seen: Seen) -> list[str]:
    """What of the wanted state is not in force; phrases."""
    found = []
    for link in links:
        now = seen.interfaces.get(link["interface"], {})
        if link["address"] not in now.get("addresses", []):
            found.append(f"{link['interface']} has {', '.join(now.get('addresses', [])) or 'no address'}")
        if now.get("mtu") != mtu:
            found.append(f"{link['interface']} has MTU {now.get('mtu')}")
        if not now.get("up"):
            found.append(f"{link['interface']} is down")
    return found


def refuse_interfaces(links: Sequence[Link], seen: Seen, way_in: Mapping[str, str]) -> None:
    """Refuse an interface that is not there, and the one by which Ansible came in.

    :param way_in: interface by what it was found by, in words
    :raises Refused: names the first one
    """
    for link in links:
        name = link["interface"]
        if name not in seen.interfaces:
            there = ", ".join(sorted(other for other in seen.interfaces if other.startswith("en"))) or "none"
            raise Refused(
                f"There is no interface {name}; the ones like it are {there}. Correct fabric_links of this host."
            )
        if name in way_in:
            raise Refused(
                f"{name} is the interface by which Ansible came in ({way_in[name]}), so it is not touched."
                " Name the QSFP interfaces in fabric_links, or connect over another network."
            )


def refuse_ranks(seen: Seen) -> None:
    """Refuse a change below ranks that talk over the fabric.

    :raises Refused: names them
    """
    if seen.ranks:
        raise Refused(
            f"{', '.join(seen.ranks)} runs over the fabric, and a change would end it."
            " Run the playbook stop first, and deploy again afterwards."
        )
