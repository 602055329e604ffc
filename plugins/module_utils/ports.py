# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which TCP ports of a host are taken: /proc/net/tcp and tcp6 as text, sockets that listen out."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

LISTEN = "0A"
_CONTAINER = re.compile(r"[0-9a-f]{64}")
_UNIT = re.compile(r"([^/\s]+\.service)(?:/|$)", re.MULTILINE)

Address: TypeAlias = "ipaddress.IPv4Address | ipaddress.IPv6Address"


@dataclass(frozen=True)
class Listener:
    """A socket that listens.

    :ivar inode: its number, by which the process that holds it is found
    """

    address: Address
    port: int
    inode: int


def listeners(text: str) -> list[Listener]:
    """Read /proc/net/tcp or /proc/net/tcp6."""
    found = []
    for line in text.splitlines()[1:]:
        words = line.split()
        if len(words) > 9 and words[3] == LISTEN:
            address, _colon, port = words[1].partition(":")
            found.append(Listener(_address(address), int(port, 16), int(words[9])))
    return found


def _address(text: str) -> Address:
    """An address as the kernel writes it: 32-bit words in the byte order of the machine, little-endian on all we serve.

    IPv4 in IPv6 becomes IPv4.
    """
    words = [bytes.fromhex(text[start : start + 8])[::-1] for start in range(0, len(text), 8)]
    address = ipaddress.ip_address(b"".join(words))
    mapped = address.ipv4_mapped if address.version == 6 else None
    return mapped or address


def clashes(wanted: str, taken: Address) -> bool:
    """Say whether a listener on ``taken`` keeps another one from the same port on ``wanted``.

    A listener on ``::`` takes IPv4 too, unless it says otherwise, which cannot be seen from outside.
    """
    address = ipaddress.ip_address(wanted)
    if taken.is_unspecified:
        return taken.version == 6 or address.version == 4 or address.is_unspecified
    if address.is_unspecified:
        return address.version == 6 or taken.version == 4
    return address == taken


def taken(ports: Iterable[tuple[str, int]], found: Iterable[Listener]) -> Iterator[tuple[str, int, Listener]]:
    """Those of the wanted addresses and ports that are taken, each with the first listener in its way."""
    found = list(found)
    for address, port in ports:
        in_the_way = [one for one in found if one.port == port and clashes(address, one.address)]
        if in_the_way:
            yield address, port, in_the_way[0]


def container_id(cgroup: str) -> str:
    """Id of the container that a process is in, from its /proc/PID/cgroup; empty when it is in none."""
    ids = _CONTAINER.findall(cgroup)
    return ids[-1] if ids else ""


def unit(cgroup: str) -> str:
    """The systemd service that a process belongs to, from its /proc/PID/cgroup; empty when it is in none."""
    found = _UNIT.findall(cgroup)
    return found[-1] if found else ""
