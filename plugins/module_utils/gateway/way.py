# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The way from the gateway's hosts to an engine: what the engine listens on, and at which address it is asked."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ansible_collections.dgxspark.serving.plugins.module_utils.faults import Fault
from ansible_collections.dgxspark.serving.plugins.module_utils.variables import show

EVERYWHERE = "0.0.0.0"
LOOPBACK = "127.0.0.1"
Links = Mapping[str, Sequence[Mapping[str, str]]]


@dataclass(frozen=True)
class Way:
    """:ivar listen: address that engine and door listen on
    :ivar address: address at which gateways ask them
    :ivar warning: what is unwise about it; empty when nothing is
    """

    listen: str
    address: str
    warning: str = ""


def way_to(wished: str | None, host: str, gateways: Sequence[str], links: Links, name: str) -> tuple[Way, list[Fault]]:
    """Find the way to the engine on ``host``.

    :param wished: ``serving_listen_address``; None leaves the choice
    :param gateways: hosts of the gateway; none without one
    :param name: what the host is reached by on the management network
    """
    if not gateways:
        return Way(wished or EVERYWHERE, name), []
    alone = set(gateways) == {host}
    fabric = _meeting(host, gateways, links)
    if wished is None:
        if alone:
            return Way(LOOPBACK, LOOPBACK), []
        if fabric:
            return Way(fabric, fabric), []
        words = f"{host}: its engine listens on every network, for it shares none of the fabric with the gateway"
        return Way(EVERYWHERE, name, words), []
    address = ipaddress.ip_address(wished)
    if address.is_unspecified:
        return Way(wished, LOOPBACK if alone and address.version == 4 else fabric or name), []
    if address.is_loopback and not alone:
        remedy = "Remove it, and the fabric address is taken, or put the gateway on this host with gateway_hosts"
        others = ", ".join(other for other in gateways if other != host)
        return Way(wished, wished), [
            Fault("serving_listen_address", show(wished), f"an address that {others} reaches", remedy, host)
        ]
    return Way(wished, wished), []


def _meeting(host: str, gateways: Sequence[str], links: Links) -> str:
    """The fabric address of the host in whose network every gateway has one; empty when there is none."""
    for link in links.get(host, ()):
        mine = ipaddress.ip_interface(link["address"])
        if all(
            any(ipaddress.ip_interface(other["address"]).ip in mine.network for other in links.get(gateway, ()))
            for gateway in gateways
        ):
            return str(mine.ip)
    return ""
