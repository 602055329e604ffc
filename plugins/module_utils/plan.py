# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan: inventory and variables in, replicas with their ranks, addresses, ports and containers out.

Pure, and made before any host is touched: whatever is wrong with the configuration is reported here, all at once.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils import containers, layout, model_reference
from ansible_collections.dgxspark.serving.plugins.module_utils.engines import vllm
from ansible_collections.dgxspark.serving.plugins.module_utils.faults import ConfigurationError, Fault
from ansible_collections.dgxspark.serving.plugins.module_utils.variables import (
    BY_KEY,
    BY_NAME,
    Unreadable,
    Variable,
    misspelt,
    misspelt_short,
    read,
    read_links,
    show,
)


@dataclass(frozen=True)
class Request:
    """What a plan is made from.

    :ivar group: name of the inventory group of the hosts
    :ivar hosts: its members, in inventory order
    :ivar variables: for each of them all its variables by name; one that cannot be templated is :class:`Unreadable`
    :ivar extra: what was given with ``-e``, by its name, short or full
    :ivar role_variables: names of the public variables of the roles
    :ivar deployment_name: name of the one deployment where ``serving_deployments`` spells out none
    :ivar world_size: hosts of each replica that the playbook serves
    """

    group: str
    hosts: Sequence[str]
    variables: Mapping[str, Mapping[str, Any]]
    extra: Mapping[str, Any] = field(default_factory=dict)
    role_variables: Sequence[str] = ()
    deployment_name: str = "tp1"
    world_size: int = 1


@dataclass(frozen=True)
class Placed:
    """A replica that has its hosts.

    :ivar place: how a fault names it
    """

    entry: layout.Entry
    index: int
    hosts: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{self.entry.name}-{self.index}"

    @property
    def place(self) -> str:
        return f"{self.entry.listed_place}.replicas[{self.index}]"


def make(request: Request) -> dict[str, Any]:
    """Make the plan.

    :returns: ``replicas``, a list in the order of the deployments, and ``ranks``, for each host that serves its rank;
        plain data, as later steps and users read it
    :raises ConfigurationError: with every fault of the configuration
    """
    if not request.hosts:
        remedy = f"Put your hosts into the group {request.group}, and name the inventory with -i"
        raise ConfigurationError([Fault(f"inventory group {request.group}", "no host", "at least one host", remedy)])
    faults = _name_faults(request) + _link_faults(request)
    placed, more = _place(request)
    faults += more
    replicas = []
    ranks: dict[str, Any] = {}
    ports: list[tuple[str, int, str]] = []
    for replica in placed:
        settings, more = _settings(request, replica.entry, replica.hosts[0])
        model, model_faults = _model(request, replica, settings)
        faults += more + model_faults
        faults += vllm.argument_faults(
            settings["engine_args"], *_where(request, replica.entry, replica.hosts[0], BY_KEY["engine_args"])[1:]
        )
        if not more:
            ports.append((replica.hosts[0], settings["port"], replica.name))
        if model is not None and len(replica.hosts) == request.world_size == 1:
            public, rank = _single_host(request, replica, settings, model)
            replicas.append(public)
            ranks[replica.hosts[0]] = rank
    faults += _port_faults(ports)
    if faults:
        raise ConfigurationError(faults)
    return {"replicas": replicas, "ranks": ranks}


def _name_faults(request: Request) -> list[Fault]:
    faults = misspelt_short(request.extra)
    for host in request.hosts:
        faults += misspelt(request.variables[host], request.role_variables, host)
    return faults


def _link_faults(request: Request) -> list[Fault]:
    """What is wrong with the fabric links of each host, and addresses that two hosts claim (field fault N14)."""
    faults = []
    owner: dict[str, str] = {}
    for host in request.hosts:
        links, more = read_links(request.variables[host].get("fabric_links"), host)
        faults += more
        for number, link in enumerate(links):
            address = str(ipaddress.ip_interface(link["address"]).ip)
            if address in owner:
                faults.append(
                    Fault(
                        f"fabric_links[{number}].address",
                        f"{address}, which {owner[address]} has too",
                        "an address of its own",
                        "Write the address that this host's interface really has",
                        host,
                    )
                )
            owner.setdefault(address, host)
    return faults


def _place(request: Request) -> tuple[list[Placed], list[Fault]]:
    """Lay the replicas of all deployments on hosts; only those whose hosts exist are returned."""
    # A deployment spans hosts, so its list is one: that of the first host, where group variables are seen as well.
    first = request.hosts[0]
    deployments, fault = read(
        BY_NAME["serving_deployments"], request.variables[first].get("serving_deployments"), "serving_deployments"
    )
    entries, faults = layout.read_entries(deployments or [], request.deployment_name)
    if fault:
        faults.append(fault)
    placed = []
    for entry in entries:
        size = 1
        leader = entry.replicas[0][0] if entry.replicas and entry.replicas[0][0] in request.hosts else first
        for key in ("tensor_parallel_size", "pipeline_parallel_size"):
            value, place, host = _where(request, entry, leader, BY_KEY[key])
            degree, fault = read(BY_KEY[key], value, place, host)
            size *= degree
            faults += [fault] if fault else []
        place, host = _where(request, entry, leader, BY_KEY["tensor_parallel_size"])[1:]
        replicas, more = layout.lay_out(entry, request.group, request.hosts, size, place)
        faults += more
        if size != request.world_size:
            faults.append(
                Fault(
                    place,
                    f"{size} hosts for each replica",
                    f"{request.world_size} with this playbook",
                    f"Set it to {request.world_size}, or use the playbook for replicas of {size} hosts",
                    host,
                )
            )
        placed += [Placed(entry, index, hosts) for index, hosts in enumerate(replicas)]
    faults += layout.double_bookings([(host, replica.place) for replica in placed for host in replica.hosts])
    return [replica for replica in placed if set(replica.hosts) <= set(request.hosts)], faults


def _where(request: Request, entry: layout.Entry, host: str, variable: Variable) -> tuple[Any, str, str]:
    """Find the value that counts: ``-e`` before the deployment's own, before the variable of the replica's rank 0.

    :returns: the value as written, the name of its place, and the host if it is one host's
    """
    for name in filter(None, (variable.short, variable.name)):
        if name in request.extra:
            return request.extra[name], f"-e {name}", ""
    if variable.key in entry.values:
        return entry.values[variable.key], f"{entry.place}.{variable.key}", ""
    return request.variables[host].get(variable.name), variable.name, host


def _settings(request: Request, entry: layout.Entry, host: str) -> tuple[dict[str, Any], list[Fault]]:
    """All values of a replica by their keys, of the right types."""
    settings = {}
    faults = []
    for key, variable in BY_KEY.items():
        settings[key], fault = read(variable, *_where(request, entry, host, variable))
        faults += [fault] if fault else []
    return settings, faults


def _model(
    request: Request, replica: Placed, settings: dict[str, Any]
) -> tuple[model_reference.ModelReference | None, list[Fault]]:
    host = replica.hosts[0]
    if settings["recipe"]:
        place, host = _where(request, replica.entry, host, BY_KEY["recipe"])[1:]
        wanted = "no recipe: this version does not read them"
        remedy = "Set serving_model and serving_engine_args instead"
        return None, [Fault(place, show(settings["recipe"]), wanted, remedy, host)]
    text, place, host = _where(request, replica.entry, host, BY_KEY["model"])
    if isinstance(text, Unreadable):
        return None, []  # reported with the other settings
    if not settings["model"]:
        remedy = "Set serving_model for the host or its group, or give -e model=ORG/NAME"
        return None, [Fault(place, "neither a model nor a recipe", "one of them", remedy, host)]
    try:
        return model_reference.parse(settings["model"]), []
    except ValueError:
        wanted = "a Hugging Face id (ORG/NAME) or an absolute path on the host"
        return None, [Fault(place, show(settings["model"]), wanted, f"Set it to {wanted}", host)]


def _port_faults(ports: Iterable[tuple[str, int, str]]) -> list[Fault]:
    """Ports that two engines want on one host.

    :param ports: host, port and the replica that listens there
    """
    faults = []
    owner: dict[tuple[str, int], str] = {}
    for host, port, replica in ports:
        if (host, port) in owner:
            found = f"{port} for {replica} and for {owner[host, port]}"
            remedy = "Give one of them another port"
            faults.append(Fault("serving_port", found, "each port once on a host", remedy, host))
        owner.setdefault((host, port), replica)
    return faults


def _single_host(
    request: Request, replica: Placed, settings: dict[str, Any], model: model_reference.ModelReference
) -> tuple[dict[str, Any], dict[str, Any]]:
    """A replica of one host: what users see of it, and its only rank."""
    host = replica.hosts[0]
    settings = {**settings, "served_model_name": settings["served_model_name"] or model.served_name}
    options = {
        "name": containers.container_name(replica.entry.name, replica.index, 0),
        "image": settings["image"],
        "entrypoint": vllm.ENTRYPOINT,
        "command": vllm.serve_argv(model, settings),
        "env": vllm.environment(model, settings),
        "ulimits": containers.ULIMITS,
        "device_requests": containers.GPU_REQUESTS,
        "model_mount": model.mount,
    }
    api = _url(_local(settings["listen_address"]), settings["port"])
    [container] = containers.with_labels([options], replica.entry.name, replica.name, api)
    variables = request.variables[host]
    address = variables.get("serving_address") or variables.get("ansible_host") or host
    public = {
        "name": replica.name,
        "deployment": replica.entry.name,
        "hosts": list(replica.hosts),
        "endpoint": _url(str(address), settings["port"]),
        "served_model_name": settings["served_model_name"],
        "model": model.text,
        "image": settings["image"],
        "engine": settings["engine"],
        "tensor_parallel_size": settings["tensor_parallel_size"],
        "pipeline_parallel_size": settings["pipeline_parallel_size"],
    }
    rank = {
        "replica": replica.name,
        "rank": 0,
        "model": model.text,
        "served_model_name": settings["served_model_name"],
        "api": api,
        "container": container,
    }
    return public, rank


def _local(listen_address: str) -> str:
    """The address at which the host itself reaches an API that listens on ``listen_address``."""
    address = ipaddress.ip_address(listen_address)
    if not address.is_unspecified:
        return listen_address
    return "127.0.0.1" if address.version == 4 else "::1"


def _url(address: str, port: int) -> str:
    return f"http://[{address}]:{port}" if ":" in address else f"http://{address}:{port}"
