# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the client host reaches an engine: the address, and the key that lies there. Pure.

Behind a gateway engines listen on loopback or on the fabric and ask for a key, which only some hosts hold. So the same
replica has another address for each client host, and for some it has none.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.way import LOOPBACK
from ansible_collections.dgxspark.serving.plugins.module_utils.ranks import url

LOCALHOST = "localhost"
Links = Mapping[str, Sequence[Mapping[str, str]]]


@dataclass(frozen=True)
class Reach:
    """The way to an engine's API; without a ``url`` there is none, and ``why`` says so.

    :ivar key_file: file on the client host with the engine's key; empty when none is asked for
    :ivar why: words that follow "the engine of NAME ..."
    :ivar instead: client hosts that would do
    """

    url: str = ""
    key_file: str = ""
    why: str = ""
    instead: tuple[str, ...] = ()


def reach(client: str, replica: Mapping[str, Any], plan: Mapping[str, Any], links: Links) -> Reach:
    """Find the way from the client host to a replica's engine.

    :param client: inventory name, or ``localhost`` for the controller
    :param replica: one of the plan's ``replicas``
    :param links: fabric links of each host
    """
    head = replica["hosts"][0]
    rank = plan["ranks"].get(head)
    if rank is None:
        return Reach(why=f"is left out by --limit, for {head} is", instead=(head,))
    address, why = _address(client, replica, plan, links)
    holders = _holders(plan, head) if rank["key_file"] else ()
    if why:
        return Reach(why=why, instead=_others(plan, head))
    if rank["key_file"] and client not in holders:
        return Reach(why=f"asks for a key, which {client} does not hold", instead=_others(plan, head))
    return Reach(address, rank["key_file"])


def _address(client: str, replica: Mapping[str, Any], plan: Mapping[str, Any], links: Links) -> tuple[str, str]:
    """The URL, or why there is none."""
    head = replica["hosts"][0]
    if client == head:
        return plan["ranks"][head]["api"], ""
    found = urlsplit(replica["endpoint"])
    host, port = str(found.hostname), int(found.port or 80)
    if _is_loopback(host):
        return "", f"listens on the loopback of {head} alone"
    gateway = plan.get("gateway")
    if gateway and client in gateway["hosts"]:
        address = _address_for_gateways(gateway, replica["name"]) or host
        return ("", f"listens on the loopback of {head} alone") if _is_loopback(address) else (url(address, port), "")
    fabric = _shared(client, head, links)
    if host in _addresses(head, links):
        if not fabric:
            return "", f"listens on {host} of the fabric, which {client} is not on"
        return url(host, port), ""
    # It listens on every network or on one that the user chose.
    return url(fabric if _everywhere(replica, plan) and fabric else host, port), ""


def _everywhere(replica: Mapping[str, Any], plan: Mapping[str, Any]) -> bool:
    """Whether the engine listens on every network: then its own host asks it at loopback."""
    api = urlsplit(plan["ranks"][replica["hosts"][0]]["api"]).hostname
    return _is_loopback(str(api))


def _address_for_gateways(gateway: Mapping[str, Any], name: str) -> str:
    for deployment in gateway["deployments"]:
        for replica in deployment["replicas"]:
            if replica["name"] == name:
                return str(replica["address"])
    return ""


def _holders(plan: Mapping[str, Any], head: str) -> tuple[str, ...]:
    """Hosts that hold the key of engines."""
    gateway = plan.get("gateway")
    return tuple(gateway["key_hosts"]) if gateway else (head,)


def _others(plan: Mapping[str, Any], head: str) -> tuple[str, ...]:
    """Client hosts that reach the engine on ``head``: the gateway's, which must, and ``head`` itself."""
    gateway = plan.get("gateway")
    return tuple(dict.fromkeys([*(gateway["hosts"] if gateway else ()), head]))


def _addresses(host: str, links: Links) -> list[str]:
    return [str(ipaddress.ip_interface(link["address"]).ip) for link in links.get(host, ())]


def _shared(client: str, head: str, links: Links) -> str:
    """The fabric address of ``head`` in a network that the client is on, too; empty without one."""
    for link in links.get(head, ()):
        theirs = ipaddress.ip_interface(link["address"])
        if any(ipaddress.ip_address(mine) in theirs.network for mine in _addresses(client, links)):
            return str(theirs.ip)
    return ""


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == LOCALHOST


def local_address(listen: str) -> str:
    """The address at which a host reaches what listens there."""
    address = ipaddress.ip_address(listen)
    if not address.is_unspecified:
        return listen
    return LOOPBACK if address.version == 4 else "::1"
