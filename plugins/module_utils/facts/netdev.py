# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What /sys says of network interfaces: the QSFP port behind each, its speed and its PCI Express link."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ansible_collections.dgxspark.serving.plugins.module_utils.facts.raw import Raw, Sources

NET = "/sys/class/net"

# QSFP interfaces of a Spark, such as enP2p1s0f0np0: function and number of the port. The PCI domain (P2) tells the
# halves of one port apart and says nothing of the port (field fault P07). Some releases leave out the function.
_QSFP = re.compile(r"en(?:P\d+)?p\d+s\d+(?:f(?P<function>\d+))?(?:np(?P<port>\d+))?")
_PORT_NAME = re.compile(r"p(\d+)")
_PCIE = ("current_link_width", "max_link_width", "current_link_speed", "max_link_speed")


@dataclass(frozen=True)
class Pcie:
    """A PCI Express link: lanes and GT/s of each, as they are and as the card can."""

    width: int
    most_width: int
    speed: float
    most_speed: float

    @property
    def degraded(self) -> bool:
        """Whether it runs below what the card can."""
        return self.width < self.most_width or self.speed < self.most_speed


def sources(interfaces: Iterable[str]) -> Sources:
    """What to read of these interfaces, and of every one that may share a QSFP port with them."""
    named = tuple(interfaces)
    return Sources(
        (
            f"{NET}/en*/phys_port_name",
            *(f"{NET}/{name}/{file}" for name in named for file in ("phys_port_name", "speed")),
            *(f"{NET}/{name}/device/{file}" for name in named for file in _PCIE),
        ),
        (f"{NET}/en*/device", *(f"{NET}/{name}/device" for name in named)),
    )


def port_of(interface: str, port_name: str = "") -> str:
    """The number of the QSFP port behind an interface; empty when it is none.

    :param port_name: what the driver says in ``phys_port_name``, such as ``p0``
    """
    said = _PORT_NAME.fullmatch(port_name)
    if said:
        return said[1]
    match = _QSFP.fullmatch(interface)
    return (match["port"] or match["function"] or "") if match else ""


def ports(raw: Raw, interfaces: Iterable[str]) -> dict[str, list[str]]:
    """The halves of each QSFP port, by its number."""
    found: dict[str, list[str]] = {}
    for name in interfaces:
        port = port_of(name, raw.text(f"{NET}/{name}/phys_port_name"))
        if port:
            found.setdefault(port, []).append(name)
    return found


def device(raw: Raw, interface: str) -> str:
    """The path of the PCI device behind an interface; empty for a virtual one."""
    return raw.links.get(f"{NET}/{interface}/device", "")


def speed(raw: Raw, interface: str) -> int | None:
    """What the link was agreed on, in Mb/s; None when that is unknown."""
    text = raw.text(f"{NET}/{interface}/speed")
    return int(text) if text.isdecimal() and int(text) else None


def pcie(raw: Raw, interface: str) -> Pcie | None:
    """The PCI Express link of an interface; None when it has none, or it is unknown."""
    width, most_width, now, most = (_number(raw.text(f"{NET}/{interface}/device/{file}")) for file in _PCIE)
    # A sleeping device answers all ones: more lanes than it has.
    if not (0 < width <= most_width and 0 < now <= most):
        return None
    return Pcie(int(width), int(most_width), now, most)


def _number(text: str) -> float:
    """The number at the start of such as ``32.0 GT/s PCIe``; 0 when there is none."""
    match = re.match(r"\d+(\.\d+)?", text)
    return float(match[0]) if match else 0.0
