# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where requests go: a URL, looked up once, and what opens its door. An edge: it asks the resolver."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.failures import (
    CONNECT,
    TargetError,
    of_connect,
)

_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class Target:
    """An endpoint. No proxy is used unless ``proxy`` names one, whatever the environment says (field fault B11).

    :ivar url: ``http://`` or ``https://``, host, port, and what stands before ``/v1``
    :ivar key: the API key; shown by nothing
    :ivar ca_file: certificates to trust instead of the system's
    :ivar proxy: URL of an HTTP proxy
    """

    name: str
    url: str
    key: str = field(default="", repr=False)
    verify_tls: bool = True
    ca_file: str = ""
    proxy: str = ""


@dataclass(frozen=True)
class Place:
    """Host and port of a URL.

    :ivar path: what stands before ``/v1``, without a slash at its end
    """

    tls: bool
    host: str
    port: int
    path: str

    @property
    def authority(self) -> str:
        """Host and port as the ``Host`` header has them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS["https" if self.tls else "http"] else f"{host}:{self.port}"


@dataclass(frozen=True)
class Address:
    """What the resolver answered first.

    :ivar text: address and port, for people
    """

    family: int
    sockaddr: tuple[Any, ...]
    text: str


def target_from(entry: Mapping[str, Any], key: str = "", proxy: str = "") -> Target:
    """Make one of a target of an order."""
    return Target(
        name=str(entry["name"]),
        url=str(entry["url"]),
        key=key.strip(),
        verify_tls=bool(entry.get("verify_tls", True)),
        ca_file=str(entry.get("ca_file") or ""),
        proxy=proxy,
    )


def place_of(url: str) -> Place:
    """Take a URL apart; what is none is a `TargetError`."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as fault:
        raise TargetError(CONNECT, f"{url!r} is no URL: {fault}") from None
    if parts.scheme not in _PORTS or not parts.hostname:
        raise TargetError(CONNECT, f"{url!r} is no URL that begins with http:// or https:// and names a host")
    path = parts.path.rstrip("/").removesuffix("/v1")
    return Place(parts.scheme == "https", parts.hostname, port or _PORTS[parts.scheme], path)


def resolve(target: Target, patience_s: float = 2.0) -> Address:
    """Ask the resolver once: all connections of a round go to the same address.

    Of several it is the first one that takes a connection: ``localhost`` may be ``::1`` first where only ``127.0.0.1``
    is served. When none does, it is the first one, and the requests will say what is wrong.
    """
    place = place_of(target.proxy or target.url)
    try:
        found = socket.getaddrinfo(place.host, place.port, type=socket.SOCK_STREAM)
    except OSError as fault:
        raise of_connect(fault) from None
    addresses = [_address(family, sockaddr) for family, _type, _proto, _name, sockaddr in found]
    if len(addresses) > 1:
        return next((address for address in addresses if _takes(address, patience_s)), addresses[0])
    return addresses[0]


def _address(family: int, sockaddr: tuple[Any, ...]) -> Address:
    host = f"[{sockaddr[0]}]" if family == socket.AF_INET6 else sockaddr[0]
    return Address(int(family), tuple(sockaddr), f"{host}:{sockaddr[1]}")


def _takes(address: Address, patience_s: float) -> bool:
    try:
        with socket.socket(address.family, socket.SOCK_STREAM) as sock:
            sock.settimeout(patience_s)
            sock.connect(address.sockaddr)
    except OSError:
        return False
    return True
