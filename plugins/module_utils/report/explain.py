# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan as the commands that a person would type, and the files that a person would write."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.report.gateway_files import gateway_files
from ansible_collections.dgxspark.serving.plugins.module_utils.report.table import table

HEADER = ("replica", "rank", "host", "size", "transport", "endpoint")


def explain(plan: Mapping[str, Any]) -> list[str]:
    """Lines that show all of a plan: who serves what, one command for each rank, workers first, the gateway's files."""
    rows = []
    lines = []
    for replica in plan["replicas"]:
        for number, host in enumerate(replica["hosts"]):
            endpoint = replica["endpoint"] if number == 0 else "-"
            sizes = f"TP={replica['tensor_parallel_size']} PP={replica['pipeline_parallel_size']}"
            way = " ".join(filter(None, (replica["backend"], replica["transport"])))
            rows.append((replica["name"], str(number), host, sizes, way or "-", endpoint))
        for host in reversed(replica["hosts"]):
            lines += ["", f"# {host}: rank {plan['ranks'][host]['rank']} of {replica['name']}"]
            lines += folded(docker_run(plan["ranks"][host]))
    gateway = plan.get("gateway")
    return [*table(HEADER, rows), *lines, *(gateway_files(gateway) if gateway else [])]


def docker_run(rank: Mapping[str, Any]) -> list[list[str]]:
    """A rank's ``docker run`` as groups of words that belong together.

    The model's folder on the host is known only there, so it stays a word in capitals.
    """
    container = rank["container"]
    groups = [["docker", "run", "--detach"], ["--name", container["name"]], ["--network", "host"], ["--ipc", "host"]]
    groups += [["--gpus", "all"], ["--restart", "no"]]
    groups += [["--ulimit", _ulimit(limit)] for limit in container["ulimits"]]
    groups += [["--device", device] for device in container["devices"]]
    groups += [["--cap-add", capability] for capability in container["capabilities"]]
    groups.append(["--volume", f"MODEL_ON_HOST:{container['model_mount']}:ro"])
    groups += [["--volume", f"{mount['source']}:{mount['target']}:ro"] for mount in container["mounts"]]
    groups += [["--env", f"{name}={value}"] for name, value in container["env"].items()]
    groups += [["--label", f"{name}={value}"] for name, value in container["labels"].items()]
    entrypoint, *first = container["entrypoint"]
    groups += [["--entrypoint", entrypoint], [container["image"]]]
    return groups + _pairs([*first, *container["command"]])


def _ulimit(limit: str) -> str:
    """``name:soft:hard`` as the command line has it."""
    name, rest = limit.split(":", 1)
    return f"{name}={rest}"


def _pairs(words: Sequence[str]) -> list[list[str]]:
    """Flags with their values; what stands before the first flag together."""
    groups: list[list[str]] = [[]]
    for word in words:
        if word.startswith("-") and groups[-1]:
            groups.append([])
        groups[-1].append(word)
    return [group for group in groups if group]


def folded(groups: Sequence[Sequence[str]]) -> list[str]:
    """A command over several lines, to paste into a shell."""
    lines = [" ".join(shlex.quote(word) for word in group) for group in groups]
    return [lines[0] + " \\", *[f"  {line} \\" for line in lines[1:-1]], f"  {lines[-1]}"]
