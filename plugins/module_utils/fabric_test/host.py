# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a host says before a test: its links, tools, image, memory, and the engines that run there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.containers import DEPLOYMENT_LABEL
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.raw import Raw, Sources
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.memory import parse_meminfo

TOOLS = ("iperf3", "ib_write_bw", "ib_write_lat", "docker")
_INTERFACE = "/sys/class/net/{}/{}"
_DEVICES = "/sys/class/infiniband/"
_MEMORY = "/proc/meminfo"


def sources(interfaces: Iterable[str], image: str) -> Sources:
    """What to read and run.

    :param image: the engine's image; empty when there is none to look for
    """
    running = ("docker", "container", "ls", "--filter", f"label={DEPLOYMENT_LABEL}", "--format", "{{.Names}}")
    commands = {"engines": running}
    if image:
        commands["image"] = ("docker", "image", "inspect", "--format", "{{.Architecture}}", image)
    files = [_INTERFACE.format(name, fact) for name in interfaces for fact in ("speed", "mtu", "operstate")]
    return Sources(files=(*files, _MEMORY), links=(_DEVICES + "*",), commands=commands)


def read(raw: Raw, interfaces: Iterable[str], tools: Sequence[str]) -> dict[str, Any]:
    """The host as plain data.

    :param tools: which of TOOLS there are
    :returns: ``tools``; ``links``, for each interface ``speed`` in Mb/s and ``mtu`` (0 where unknown) and ``state``
        (empty when there is no such interface); ``rdma_devices``; ``engines``, names of our running containers;
        ``image``, whether it is there; ``memory_available`` in bytes, 0 where unknown
    """
    links = {
        name: {
            "speed": _number(raw.text(_INTERFACE.format(name, "speed"))),
            "mtu": _number(raw.text(_INTERFACE.format(name, "mtu"))),
            "state": raw.text(_INTERFACE.format(name, "operstate")),
        }
        for name in interfaces
    }
    try:
        available = parse_meminfo(raw.text(_MEMORY)).available
    except ValueError:
        available = 0
    return {
        "tools": list(tools),
        "links": links,
        "rdma_devices": sorted(path.removeprefix(_DEVICES) for path in raw.links),
        "engines": raw.output("engines").out.split(),
        "image": raw.output("image").ok,
        "memory_available": available,
    }


def is_up(look: Mapping[str, Any], interface: str) -> bool:
    """Whether a link is there and up; some drivers do not say.

    :param look: what :func:`read` gives
    """
    return look["links"].get(interface, {}).get("state", "") in ("up", "unknown")


def _number(text: str) -> int:
    # The speed of a link that is down is -1, or cannot be read.
    return int(text) if text.isdigit() else 0
