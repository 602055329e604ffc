# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a host's network looks like, from captured text: who manages which interface, and by what file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_setup.revert import GENERATORS, interfaces
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.raw import Raw, Sources

NETPLAN_FILES = "/etc/netplan/*.yaml"
KEYFILES = "/etc/NetworkManager/system-connections/*.nmconnection"
SPECS = "/etc/dgxspark-serving/replicas/*.json"
SOURCES = Sources(
    files=(NETPLAN_FILES, KEYFILES, SPECS),
    links=GENERATORS,
    commands={
        "address": ("ip", "-json", "address"),
        "units": ("systemctl", "is-active", "NetworkManager.service", "systemd-networkd.service"),
        "devices": ("nmcli", "--terse", "--fields", "DEVICE,STATE,CON-UUID", "device", "status"),
        "connections": ("nmcli", "--terse", "--fields", "UUID,FILENAME,NAME", "connection", "show"),
        "ranks": ("docker", "ps", "--filter", "label=dgxspark.serving.deployment", "--format", "{{.Names}}"),
    },
)


@dataclass(frozen=True)
class Device:
    """An interface as NetworkManager has it.

    :ivar state: its word, such as ``connected``, ``connected (externally)``, ``unmanaged``
    :ivar uuid: the connection that is active on it, if that lies in a file which stays; else empty
    :ivar connection: its name
    :ivar by_netplan: whether netplan made that connection
    """

    state: str = ""
    uuid: str = ""
    connection: str = ""
    by_netplan: bool = False


@dataclass(frozen=True)
class Seen:
    """A host's network.

    :ivar interfaces: ``mac``, ``mtu``, ``up`` and ``addresses`` of each interface
    :ivar netplan: whether netplan is installed
    :ivar networkmanager: whether NetworkManager runs
    :ivar networkd: whether systemd-networkd runs
    :ivar devices: interfaces as NetworkManager has them
    :ivar netplan_files: text by path
    :ivar keyfiles: text of NetworkManager's connections by path
    :ivar ranks: containers of ranks that run, of replicas of several hosts
    """

    interfaces: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    netplan: bool = False
    networkmanager: bool = False
    networkd: bool = False
    devices: Mapping[str, Device] = field(default_factory=dict)
    netplan_files: Mapping[str, str] = field(default_factory=dict)
    keyfiles: Mapping[str, str] = field(default_factory=dict)
    ranks: Sequence[str] = ()


def read(raw: Raw) -> Seen:
    """Make sense of what :data:`SOURCES` gave."""
    units = raw.output("units").out.split()
    states = dict(zip(("networkmanager", "networkd"), units, strict=False))
    return Seen(
        interfaces=interfaces(raw.output("address").out),
        netplan=bool(raw.links),
        networkmanager=states.get("networkmanager") == "active",
        networkd=states.get("networkd") == "active",
        devices=devices(raw.output("devices").out, raw.output("connections").out),
        netplan_files={path: text for path, text in raw.files.items() if path.startswith("/etc/netplan/")},
        keyfiles={path: text for path, text in raw.files.items() if path.startswith("/etc/NetworkManager/")},
        ranks=shared_ranks(raw.output("ranks").out.split(), raw.files),
    )


def terse(text: str) -> list[list[str]]:
    """Rows of ``nmcli --terse``, in which a colon within a value has a backslash before it."""
    return [
        [cell.replace("\\:", ":").replace("\\\\", "\\") for cell in re.split(r"(?<!\\):", line)]
        for line in text.splitlines()
        if line
    ]


def devices(status: str, connections: str) -> dict[str, Device]:
    """NetworkManager's devices, each with its connection.

    :param status: DEVICE,STATE,CON-UUID
    :param connections: UUID,FILENAME,NAME
    """
    known = {row[0]: (row[1], row[2]) for row in terse(connections) if len(row) > 2}
    found = {}
    for row in terse(status):
        if len(row) < 3:
            continue
        path, name = known.get(row[2], ("", ""))
        by_netplan = path.startswith("/run/NetworkManager/system-connections/netplan-")
        stays = by_netplan or path.startswith("/etc/")
        found[row[0]] = Device(row[1], row[2] if stays else "", name if stays else "", by_netplan)
    return found


def shared_ranks(running: Iterable[str], files: Mapping[str, str]) -> list[str]:
    """Those of the running ranks that talk to others over the fabric; in doubt all of them do."""
    found = []
    for name in running:
        text = files.get(SPECS.replace("*", name), "")
        try:
            size = int(json.loads(text)["world_size"])
        except (ValueError, KeyError, TypeError):
            size = 2
        if size > 1:
            found.append(name)
    return found


_KEY = r"(?m)(^|[\s{{,])[\"']?{}[\"']?\s*:"
_MATCH_NAME = re.compile(r"(?m)\b(?:name|set-name)\s*:\s*[\"']?([^\s\"',}]+)")
_MATCH_MAC = re.compile(r"(?m)\bmacaddress\s*:\s*[\"']?([0-9A-Fa-f:]{17})")


def in_netplan(text: str, interface: str, mac: str) -> str:
    """How a netplan file defines an interface: ``key`` by its name, ``match`` by a pattern or its MAC, else empty.

    Read as lines and not as YAML, of which Python's standard library has none: what is in doubt counts as a definition.
    """
    lines = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
    if re.search(_KEY.format(re.escape(interface)), lines):
        return "key"
    if any(fnmatch(interface, pattern) for pattern in _MATCH_NAME.findall(lines)):
        return "match"
    if mac and mac.lower() in [found.lower() for found in _MATCH_MAC.findall(lines)]:
        return "match"
    return ""


def in_keyfile(text: str, interface: str) -> bool:
    """Whether a connection file of NetworkManager is bound to an interface."""
    return re.search(rf"(?m)^interface-name\s*=\s*{re.escape(interface)}\s*$", text) is not None
