# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The targets of a benchmark: gateways, and replicas directly, as the client host reaches them. Pure."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.suites.options import AUTO
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.suites.reach import (
    LOCALHOST,
    Links,
    local_address,
    reach,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.faults import Fault
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.options import GIVEN
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.placeholders import TLS_FILE
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.rendered import FOLDER
from ansible_collections.dgxspark.serving.plugins.module_utils.ranks import url
from ansible_collections.dgxspark.serving.plugins.module_utils.variables import named_list, show

# In place of the paths of files that the role lays on the client host.
API_KEY, CA = "@api", "@ca"
GATEWAY, DIRECT = "gateway", "direct"
# What a plan says of a length that the engine itself chooses.
_WHATEVER_FITS = 1

Target = dict[str, Any]


@dataclass(frozen=True)
class Targets:
    """Everything that can be measured.

    :ivar all: as an order has them, gateways first
    :ivar faults: by the target's name, why it cannot be measured from this client host
    :ivar notes: sentences about what will be missing
    """

    all: tuple[Target, ...]
    faults: Mapping[str, Fault]
    notes: tuple[str, ...] = field(default=())

    def chosen(self, word: str) -> list[Target]:
        """The targets that a suite means by a word."""
        gateways = [target for target in self.all if target["via"] == GATEWAY]
        direct = [target for target in self.all if target["via"] == DIRECT]
        firsts = list({target["deployment"]: target for target in reversed(direct)}.values())[::-1]
        choices = {
            "gateway": gateways,
            "direct": firsts,
            "both": [*gateways, *firsts],
            "each-host": direct,
            "entry": gateways or firsts,
        }
        named = [target for target in self.all if word in (target["name"], label_of(target))]
        return choices.get(word, named)


def label_of(target: Target) -> str:
    """How the id of a point names a target.

    >>> label_of({"via": "direct", "name": "main-0"}), label_of({"via": "gateway", "name": "gateway"})
    ('direct:main-0', 'gateway')
    """
    return f"{DIRECT}:{target['name']}" if target["via"] == DIRECT else str(target["name"])


def client_host(wished: str, plan: Mapping[str, Any], hosts: Sequence[str]) -> tuple[str, Fault | None]:
    """The host that asks: the gateway's first, else that of the first replica's rank 0, unless another is wished."""
    if wished == AUTO:
        gateway = plan.get("gateway")
        return (gateway["hosts"] if gateway else plan["replicas"][0]["hosts"])[0], None
    if wished == LOCALHOST or wished in hosts:
        return wished, None
    wanted = f"{AUTO}, {LOCALHOST} or a host of the inventory ({', '.join(hosts)})"
    return LOCALHOST, Fault("benchmark_client", show(wished), wanted, f"Set it to {AUTO}, or name such a host")


def targets_of(plan: Mapping[str, Any], values: Mapping[str, Any], client: str, links: Links) -> Targets:
    """Find all targets as they are seen from the client host.

    :param values: what ``options.read_options`` gave
    """
    found: list[Target] = []
    faults: dict[str, Fault] = {}
    engines: dict[str, dict[str, str]] = {}
    notes = []
    for replica in plan["replicas"]:
        way = reach(client, replica, plan, links)
        name = replica["name"]
        if way.url:
            engines[name] = {"replica": name, "url": way.url, "key_file": way.key_file}
        else:
            notes.append(f"The engine of {name} {way.why}, so its own counters are not read.")
            remedy = f"Set it to {' or '.join(way.instead)}"
            wanted = f"a host that reaches the engine of {name}"
            faults[name] = Fault("benchmark_client", f"{client}: the engine of {name} {way.why}", wanted, remedy)
        key = way.key_file or (API_KEY if values["api_key_file"] and not plan.get("gateway") else "")
        found.append(
            {
                **_common(replica, values),
                "name": name,
                "url": way.url,
                "via": DIRECT,
                "key_file": key,
                "replica": name,
                "hosts": list(replica["hosts"]),
                "engines": [engines[name]] if name in engines else [],
                "unread": [] if name in engines else [name],
            }
        )
    gateways = _gateways(plan, values, client, engines)
    for target in gateways:
        fault = _gateway_fault(plan["gateway"], values, client)
        if fault:
            faults[target["name"]] = fault
        if target["engines"] and target["unread"]:
            # The counters of some engines say nothing of requests that any of them may have taken.
            lacking = f"for those of {', '.join(target['unread'])} cannot be"
            notes.append(f"No counters of engines are read for {target['name']}, {lacking}.")
    return Targets((*gateways, *found), faults, tuple(notes))


def longest(plan: Mapping[str, Any], target: Target) -> int | None:
    """Tokens of prompt and answer that every engine behind a target takes; None when the plan does not know."""
    known = []
    for replica in plan["replicas"]:
        rank = plan["ranks"].get(replica["hosts"][0])
        behind = target["replica"] in ("", replica["name"])
        if rank and behind and replica["served_model_name"] == target["served_model_name"]:
            length = (rank.get("engine_memory") or {}).get("max_model_len")
            known += [int(length)] if length and length != _WHATEVER_FITS else []
    return min(known) if known else None


def _common(replica: Mapping[str, Any], values: Mapping[str, Any]) -> Target:
    return {
        "served_model_name": replica["served_model_name"],
        "deployment": replica["deployment"],
        "verify_tls": values["verify_tls"],
        "ca_file": "",
    }


def _gateways(
    plan: Mapping[str, Any], values: Mapping[str, Any], client: str, engines: Mapping[str, dict[str, str]]
) -> list[Target]:
    """One target for each model that the gateway serves."""
    gateway = plan.get("gateway")
    if not gateway:
        return []
    found = []
    for number, deployment in enumerate(gateway["deployments"]):
        names = [replica["name"] for replica in deployment["replicas"]]
        members = [replica for replica in plan["replicas"] if replica["name"] in names]
        if not members:
            continue  # left out by --limit
        found.append(
            {
                **_common(members[0], values),
                "name": GATEWAY if number == 0 else f"{GATEWAY}-{deployment['name']}",
                "url": _gateway_url(gateway, client),
                "via": GATEWAY,
                "key_file": API_KEY if values["api_key_file"] else "",
                "ca_file": _ca_file(gateway, values, client),
                "replica": "",
                "hosts": list(dict.fromkeys(host for replica in members for host in replica["hosts"])),
                "engines": [engines[name] for name in names if name in engines],
                "unread": [name for name in names if name not in engines],
            }
        )
    return found


def _gateway_url(gateway: Mapping[str, Any], client: str) -> str:
    """Through the gateway on the client host where there is one; with TLS by the name that its certificate has."""
    listen = gateway["listen"]
    if client in gateway["hosts"] and not gateway["tls"]:
        return url(local_address(listen["address"]), listen["port"])
    return str(gateway["urls"][client if client in gateway["hosts"] else gateway["hosts"][0]])


def _ca_file(gateway: Mapping[str, Any], values: Mapping[str, Any], client: str) -> str:
    if not gateway["tls"] or not values["verify_tls"]:
        return ""
    if values["ca_file"]:
        return CA
    # A certificate that the gateway made itself is its own root, and it lies on the gateway's host.
    own = gateway["tls"] != GIVEN and client in gateway["hosts"]
    return f"{FOLDER}/{TLS_FILE}" if own else ""


def _gateway_fault(gateway: Mapping[str, Any], values: Mapping[str, Any], client: str) -> Fault | None:
    """Why the gateway cannot be measured from the client host."""
    first = gateway["hosts"][0]
    if client not in gateway["hosts"] and ipaddress.ip_address(gateway["listen"]["address"]).is_loopback:
        found = f"{client}: the gateway listens on the loopback of {first} alone"
        return Fault("benchmark_client", found, "a host that reaches the gateway", f"Set it to {first}")
    if gateway["keys"] and not values["api_key_file"]:
        found = f"nothing, and the gateway asks for a key ({named_list(gateway['keys'])})"
        remedy = "Name a file on the controller that holds one of these keys"
        return Fault("benchmark_api_key_file", found, "a file with a client's key", remedy)
    lacking = gateway["tls"] and gateway["tls"] != GIVEN and values["verify_tls"]
    if lacking and not _ca_file(gateway, values, client):
        found = f"nothing, and the gateway made its certificate itself, on {first}"
        remedy = f"Name such a file, set benchmark_client to {first}, or set benchmark_verify_tls: false"
        return Fault("benchmark_ca_file", found, "a file with that certificate", remedy)
    return None
