# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A replica that has its hosts, made into what each of them runs: the rank's container and how it is kept alive."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils import containers, fabric
from ansible_collections.dgxspark.serving.plugins.module_utils.engines import sglang, vllm
from ansible_collections.dgxspark.serving.plugins.module_utils.engines.group import Group, Member
from ansible_collections.dgxspark.serving.plugins.module_utils.engines.memory_flags import engine_memory
from ansible_collections.dgxspark.serving.plugins.module_utils.faults import Fault
from ansible_collections.dgxspark.serving.plugins.module_utils.layout import Entry
from ansible_collections.dgxspark.serving.plugins.module_utils.models.reference import ModelReference

# How a port of the supervisor is called where somebody else holds it.
DOOR = "supervisor's word to gateways"
ENGINES = {"vllm": vllm, "sglang": sglang}


@dataclass(frozen=True)
class Placed:
    """A replica that has its hosts, rank 0 first.

    :ivar place: how a fault names it
    """

    entry: Entry
    index: int
    hosts: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{self.entry.name}-{self.index}"

    @property
    def place(self) -> str:
        return f"{self.entry.listed_place}.replicas[{self.index}]"


def member(host: str, links: Sequence[Mapping[str, str]], gid_index: int | None, alone: bool) -> Member:
    """A host as a member of its replica; alone it needs no fabric."""
    if alone or not links:
        return Member(host=host, address="", interfaces=(), rdma_devices=(), gid_index=None)
    return Member(
        host=host,
        address=str(ipaddress.ip_interface(links[0]["address"]).ip),
        interfaces=tuple(link["interface"] for link in links),
        rdma_devices=tuple(link["rdma_device"] for link in links if link["rdma_device"]),
        gid_index=gid_index,
    )


def group_of(
    replica: Placed, links: Mapping[str, Sequence[Mapping[str, str]]], gid_indices: Mapping[str, int | None], wish: str
) -> tuple[Group, list[Fault], list[str]]:
    """The replica's hosts on the fabric, what is wrong with that, and what is merely unwise.

    :param links: fabric links of each host, the control link first
    :param wish: ``serving_transport``
    """
    alone = len(replica.hosts) == 1
    members = tuple(member(host, links[host], gid_indices[host], alone) for host in replica.hosts)
    if alone:
        return Group(members, ""), [], []
    here = {host: links[host] for host in replica.hosts}
    faults = fabric.group_faults(here)
    transport, fault = fabric.transport_for(wish, here)
    faults += [fault] if fault else []
    return Group(members, transport), faults, fabric.group_warnings(here)


def public(
    replica: Placed, group: Group, model: ModelReference, settings: Mapping[str, Any], address: str
) -> dict[str, Any]:
    """What users see of a replica.

    :param address: where clients reach the host of rank 0
    """
    listen = settings["listen_address"]
    return {
        "name": replica.name,
        "deployment": replica.entry.name,
        "hosts": list(replica.hosts),
        "endpoint": url(address if _everywhere(listen) else listen, settings["port"]),
        "served_model_name": settings["served_model_name"],
        "model": model.text,
        "image": settings["image"],
        "engine": settings["engine"],
        "backend": settings["backend"] if group.world_size > 1 else "",
        "transport": group.transport,
        "tensor_parallel_size": settings["tensor_parallel_size"],
        "pipeline_parallel_size": settings["pipeline_parallel_size"],
    }


def ranks_of(
    replica: Placed,
    group: Group,
    links: Mapping[str, Sequence[Mapping[str, str]]],
    model: ModelReference,
    settings: Mapping[str, Any],
) -> dict[str, dict[str, Any]]:
    """For each host of the replica its rank, as the role ``replica`` takes it."""
    engine = ENGINES[settings["engine"]]
    api = url(_local(settings["listen_address"]), settings["port"])
    options = []
    for number in range(group.world_size):
        special = engine.rank_container(group, number, model, settings)
        options.append(
            {
                "name": containers.container_name(replica.entry.name, replica.index, number),
                "image": settings["image"],
                "ulimits": containers.ULIMITS,
                "device_requests": containers.GPU_REQUESTS,
                "model_mount": model.mount,
                **special,
                "mounts": [{"type": "bind", "read_only": True, **mount} for mount in special["mounts"]],
            }
        )
    labelled = containers.with_labels(options, replica.entry.name, replica.name, api)
    return {
        host: {
            "replica": replica.name,
            "deployment": replica.entry.name,
            "rank": number,
            "world_size": group.world_size,
            "hosts": list(replica.hosts),
            "model": model.text,
            "model_hub": model.hub,
            "model_revision": settings["model_revision"],
            "served_model_name": settings["served_model_name"],
            "engine": settings["engine"],
            "backend": settings["backend"] if group.world_size > 1 else "",
            "transport": group.transport,
            "key_file": settings["engine_key_file"] if number == 0 else "",
            "api": api if number == 0 else "",
            "supervision": _supervision(replica, group, number, labelled[number], api, settings),
            "ports": engine.ports(group, number, settings) + (_door_ports(settings) if number == 0 else []),
            "links": [dict(link) for link in links[host]] if group.world_size > 1 else [],
            "probe": engine.probe(group, number, model, settings),
            "engine_memory": engine_memory(settings["engine"], settings),
            "container": labelled[number],
        }
        for number, host in enumerate(replica.hosts)
    }


def _supervision(
    replica: Placed, group: Group, rank: int, container: Mapping[str, Any], api: str, settings: Mapping[str, Any]
) -> dict[str, Any]:
    """What the supervisor of a rank is told, but for the limits, which are the role's."""
    return {
        "container": container["name"],
        "deployment": replica.entry.name,
        "replica": replica.name,
        "generation": container["labels"][f"{containers.LABEL_PREFIX}generation"],
        "rank": rank,
        "world_size": group.world_size,
        "address": group.members[rank].address,
        "group_port": settings["group_port"],
        "peers": [
            {"rank": number, "address": other.address} for number, other in enumerate(group.members) if number != rank
        ],
        "api": api if rank == 0 else "",
        "memory_share": ENGINES[settings["engine"]].memory_share(settings),
        "served_model_name": settings["served_model_name"],
        "health": _door(settings) if rank == 0 else None,
        "key_file": settings["engine_key_file"] if rank == 0 else "",
    }


def _door(settings: Mapping[str, Any]) -> dict[str, Any] | None:
    """Where the supervisor of rank 0 tells gateways of the replica; nowhere without a gateway."""
    if not settings["gateway"]:
        return None
    return {"address": settings["listen_address"], "port": settings["health_port"]}


def _door_ports(settings: Mapping[str, Any]) -> list[dict[str, Any]]:
    door = _door(settings)
    return [{**door, "use": DOOR}] if door else []


def _everywhere(listen_address: str) -> bool:
    return ipaddress.ip_address(listen_address).is_unspecified


def _local(listen_address: str) -> str:
    """The address at which the host itself reaches an API that listens on ``listen_address``."""
    if not _everywhere(listen_address):
        return listen_address
    return "127.0.0.1" if ipaddress.ip_address(listen_address).version == 4 else "::1"


def url(address: str, port: int) -> str:
    """Base URL of an API."""
    return f"http://[{address}]:{port}" if ":" in address else f"http://{address}:{port}"
