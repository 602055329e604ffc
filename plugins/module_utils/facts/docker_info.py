# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What ``docker info`` says, and how Docker is installed. Pure; every key of its JSON is optional."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.facts.raw import LATE, MISSING, Output, Raw, Sources

INFO = "docker_info"
DAEMON_JSON = "/etc/docker/daemon.json"
PACKAGED = ("/usr/bin/docker", "/usr/local/bin/docker")
SNAP = "/snap/bin/docker"
SNAP_DATA = "/var/snap/"
GROUPS = "/etc/group"
# The groups of the session that looks, which are those it had when it began.
SESSION = "/proc/self/status"
GROUP = "docker"

SOURCES = Sources(
    files=(DAEMON_JSON, GROUPS, SESSION),
    links=(*PACKAGED, SNAP),
    commands={INFO: ("docker", "info", "--format", "{{json .}}")},
)

# Why Docker does not answer.
NOT_INSTALLED, NO_ANSWER, DENIED, NOT_DOCKER, DOWN, UNREADABLE = (
    "not_installed",
    "no_answer",
    "denied",
    "not_docker",
    "down",
    "unreadable",
)


@dataclass(frozen=True)
class Engine:
    """What Docker says of itself.

    :ivar trouble: why it does not answer; empty when it does
    :ivar error: its own words then
    :ivar runtimes: path of each runtime by its name; empty where it is not said
    :ivar cdi_devices: ids of devices that CDI descriptions name, as far as this version lists them
    """

    trouble: str = ""
    error: str = ""
    version: str = ""
    root: str = ""
    storage: str = ""
    runtimes: Mapping[str, str] = field(default_factory=dict)
    cdi_devices: tuple[str, ...] = ()


def engine(raw: Raw) -> Engine:
    """Read ``docker info --format '{{json .}}'``. Its exit code is 0 in some versions even when nobody answered."""
    output = raw.output(INFO)
    if output.code in (MISSING, LATE):
        return Engine(NOT_INSTALLED if output.code == MISSING else NO_ANSWER, output.err)
    info = read_object(output.out)
    # Newer versions say the same in both places.
    error = " ".join(_texts(info, "ServerErrors")) or output.err.strip()
    version = _text(info, "ServerVersion")
    if not version:
        return Engine(_why(info, output, error), " ".join(error.split()))
    return Engine(
        version=version,
        root=_text(info, "DockerRootDir"),
        storage=_text(info, "Driver"),
        runtimes={name: _text(value, "path") for name, value in _mapping(info, "Runtimes").items()},
        cdi_devices=tuple(
            _text(device, "ID") for device in _list(info, "DiscoveredDevices") if _text(device, "Source") == "cdi"
        ),
    )


def root_dir(raw: Raw) -> str:
    """Where Docker stores; empty when it does not say."""
    return engine(raw).root


def _why(info: Mapping[str, Any], output: Output, error: str) -> str:
    if "permission denied" in error.lower():
        return DENIED
    if isinstance(info.get("host"), dict) and "ServerErrors" not in info:
        return NOT_DOCKER  # podman, which some distributions install under Docker's name
    return DOWN if error or not output.ok else UNREADABLE


def read_object(text: str) -> dict[str, Any]:
    """The JSON object in a text; an empty one when there is none."""
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def is_broken(daemon_json: str) -> bool:
    """Whether the text of daemon.json keeps Docker from starting."""
    return bool(daemon_json) and not read_object(daemon_json) and daemon_json.split() != ["{}"]


def has_runtime(daemon_json: str, name: str) -> bool:
    """Whether daemon.json names a runtime; the running Docker may not know it yet."""
    return name in _mapping(read_object(daemon_json), "runtimes")


def from_snap(raw: Raw, found: Engine) -> bool:
    """Whether Docker is the snap, which reaches neither NVIDIA's runtime nor all folders."""
    return found.root.startswith(SNAP_DATA) or (SNAP in raw.links and not any(path in raw.links for path in PACKAGED))


def members(groups: str, name: str) -> tuple[int | None, list[str]]:
    """Id and members of a group in ``/etc/group``; no id when there is no such group."""
    for line in groups.splitlines():
        fields = line.strip().split(":")
        if fields[0] == name and len(fields) == 4 and fields[2].isdigit():
            return int(fields[2]), [member for member in fields[3].split(",") if member]
    return None, []


def session_groups(status: str) -> list[int]:
    """Group ids of the session, from ``/proc/self/status``."""
    for line in status.splitlines():
        if line.startswith("Groups:"):
            return [int(word) for word in line.split()[1:] if word.isdigit()]
    return []


def _text(value: Any, key: str) -> str:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, str) else ""


def _texts(value: Any, key: str) -> list[str]:
    return [one for one in _list(value, key) if isinstance(one, str)]


def _list(value: Any, key: str) -> list[Any]:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, list) else []


def _mapping(value: Any, key: str) -> dict[str, Any]:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}
