# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What ``ip -json`` says of addresses, routes and neighbours.

Every key is optional: releases of iproute2 leave out what they think is known, such as a key that was given as a
filter (field fault P08), and print empty objects for what they filter out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_SILENT = {"FAILED", "INCOMPLETE"}
_NO_CARRIER = {"DOWN", "LOWERLAYERDOWN", "NOTPRESENT"}


@dataclass(frozen=True)
class Interface:
    """A network interface.

    :ivar index: the kernel's number of it; 0 when unknown
    :ivar mtu: in bytes; 0 when unknown
    :ivar flags: such as ``UP``, ``LOWER_UP``, ``NO-CARRIER``; empty when unknown
    :ivar state: operational state, such as ``UP``; empty when unknown
    :ivar addresses: each with its prefix length
    """

    name: str
    index: int = 0
    mtu: int = 0
    flags: frozenset[str] = frozenset()
    state: str = ""
    addresses: tuple[str, ...] = ()

    @property
    def up(self) -> bool:
        """Whether it is switched on, or nothing says that it is not."""
        return "UP" in self.flags if self.flags else self.state != "DOWN"

    @property
    def carrier(self) -> bool:
        """Whether there is a signal, or nothing says that there is none."""
        return "NO-CARRIER" not in self.flags and self.state not in _NO_CARRIER


@dataclass(frozen=True)
class Route:
    """The way to one address.

    :ivar interface: by which packets leave; empty when unknown
    :ivar local: whether the address is this host's own
    """

    interface: str
    local: bool


@dataclass(frozen=True)
class Neighbour:
    """Another machine on a link.

    :ivar reachable: whether its hardware address is known, which it says itself when asked
    """

    address: str
    interface: str
    reachable: bool


def interfaces(text: str) -> dict[str, Interface]:
    """Read ``ip -json address``; empty for a text that is none."""
    return {
        row["ifname"]: Interface(
            row["ifname"],
            _number(row.get("ifindex")),
            _number(row.get("mtu")),
            frozenset(map(str, _list(row.get("flags")))),
            str(row.get("operstate", "")),
            tuple(
                f"{one['local']}/{one['prefixlen']}" if "prefixlen" in one else str(one["local"])
                for one in _mappings(row.get("addr_info"))
                if "local" in one
            ),
        )
        for row in _rows(text)
        if isinstance(row.get("ifname"), str)
    }


def route(text: str) -> Route | None:
    """Read ``ip -json route get ADDRESS``; None for a text that is none."""
    rows = _rows(text)
    return Route(str(rows[0].get("dev", "")), rows[0].get("type") == "local") if rows else None


def neighbours(text: str, interface: str = "", address: str = "") -> list[Neighbour]:
    """Read ``ip -json neigh show [to ADDRESS] [dev INTERFACE]``.

    :param interface: the filter after ``dev``, for rows that leave it out
    :param address: the filter after ``to``, for rows that leave it out
    """
    return [
        Neighbour(
            str(row.get("dst", address)),
            str(row.get("dev", interface)),
            "lladdr" in row and not _SILENT & set(map(str, _list(row.get("state")))),
        )
        for row in _rows(text)
    ]


def _rows(text: str) -> list[Mapping[str, Any]]:
    try:
        return _mappings(json.loads(text))
    except ValueError:
        return []


def _mappings(value: Any) -> list[Mapping[str, Any]]:
    return [one for one in _list(value) if isinstance(one, Mapping) and one]


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _number(value: Any) -> int:
    return value if isinstance(value, int) else 0
