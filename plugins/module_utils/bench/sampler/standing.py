# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is looked at once before a run and once after it: who computes on the GPU, and room on disks. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.facts import docker_info, nvidia_smi
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.raw import Raw, Sources

KEYS = ("gpu_processes", "disk")
SOURCES = Sources(
    commands={
        nvidia_smi.PROCESSES: nvidia_smi.SOURCES.commands[nvidia_smi.PROCESSES],
        docker_info.INFO: docker_info.SOURCES.commands[docker_info.INFO],
    }
)


def folders(raw: Raw, wanted: list[str]) -> list[str]:
    """Folders whose disks matter: those that are wanted, and where Docker stores; each once."""
    return [path for path in dict.fromkeys([*wanted, docker_info.root_dir(raw)]) if path]


def read(raw: Raw, rooms: Mapping[str, tuple[int, int] | None]) -> dict[str, Any]:
    """``gpu_processes`` and ``disk``.

    :param rooms: bytes free and in all of the disk of each folder; None where the file system does not say
    :returns: processes as ``pid``, ``name`` and ``memory_mib``, which is None where the driver does not say it; None
        for all of them when nvidia-smi does not answer. Disks in bytes, by folder
    """
    found = nvidia_smi.processes(raw)
    processes = None
    if found is not None:
        processes = [{"pid": one.pid, "name": one.command, "memory_mib": one.memory} for one in found]
    disks = {
        path: {"free": room[0] if room else None, "total": room[1] if room else None} for path, room in rooms.items()
    }
    return {"gpu_processes": processes, "disk": disks}


def both(before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> dict[str, Any]:
    """What was so before and after, by key as a host's snapshots have it; None for a time at which nobody looked."""
    return {key: {"before": (before or {}).get(key), "after": (after or {}).get(key)} for key in KEYS}


def joined(parts: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Of several parts of a run what was so before the first and after the last one that says it."""
    found: dict[str, dict[str, Any]] = {key: {"before": None, "after": None} for key in KEYS}
    for part in parts:
        for key, times in found.items():
            said = part.get(key) or {}
            times["before"] = said.get("before") if times["before"] is None else times["before"]
            times["after"] = times["after"] if said.get("after") is None else said["after"]
    return found


def encoded(found: Mapping[str, Any]) -> str:
    """To be kept in a file until the end."""
    return json.dumps(found)


def decoded(text: str) -> dict[str, Any] | None:
    """What was kept; None when it cannot be read."""
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
