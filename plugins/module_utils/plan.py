# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan: inventory and variables in, replicas with their ranks, addresses, ports and containers out.

Pure, and made before any host is touched: whatever is wrong with the configuration is reported here, all at once.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils import layout, recipe
from ansible_collections.dgxspark.serving.plugins.module_utils.engines.group import Group
from ansible_collections.dgxspark.serving.plugins.module_utils.faults import ConfigurationError, Fault
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.description import (
    Reached,
    describe,
    engine_settings,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.way import Way, way_to
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.wish import Wish, read_wish
from ansible_collections.dgxspark.serving.plugins.module_utils.models import reference
from ansible_collections.dgxspark.serving.plugins.module_utils.ranks import (
    ENGINES,
    Placed,
    group_of,
    public,
    ranks_of,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.request import Request, Settings, settings, where
from ansible_collections.dgxspark.serving.plugins.module_utils.variables import (
    BY_KEY,
    BY_NAME,
    Unreadable,
    misspelt,
    misspelt_short,
    named_list,
    read,
    read_links,
    show,
)

Links = Mapping[str, list[dict[str, str]]]


def make(request: Request) -> dict[str, Any]:
    """Make the plan.

    :returns: ``replicas``, a list in the order of the deployments; ``ranks``, for each host that serves its rank;
        ``gateway``, its description or None; ``warnings``, sentences; ``explain``, whether only to show it; plain data,
        as later steps and users read it
    :raises ConfigurationError: with every fault of the configuration
    """
    if not request.hosts:
        remedy = f"Put your hosts into the group {request.group}, and name the inventory with -i"
        raise ConfigurationError([Fault(f"inventory group {request.group}", "no host", "at least one host", remedy)])
    links, faults = _links(request)
    gid_indices, more = _gid_indices(request)
    faults = _name_faults(request) + faults + more
    placed, more = _place(request)
    faults += more
    explain, more = _explain(request)
    faults += more
    heads = [replica.hosts[0] for replica in placed]
    wish, more = read_wish(request.variables[request.hosts[0]], request.extra, request.hosts, heads)
    faults += more
    plan: dict[str, Any] = {"replicas": [], "ranks": {}, "gateway": None, "warnings": [], "explain": explain}
    ports: list[tuple[str, int, str]] = []
    reached: list[Reached] = []
    for replica in placed:
        found, more = settings(request, replica.entry, replica.hosts[0])
        model, model_faults = _model(request, replica, found)
        values = found.values
        faults += more + model_faults
        # Of a replica of a wrong size that is said already, and more would follow from it.
        fits = len(replica.hosts) == values["tensor_parallel_size"] * values["pipeline_parallel_size"]
        if not fits or request.world_size not in (0, len(replica.hosts)):
            continue
        group, group_faults, warnings = group_of(replica, links, gid_indices, values["transport"])
        faults += _engine_faults(request, replica, values, group) + group_faults
        if found.recipe is not None:
            faults += recipe.size_faults(found.recipe, len(replica.hosts), replica.place)
            warnings += [f"Recipe {found.recipe.name}: {note}" for note in found.recipe.notes]
        plan["warnings"] += warnings
        if not more:
            ports.append((replica.hosts[0], values["port"], replica.name))
        way, way_faults = _way(request, replica, wish, values, links)
        faults += way_faults
        if model is not None and not group_faults:
            values |= engine_settings(wish, way, ENGINES[values["engine"]].KEY_BY_FILE)
            values["served_model_name"] = values["served_model_name"] or model.served_name
            plan["warnings"] += [way.warning] if way.warning else []
            plan["replicas"].append(public(replica, group, model, values, _name(request, replica.hosts[0])))
            plan["ranks"].update(ranks_of(replica, group, links, model, values))
            container = plan["ranks"][replica.hosts[0]]["container"]["name"]
            name, head = replica.entry.name, replica.hosts[0]
            reached.append(Reached(name, replica.name, head, container, way, values))
    faults += _port_faults(ports)
    if not faults:
        names = {host: _name(request, host) for host in wish.hosts}
        plan["gateway"], more = describe(wish, reached, names)
        faults += more + _limit(request, plan)
    if faults:
        raise ConfigurationError(faults)
    plan["warnings"] = list(dict.fromkeys(plan["warnings"]))
    return plan


def _name_faults(request: Request) -> list[Fault]:
    faults = misspelt_short(request.extra)
    for host in request.hosts:
        faults += misspelt(request.variables[host], request.role_variables, host)
    return faults


def _explain(request: Request) -> tuple[bool, list[Fault]]:
    name = "serving_explain"
    value = request.extra.get(name, request.variables[request.hosts[0]].get(name))
    explain, fault = read(BY_NAME[name], value, name)
    return explain, [fault] if fault else []


def _links(request: Request) -> tuple[Links, list[Fault]]:
    """The fabric links of each host, what is wrong with them, and addresses that two hosts claim (field fault N14)."""
    faults = []
    owner: dict[str, str] = {}
    found: dict[str, list[dict[str, str]]] = {}
    for host in request.hosts:
        found[host], more = read_links(request.variables[host].get("fabric_links"), host)
        faults += more
        for number, link in enumerate(found[host]):
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
    return found, faults


def _gid_indices(request: Request) -> tuple[dict[str, int | None], list[Fault]]:
    """``fabric_gid_index`` of each host: per host, for the tables differ (field fault N17)."""
    found, faults = {}, []
    for host in request.hosts:
        value = request.variables[host].get("fabric_gid_index")
        found[host], fault = read(BY_NAME["fabric_gid_index"], value, "fabric_gid_index", host)
        faults += [fault] if fault else []
    return found, faults


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
        leader = entry.replicas[0][0] if entry.replicas and entry.replicas[0][0] in request.hosts else first
        # Its faults are reported with the replicas; here only the size counts.
        values = settings(request, entry, leader)[0].values
        size = values["tensor_parallel_size"] * values["pipeline_parallel_size"]
        place, host = where(request, entry, leader, BY_KEY["tensor_parallel_size"])[1:]
        replicas, more = layout.lay_out(entry, request.group, request.hosts, size, place)
        faults += more
        if request.world_size and size != request.world_size:
            faults.append(
                Fault(
                    place,
                    f"{size} hosts for each replica",
                    f"{request.world_size} with this playbook",
                    f"Set it to {request.world_size}, or use the playbook deploy, which serves replicas of any size",
                    host,
                )
            )
        placed += [Placed(entry, index, hosts) for index, hosts in enumerate(replicas)]
    faults += layout.double_bookings([(host, replica.place) for replica in placed for host in replica.hosts])
    return [replica for replica in placed if set(replica.hosts) <= set(request.hosts)], faults


def _name(request: Request, host: str) -> str:
    """Name or address at which clients reach a host."""
    variables = request.variables[host]
    return str(variables.get("serving_address") or variables.get("ansible_host") or host)


def _way(
    request: Request, replica: Placed, wish: Wish, values: Mapping[str, Any], links: Links
) -> tuple[Way, list[Fault]]:
    """The way from the gateway to a replica. A recipe's address is everybody's: with a gateway it is no wish."""
    head = replica.hosts[0]
    users = where(request, replica.entry, head, BY_KEY["listen_address"])[0]
    wished = values["listen_address"] if users or not wish.hosts else None
    return way_to(wished, head, wish.hosts, links, _name(request, head))


def _model(request: Request, replica: Placed, found: Settings) -> tuple[reference.ModelReference | None, list[Fault]]:
    text, place, host = where(request, replica.entry, replica.hosts[0], BY_KEY["model"])
    recipe_text = where(request, replica.entry, replica.hosts[0], BY_KEY["recipe"])[0]
    model = found.values["model"]
    if isinstance(text, Unreadable) or (not model and recipe_text):
        return None, []  # reported with the other settings
    if not model:
        remedy = "Set serving_model for the host or its group, or give -e model=ORG/NAME"
        return None, [Fault(place, "neither a model nor a recipe", "one of them", remedy, host)]
    try:
        return reference.parse(model, found.values["model_hub"]), []
    except ValueError:
        wanted = "an id (ORG/NAME) or an absolute path on the host"
        return None, [Fault(place, show(model), wanted, f"Set it to {wanted}", host)]


def _engine_faults(request: Request, replica: Placed, values: Mapping[str, Any], group: Group) -> list[Fault]:
    """What of the user's flags and environment contradicts the plan."""
    engine = ENGINES[values["engine"]]
    places = {key: where(request, replica.entry, replica.hosts[0], BY_KEY[key])[1:] for key in ("engine_args", "env")}
    faults = engine.argument_faults(values["engine_args"], *places["engine_args"])
    if group.world_size > 1 and values["backend"] not in engine.BACKENDS:
        wanted = f"{named_list(engine.BACKENDS)} with serving_engine: {values['engine']}"
        place, host = where(request, replica.entry, replica.hosts[0], BY_KEY["backend"])[1:]
        faults.append(Fault(place, show(values["backend"]), wanted, f"Set it to {wanted}", host))
    return faults + engine.environment_faults(values["env"], group, *places["env"])


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


def _limit(request: Request, plan: dict[str, Any]) -> list[Fault]:
    """Leave out the replicas that ``--limit`` leaves out; half a replica is a fault (field fault A12)."""
    if request.limit is None:
        return []
    faults = []
    kept = []
    for replica in plan["replicas"]:
        inside = [host for host in replica["hosts"] if host in request.limit]
        if inside and inside != replica["hosts"]:
            hosts = ",".join(replica["hosts"])
            remedy = f"Run without --limit, or with --limit {hosts}"
            faults.append(Fault("--limit", f"{', '.join(inside)} of replica {replica['name']}", hosts, remedy))
        if inside:
            kept.append(replica)
    plan["replicas"] = kept
    plan["ranks"] = {host: rank for host, rank in plan["ranks"].items() if host in request.limit}
    return faults
