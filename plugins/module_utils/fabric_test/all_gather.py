# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a pair runs an all-gather inside the engine's image: two containers with the environment of the plan."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils import fabric, ranks
from ansible_collections.dgxspark.serving.plugins.module_utils.containers import ULIMITS
from ansible_collections.dgxspark.serving.plugins.module_utils.engines import group
from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_test import in_engine
from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_test.orders import ALL_GATHER, PORT, Part
from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_test.pairs import Pair, address

CONTAINER = "dgxspark-fabric-test"
NCCL = "nccl"
# Importing torch, meeting, and the measurement itself.
LIMIT = 240
# Of the free memory a test may take so much: both buffers are one and a half times the size, and 16 GB froze hosts.
SHARE = 1 / 16
LEAST = 2**20
# What of a rank's environment is about the fabric.
_PREFIXES = ("NCCL_", "GLOO_", "UCX_", "TP_SOCKET_", "OMPI_")
_LOUD = {"NCCL_DEBUG": "INFO", "NCCL_DEBUG_SUBSYS": "INIT,NET"}


@dataclass(frozen=True)
class Choice:
    """What all pairs of a run have in common.

    :ivar image: the engine's image, by host; empty where there is none
    :ivar ranks: ``ranks`` of the plan; may be empty
    :ivar gid_indices: ``fabric_gid_index`` of each host
    :ivar transport: ``serving_transport``
    :ivar backend: ``nccl`` or ``gloo``
    :ivar buffer: bytes that each rank has in the end, at most
    """

    image: Mapping[str, str]
    ranks: Mapping[str, Mapping[str, Any]]
    gid_indices: Mapping[str, int | None]
    transport: str
    backend: str
    buffer: int


@dataclass(frozen=True)
class _Rank:
    host: str
    environment: Mapping[str, str]
    devices: Sequence[str]
    capabilities: Sequence[str]


def bounded(wish: int, available: Sequence[int]) -> int:
    """Bytes of the all-gather: the wish, or a sixteenth of the free memory of the host that has least.

    :param available: MemAvailable of each host in bytes; 0 where it is not known
    """
    return int(min([wish, *(free * SHARE for free in available)]))


def part(pair: Pair, looks: Mapping[str, Mapping[str, Any]], choice: Choice) -> Part:
    """Rank 0 on the server, rank 1 on the client, which reports."""
    two = _two(pair, choice)
    transport = group.ROCE if two[0].devices else group.SOCKET
    over = [link.client["rdma_device" if transport == group.ROCE else "interface"] for link in pair.links]
    measurement: dict[str, Any] = {
        "kind": ALL_GATHER,
        "over": over,
        "jobs": [],
        "skipped": "",
        "remedy": "",
        "transport": transport,
        "environment": dict(two[1].environment),
    }
    size = bounded(choice.buffer, [looks[rank.host]["memory_available"] for rank in two])
    skipped, remedy = _lacking(pair, looks, choice, size)
    if skipped:
        return Part([], [{**measurement, "skipped": skipped, "remedy": remedy}])
    meeting = address(pair.links[0].server)
    jobs = []
    for number, rank in enumerate(two):
        order = {
            "rank": number,
            "world_size": 2,
            "address": f"[{meeting}]" if ":" in meeting else meeting,
            "port": PORT,
            "bytes": size,
            "backend": choice.backend,
            "limit": LIMIT,
        }
        argv = _argv(rank, choice.image[rank.host], choice.backend, order)
        jobs.append({"name": f"{ALL_GATHER}-{number}", "argv": argv, "limit": LIMIT + 20})
    server, client = jobs
    return Part(
        [{**server, "address": meeting}],
        [{**measurement, "bytes": size, "jobs": [{**client, "port_of": server["name"]}]}],
    )


def _lacking(pair: Pair, looks: Mapping[str, Mapping[str, Any]], choice: Choice, size: int) -> tuple[str, str]:
    for host in (pair.client, pair.server):
        image = choice.image.get(host, "")
        if not image:
            return f"no image is known for {host}", "set serving_image, or give -e fabric_test_image=IMAGE"
        if "docker" not in looks[host]["tools"]:
            return f"{host} has no Docker", "run the playbook prepare"
        if not looks[host]["image"]:
            return f"{host} does not have image {image}", f"pull it there: docker pull {image}"
    if size < LEAST:
        return "a host has too little free memory", "stop what uses it"
    return "", ""


def _two(pair: Pair, choice: Choice) -> list[_Rank]:
    """Both ranks: as the plan has them where it has these two in one replica, else as it would."""
    hosts = (pair.server, pair.client)
    planned = [choice.ranks.get(host, {}) for host in hosts]
    if all(planned) and planned[0]["replica"] == planned[1]["replica"]:
        return [
            _Rank(
                host,
                {**_fabric_only(rank["container"].get("env") or {}), **_LOUD},
                rank["container"].get("devices") or [],
                rank["container"].get("capabilities") or [],
            )
            for host, rank in zip(hosts, planned, strict=True)
        ]
    links = {
        pair.server: [link.server for link in pair.links],
        pair.client: [link.client for link in pair.links],
    }
    transport = fabric.transport_for(choice.transport, links)[0]
    members = tuple(ranks.member(host, links[host], choice.gid_indices.get(host), alone=False) for host in hosts)
    together = group.Group(members, transport)
    return [
        _Rank(host, {**group.environment(together, number), **_LOUD}, together.devices, together.capabilities)
        for number, host in enumerate(hosts)
    ]


def _fabric_only(environment: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(value) for name, value in environment.items() if name.startswith(_PREFIXES)}


def _argv(rank: _Rank, image: str, backend: str, order: Mapping[str, Any]) -> list[str]:
    options = [] if backend != NCCL else ["--gpus", "all"]
    for limit in ULIMITS:
        options += ["--ulimit", limit.replace(":", "=", 1)]
    for device in rank.devices:
        options += ["--device", device]
    for capability in rank.capabilities:
        options += ["--cap-add", capability]
    for name, value in sorted(rank.environment.items()):
        options += ["--env", f"{name}={value}"]
    return [
        *("docker", "run", "--rm", "--init", "--pull", "never", "--name", CONTAINER, "--network", "host"),
        *("--ipc", "host", *options, "--entrypoint", "python3", image, "-c", source(), json.dumps(order)),
    ]


def source() -> str:
    """The program that runs inside the image."""
    spec = in_engine.__spec__
    text = spec.loader.get_source(spec.name)  # type: ignore[union-attr]
    # Ansible's own loader gives bytes, the one that a module on a host is loaded by gives text.
    return text.decode() if isinstance(text, bytes) else str(text)
