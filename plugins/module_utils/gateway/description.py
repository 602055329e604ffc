# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The one description of the gateway that every provider's configuration is made from: plain data, and no secret."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.engine_key import KEY_FILE
from ansible_collections.dgxspark.serving.plugins.module_utils.faults import Fault
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway import features, local_ports, options
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.providers import PROVIDERS
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.way import LOOPBACK, Way
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.wish import Wish

# Seconds for a connection to an engine: its host is on the fabric or is gone.
CONNECT_TIMEOUT = 2
MIB = 1 << 20
_MOST_SEQUENCES = ("max-num-seqs", "max_num_seqs", "max-running-requests", "max_running_requests")


@dataclass(frozen=True)
class Reached:
    """A replica as the gateway knows it.

    :ivar host: host of its rank 0
    :ivar container: the container of its rank 0
    """

    deployment: str
    name: str
    host: str
    container: str
    way: Way
    settings: Mapping[str, Any]


def engine_settings(wish: Wish, way: Way, key_by_file: bool) -> dict[str, Any]:
    """What the gateway means for an engine's own settings.

    :param key_by_file: whether the engine can be given a key that is seen nowhere
    """
    on = bool(wish.hosts)
    return {
        "gateway": on,
        "listen_address": way.listen,
        "engine_key_file": KEY_FILE if on and wish.values["engine_key"] and key_by_file else "",
        "responses_store": on and wish.values["responses"] != options.OFF,
    }


def describe(
    wish: Wish, replicas: Sequence[Reached], names: Mapping[str, str]
) -> tuple[dict[str, Any] | None, list[Fault]]:
    """Describe the gateway, and say what is wrong with it; None when there is to be none.

    :param names: for each host the name or address that clients reach it by
    """
    if not wish.hosts:
        return None, []
    described = _described(wish, replicas, names)
    return described, features.faults(described) + _port_faults(described)


def _port_faults(described: Mapping[str, Any]) -> list[Fault]:
    """Ports that the gateway and an engine, or the gateway and itself, want on one host."""
    faults = []
    for host in described["hosts"]:
        taken = {
            replica[key]: f"{use} of {replica['name']}"
            for deployment in described["deployments"]
            for replica in deployment["replicas"]
            if replica["host"] == host
            for key, use in (("port", "the engine"), ("health_port", "the supervisor"))
        }
        for variable, port in (
            ("gateway_port", described["listen"]["port"]),
            ("gateway_metrics_port", described["metrics"]["port"]),
        ):
            if port in taken:
                found = f"{port}, which {taken[port]} has too"
                faults.append(Fault(variable, found, "a port of its own", "Choose another port", host))
            taken.setdefault(port, variable)
    return faults


def _described(wish: Wish, replicas: Sequence[Reached], names: Mapping[str, str]) -> dict[str, Any]:
    values = wish.values
    tls = "" if values["tls"] == options.OFF else values["tls"]
    provider = values["provider"]
    return {
        "provider": provider,
        "packages": list(PROVIDERS[provider].PACKAGES),
        "ports": _ports(wish, replicas),
        "hosts": list(wish.hosts),
        "listen": {"address": values["listen_address"], "port": values["port"]},
        "urls": {host: _url("https" if tls else "http", names[host], values["port"]) for host in wish.hosts},
        "tls": tls,
        "names": list(dict.fromkeys(name for host in wish.hosts for name in (names[host], host))),
        "keys": list(wish.keys),
        "deployments": [_deployment(wish, members) for members in _grouped(replicas)],
        "responses": values["responses"],
        "paths": [str(path) for path in values["paths"]],
        "body_limit": values["body_limit"] * MIB,
        "timeout": values["timeout"],
        "connect_timeout": CONNECT_TIMEOUT,
        "metrics": {"address": values["metrics_address"], "port": values["metrics_port"]},
        "engine_key": any(replica.settings["engine_key_file"] for replica in replicas),
        "files": {
            "tls_certificate": values["tls_certificate"],
            "tls_key": values["tls_key"],
            "litellm_env": values["litellm_env_file"],
        },
        "router_policy": values["vllm_router_policy"],
        "key_hosts": _key_hosts(wish, replicas),
        "litellm": {"settings": values["litellm_settings"], "own_keys": bool(values["litellm_env_file"])},
    }


def _ports(wish: Wish, replicas: Sequence[Reached]) -> list[dict[str, Any]]:
    """TCP ports that must be free on the gateway's hosts, as the ports of a rank are told."""
    values = wish.values
    found = [{"port": values["port"], "address": values["listen_address"], "use": "gateway"}]
    if values["provider"] != options.NGINX:
        metrics = {"port": values["metrics_port"], "address": values["metrics_address"], "use": "gateway's metrics"}
        found.append(metrics)
    if values["provider"] in (options.LITELLM, options.VLLM_ROUTER):
        inner = [local_ports.ROUTER, local_ports.ROUTER_METRICS]
        inner += [local_ports.REPLICAS + number for number in range(len(replicas))]
        inner += [local_ports.DEPLOYMENTS + number for number in range(len(_grouped(replicas)))]
        found += [{"port": port, "address": LOOPBACK, "use": f"gateway's {values['provider']}"} for port in inner]
    return found


def _key_hosts(wish: Wish, replicas: Iterable[Reached]) -> list[str]:
    """Hosts that hold the key which gateway and engines share."""
    engines = [replica.host for replica in replicas if replica.settings["engine_key_file"]]
    return list(dict.fromkeys([*wish.hosts, *engines])) if engines else []


def _grouped(replicas: Iterable[Reached]) -> list[list[Reached]]:
    """Replicas by the model that clients ask for: deployments of one model share their requests."""
    found: dict[str, list[Reached]] = {}
    for replica in replicas:
        found.setdefault(replica.settings["served_model_name"], []).append(replica)
    return list(found.values())


def _deployment(wish: Wish, members: Sequence[Reached]) -> dict[str, Any]:
    first = members[0].settings
    return {
        "name": members[0].deployment,
        "served_model_name": first["served_model_name"],
        "engine": first["engine"],
        "concurrency": wish.values["concurrency"] or _sequences(first["engine_args"]),
        "queue": wish.values["queue"],
        "queue_timeout": wish.values["queue_timeout"],
        "replicas": [
            {
                "name": member.name,
                "host": member.host,
                "container": member.container,
                "address": member.way.address,
                "port": member.settings["port"],
                "health_address": member.way.address,
                "health_port": member.settings["health_port"],
            }
            for member in members
        ],
    }


def _sequences(engine_args: Mapping[str, Any]) -> int:
    """Requests that the engine itself runs at once, as far as its flags say."""
    for flag, value in engine_args.items():
        if flag.lstrip("-") in _MOST_SEQUENCES and str(value).isdigit() and int(value) > 0:
            return int(value)
    return options.CONCURRENCY


def _url(scheme: str, name: str, port: int) -> str:
    return f"{scheme}://[{name}]:{port}" if ":" in name else f"{scheme}://{name}:{port}"
