# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A rank as a container: its name, labels and options, and what other containers on a host mean for it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

LABEL_PREFIX = "dgxspark.serving."
DEPLOYMENT_LABEL = f"{LABEL_PREFIX}deployment"
GENERATION_LABEL = f"{LABEL_PREFIX}generation"
DIGEST_LABEL = f"{LABEL_PREFIX}spec_digest"
RANK_LABEL = f"{LABEL_PREFIX}rank"
API_LABEL = f"{LABEL_PREFIX}api"

# 64 MiB of stack for each thread, as NVIDIA's own start lines for these images have it; memory may be pinned for RDMA.
ULIMITS = ["memlock:-1:-1", "stack:67108864:67108864"]
GPU_REQUESTS = [{"driver": "nvidia", "count": -1, "capabilities": [["gpu"]]}]


def container_name(deployment: str, replica: int, rank: int) -> str:
    """The name of a rank's container, e.g. ``dgxspark-chat-0-r0``."""
    return f"dgxspark-{deployment}-{replica}-r{rank}"


def digest(spec: Any) -> str:
    """Twelve hexadecimal digits that change when anything in ``spec`` does."""
    text = json.dumps(spec, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def with_labels(specs: Sequence[dict[str, Any]], deployment: str, replica: str, api: str) -> list[dict[str, Any]]:
    """Give the ranks of one replica their labels.

    The generation is made from all ranks: a change of one recreates every rank, for a group lives and dies as a whole.

    :param specs: container options of rank 0, 1, ... without labels
    :param api: base URL of the replica's API as the host of rank 0 reaches it, so that a status needs no plan
    """
    digests = [digest(spec) for spec in specs]
    generation = digest(digests)
    return [
        {
            **spec,
            "labels": {
                DEPLOYMENT_LABEL: deployment,
                f"{LABEL_PREFIX}replica": replica,
                RANK_LABEL: str(rank),
                GENERATION_LABEL: generation,
                DIGEST_LABEL: spec_digest,
                **({API_LABEL: api} if rank == 0 else {}),
            },
        }
        for rank, (spec, spec_digest) in enumerate(zip(specs, digests, strict=True))
    ]


@dataclass(frozen=True)
class Container:
    """A container as ``docker container inspect`` shows it.

    :ivar status: ``running``, ``exited``, ``created``, ...
    :ivar deployment: the deployment it belongs to; empty when it is not ours, as are the two below
    :ivar api: base URL of its engine's API on its host; empty for ranks other than 0
    :ivar id: Docker's id of it
    :ivar rank: its rank in the replica; 0 as well when it is not ours
    :ivar generation: what it shares with the other ranks of its replica
    :ivar spec_digest: changes with its options
    :ivar image: the image as it was asked for
    :ivar image_id: id of the image that it was made from, in this host's store
    :ivar started_at: time of its last start as Docker writes it
    :ivar restarts: how often Docker itself has started it again
    :ivar mounts: what it sees of the host: for each folder in the container the one on the host
    """

    name: str
    status: str
    exit_code: int
    oom_killed: bool
    deployment: str
    replica: str
    api: str
    id: str = ""
    rank: int = 0
    generation: str = ""
    spec_digest: str = ""
    image: str = ""
    image_id: str = ""
    started_at: str = ""
    restarts: int = 0
    mounts: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_ours(self) -> bool:
        return bool(self.deployment)


def read(inspected: Iterable[Mapping[str, Any]]) -> list[Container]:
    """Read the answer of ``docker container inspect``, sorted by name."""
    found = []
    for entry in inspected:
        labels = entry["Config"].get("Labels") or {}
        found.append(
            Container(
                name=entry["Name"].removeprefix("/"),
                status=entry["State"]["Status"],
                exit_code=entry["State"]["ExitCode"],
                oom_killed=entry["State"]["OOMKilled"],
                deployment=labels.get(DEPLOYMENT_LABEL, ""),
                replica=labels.get(f"{LABEL_PREFIX}replica", ""),
                api=labels.get(API_LABEL, ""),
                id=entry.get("Id", ""),
                rank=int(labels.get(RANK_LABEL, 0)),
                generation=labels.get(GENERATION_LABEL, ""),
                spec_digest=labels.get(DIGEST_LABEL, ""),
                image=entry["Config"].get("Image", ""),
                image_id=entry.get("Image", ""),
                started_at=entry["State"].get("StartedAt", ""),
                restarts=entry.get("RestartCount", 0),
                mounts={mount["Destination"]: mount.get("Source", "") for mount in entry.get("Mounts") or ()},
            )
        )
    return sorted(found, key=lambda container: container.name)


def strange(found: Iterable[Container], wanted: str) -> str:
    """Status of a container of the wanted name that is not ours, or nothing. Such a container is never replaced."""
    return next((container.status for container in found if container.name == wanted and not container.is_ours), "")


def changes(
    container: Container, spec_digest: str, generation: str, image_id: str, model: tuple[str, str] = ("", "")
) -> list[str]:
    """Why a container of ours cannot be the wanted one, in words; empty when it is.

    :param image_id: id that the wanted image's name has on this host now; empty when it is not there
    :param model: where the model lies on the host, which is not part of the spec, and in the container; empty when it
        is not looked at
    """
    found = []
    if container.spec_digest != spec_digest:
        found.append(f"its options changed (spec digest {container.spec_digest or 'none'}, wanted {spec_digest})")
    elif container.generation != generation:
        found.append(f"another rank changed (generation {container.generation or 'none'}, wanted {generation})")
    if image_id and container.image_id != image_id:
        found.append(f"{container.image} is another image now")
    source, target = model
    if source and container.mounts.get(target) != source:
        found.append(f"its model comes from {container.mounts.get(target, 'nowhere')}, wanted {source}")
    return found
