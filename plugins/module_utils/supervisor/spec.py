# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What one supervisor is told about its rank: the supervision spec, as the plan and the role write it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any


class SpecError(Exception):
    """The spec cannot be used; the text says why."""


@dataclass(frozen=True)
class Limits:
    """When something counts as broken. Bytes, seconds and counts.

    :ivar memory_floor: a running container is killed when MemAvailable of its host is under it
    :ivar hung_after: seconds with requests and without one new token
    :ivar start_timeout: seconds from the order to start until ``/health`` is 200
    :ivar stop_timeout: seconds an engine gets for its own end when an operator stops it
    :ivar memory_wait: seconds to wait for memory after a stop before a start is tried anyway
    :ivar peer_timeout: seconds without a word after which a peer counts as lost
    :ivar restart_limit: so many restarts within ``restart_window`` seconds are allowed
    """

    memory_floor: int
    hung_after: float
    start_timeout: float
    stop_timeout: float
    memory_wait: float
    peer_timeout: float
    restart_limit: int
    restart_window: float


@dataclass(frozen=True)
class Health:
    """Where gateways ask whether a replica is ready: TCP."""

    address: str
    port: int


@dataclass(frozen=True)
class Spec:
    """:ivar address: control address of this rank; empty when the replica has one host
    :ivar peers: address by rank of all other ranks
    :ivar api: base URL of the engine on this host; empty on ranks other than 0
    :ivar memory_share: share of MemTotal that the engine takes
    :ivar served_model_name: name under which the engine serves; empty in specs of older versions
    :ivar health: where gateways ask; None where nobody asks
    :ivar key_file: file with the key that the engine wants; empty when it wants none
    """

    container: str
    deployment: str
    replica: str
    generation: str
    rank: int
    world_size: int
    address: str
    group_port: int
    peers: Mapping[int, str]
    api: str
    memory_share: float
    limits: Limits
    served_model_name: str = ""
    health: Health | None = None
    key_file: str = ""


def parse(text: str | bytes) -> Spec:
    """Read a spec file.

    :raises SpecError: the text is not a sound spec
    """
    try:
        data = json.loads(text)
        peers = {int(peer["rank"]): str(peer["address"]) for peer in data["peers"]}
        limits = Limits(**{field.name: _number(data["limits"], field.name) for field in fields(Limits)})
        health = data.get("health")
        spec = Spec(
            container=str(data["container"]),
            deployment=str(data["deployment"]),
            replica=str(data["replica"]),
            generation=str(data["generation"]),
            rank=int(data["rank"]),
            world_size=int(data["world_size"]),
            address=str(data["address"]),
            group_port=int(data["group_port"]),
            peers=peers,
            api=str(data["api"]),
            memory_share=float(data["memory_share"]),
            limits=limits,
            served_model_name=str(data.get("served_model_name", "")),
            health=Health(str(health["address"]), int(health["port"])) if health else None,
            key_file=str(data.get("key_file", "")),
        )
    except KeyError as error:
        raise SpecError(f"the supervision spec has no {error.args[0]}; deploy again") from error
    except (ValueError, TypeError) as error:
        raise SpecError(f"the supervision spec cannot be read ({error}); deploy again") from error
    if sorted([spec.rank, *peers]) != list(range(spec.world_size)):
        raise SpecError(
            f"the supervision spec names ranks {sorted([spec.rank, *peers])}, and its world_size is {spec.world_size}; "
            "deploy again"
        )
    return spec


def _number(limits: Mapping[str, Any], name: str) -> Any:
    value = limits[name]
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value < 0:
        raise ValueError(f"limits.{name} is {value!r} and not a number from 0 up")
    return value
