# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the rank that a host has is the wanted one, and which ranks make room for it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils import containers
from ansible_collections.dgxspark.serving.plugins.module_utils.containers import Container
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor import journal
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.change import Present
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.host import Host


@dataclass(frozen=True)
class RankState:
    """What a host has of a wanted rank.

    :ivar reasons: why it is not as wanted, in words; empty when it is
    :ivar replace: whether its container must be made anew
    :ivar present: the ranks of ours on the host, as a change takes them
    """

    reasons: list[str] = field(default_factory=list)
    replace: bool = False
    present: list[Present] = field(default_factory=list)


def supervision(rank: Mapping[str, Any], limits: Mapping[str, Any]) -> dict[str, Any]:
    """The supervision spec of a rank, limits included; older Ansible hands their numbers over as text."""
    return {**rank["supervision"], "limits": {name: _number(value) for name, value in limits.items()}}


def _number(value: Any) -> int | float:
    number = float(value)
    return int(number) if number.is_integer() else number


def sha256(content: bytes) -> str:
    """A digest of a file's content."""
    return hashlib.sha256(content).hexdigest()


def shared_files(host: Host) -> dict[str, Path]:
    """Files that all ranks of a host share, by their kind."""
    return {"program": host.paths.program, "ray_rank": host.paths.ray_rank, "unit": host.paths.unit}


def look(
    host: Host,
    rank: Mapping[str, Any],
    limits: Mapping[str, Any],
    found: Iterable[Container],
    image_id: str,
    digests: Mapping[str, str],
    replace: bool = False,
    model_source: str = "",
) -> RankState:
    """Compare a host with the rank that is wanted there.

    :param limits: the supervisor's limits that are wanted
    :param found: all containers of the host
    :param image_id: id of the wanted image here; empty when it is not there
    :param digests: SHA-256 of the shared files that are wanted, by their kind
    :param replace: whether the container is made anew anyway, since another rank of the replica is
    :param model_source: where the model lies on the host; empty when that is not looked at
    """
    wanted = rank["container"]
    name, labels = wanted["name"], wanted["labels"]
    ours = [container for container in found if container.is_ours]
    mine = next((container for container in ours if container.name == name), None)
    reasons = []
    changed = replace
    alive = False
    if mine is None:
        reasons.append(f"there is no container {name}")
    else:
        model = (model_source, wanted.get("model_mount", ""))
        digest, generation = labels[containers.DIGEST_LABEL], labels[containers.GENERATION_LABEL]
        new = containers.changes(mine, digest, generation, image_id, model)
        changed = changed or bool(new)
        reasons += new
        lame = _lame(host, name)
        alive = not lame
        reasons += [lame] if lame else []
        if not host.enabled(name):
            reasons.append("it does not start at boot")
    if mine is not None:
        if host.read_json(host.paths.spec(name)) != supervision(rank, limits):
            reasons.append("its supervision changed")
        for kind, path in shared_files(host).items():
            if kind in digests and sha256(host.read(path) or b"") != digests[kind]:
                reasons.append(f"{path} is of another version")
    left = [container.name for container in ours if container.name != name]
    if left:
        reasons.append(f"it is not alone: {', '.join(left)}")
    if journal.read(host.paths) is not None:
        reasons.append("a change is not finished")
    present = [
        Present(
            name=container.name,
            id=container.id,
            running=container.status == "running",
            container_changed=container is not mine or changed,
            keep_running=container is mine and alive and not changed,
        )
        for container in ours
    ]
    return RankState(reasons, mine is None or changed, present)


def _lame(host: Host, name: str) -> str:
    """Why nobody keeps a rank alive; empty when its supervisor does."""
    state = host.unit_state(name)
    if state != "active":
        return f"its unit is {state}"
    live = host.read_json(host.paths.live(name)) or {}
    return f"it stays down: {live.get('reason', '')}" if live.get("phase") == "down" else ""
