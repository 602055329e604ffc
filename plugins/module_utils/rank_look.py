# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The ranks that a host has, held against the one that is wanted: an edge, it asks Docker, systemd and the engines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any
from urllib.parse import urlsplit

from ansible_collections.dgxspark.serving.plugins.module_utils import (
    containers,
    engine_key,
    host_look,
    host_problems,
    rank_state,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.containers import Container
from ansible_collections.dgxspark.serving.plugins.module_utils.docker_cli import Docker
from ansible_collections.dgxspark.serving.plugins.module_utils.engine_api import EngineApi
from ansible_collections.dgxspark.serving.plugins.module_utils.engines.keyed import KEY_MOUNT
from ansible_collections.dgxspark.serving.plugins.module_utils.host_problems import Problem
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor import change, journal
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.host import Host
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.hostpaths import unit_name


@dataclass(frozen=True)
class Wanted:
    """What is wanted of the host.

    :ivar rank: the host's rank as the plan has it; empty when nothing is planned
    :ivar limits: the supervisor's limits; empty when they are not to be compared
    :ivar model_source: where the model lies on the host
    :ivar digests: SHA-256 of the files that all ranks share, by their kind
    """

    rank: Mapping[str, Any] = field(default_factory=dict)
    limits: Mapping[str, Any] = field(default_factory=dict)
    model_source: str = ""
    digests: Mapping[str, str] = field(default_factory=dict)


def look(
    host: Host, docker: Docker, found: Sequence[Container], wanted: Wanted, deployment: str = "", probe: bool = False
) -> dict[str, Any]:
    """What ``replica_info`` returns, but for ``problems``.

    :param found: all containers of the host
    :param deployment: describe ranks of this deployment only; of all when empty
    :param probe: whether to ask the engines of running containers
    :raises ValueError: the record of an unfinished change cannot be read
    """
    ours = [container for container in found if container.is_ours and deployment in ("", container.deployment)]
    left = journal.read(host.paths)
    result = {
        "containers": [_described(container, probe) for container in ours],
        "live": {container.name: host.read_json(host.paths.live(container.name)) for container in ours},
        "running": sorted({container.replica for container in ours if container.status == "running"}),
        "interrupted": change.interrupted(left) if left else "",
        "gateway": host.paths.gateway_unit.exists(),
    }
    if wanted.rank:
        result.update(_before_a_change(host, docker, found, wanted))
    return result


def _described(container: Container, probe: bool) -> dict[str, Any]:
    asked = probe and container.api and container.status == "running"
    answers = ask(container) if asked else {"health": None, "served": None, "refusal": ""}
    return {**asdict(container), **answers}


def ask(container: Container) -> dict[str, Any]:
    """What the engine of a container that runs answers, with the key that its own mount names."""
    key_file, key, unread = container.mounts.get(KEY_MOUNT, ""), "", ""
    try:
        key = engine_key.read_key(key_file) if key_file else ""
    except (OSError, ValueError) as error:
        unread = f"its key cannot be read: {error}"
    api = EngineApi(container.api, key)
    health = api.health()
    served = api.served() if health == 200 else None
    refusal = "" if api.refused is None else unread or engine_key.refusal(api.refused, key_file)
    return {"health": health, "served": served, "refusal": refusal}


def _before_a_change(host: Host, docker: Docker, found: Sequence[Container], wanted: Wanted) -> dict[str, Any]:
    image = docker.image(wanted.rank["container"]["image"])
    image_id = image.id if image else ""
    state = rank_state.look(
        host, wanted.rank, wanted.limits, found, image_id, wanted.digests, model_source=wanted.model_source
    )
    return {
        "unchanged": not state.reasons,
        "reasons": state.reasons,
        "replace": state.replace,
        "displaced": [one.name for one in state.present if not one.keep_running] if state.reasons else [],
        "image": asdict(image) if image else None,
        "problems": [],
    }


def names(rank: Mapping[str, Any], found: Sequence[Container]) -> list[Problem]:
    """Containers that stand where the rank's is to be."""
    name = rank["container"]["name"]
    return host_problems.stranger(name, containers.strange(found, name))


def ports(host: Host, rank: Mapping[str, Any], found: Sequence[Container]) -> list[Problem]:
    """Ports that the rank needs and somebody else holds."""
    listeners = host_look.listeners()
    wanted_ports = rank["ports"]
    inodes = {listener.inode for listener in listeners if listener.port in [one["port"] for one in wanted_ports]}
    return host_problems.ports(
        wanted_ports,
        listeners,
        host_look.owners(inodes) if inodes else {},
        {container.id: container.name for container in found},
        {container.id: container.name for container in found if container.is_ours},
        [*_api_ports(found), *_door_ports(host, found)],
        [unit_name(container.name) for container in running(found)],
    )


def _api_ports(found: Sequence[Container]) -> list[int]:
    return [urlsplit(container.api).port or 0 for container in running(found) if container.api]


def _door_ports(host: Host, found: Sequence[Container]) -> list[int]:
    """Where the supervisors of our running engines tell gateways of them."""
    return [door["port"] for door in (spec.get("health") for spec in _specs(host, found)) if door]


def running(found: Sequence[Container]) -> list[Container]:
    """Those of ours that run."""
    return [container for container in found if container.is_ours and container.status == "running"]


def shares(host: Host, found: Sequence[Container]) -> list[float | None]:
    """Of all memory, what each running engine of ours takes; None where its spec does not say."""
    return [spec.get("memory_share") for spec in _specs(host, found)]


def _specs(host: Host, found: Sequence[Container]) -> list[dict[str, Any]]:
    """What the supervisors of our running engines were told."""
    return [host.read_json(host.paths.spec(container.name)) or {} for container in running(found)]


def problems(host: Host, found: Sequence[Container], wanted: Wanted) -> list[Problem]:
    """What keeps the wanted rank from working on this host."""
    rank = wanted.rank
    share, floor = rank["supervision"]["memory_share"], int(wanted.limits.get("memory_floor", 0))
    return [
        *names(rank, found),
        *ports(host, rank, found),
        *host_problems.links(rank["links"], host_look.addresses(host.run) if rank["links"] else {}),
        *host_problems.memory(host_look.memory(), share, floor, shares(host, found)),
    ]
