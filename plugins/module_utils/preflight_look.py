# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read what the preflight judges: an edge. A Docker that does not answer is a finding here, and no error."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils import ports
from ansible_collections.dgxspark.serving.plugins.module_utils.checks import judge
from ansible_collections.dgxspark.serving.plugins.module_utils.checks.want import Want
from ansible_collections.dgxspark.serving.plugins.module_utils.containers import Container
from ansible_collections.dgxspark.serving.plugins.module_utils.docker_cli import Docker, Runner
from ansible_collections.dgxspark.serving.plugins.module_utils.facts import (
    docker_info,
    image_versions,
    look,
    nvidia_smi,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.raw import Output, Raw


class DockerSilent(Exception):
    """There is no Docker, or it does not answer."""


class _Asker:
    """The module, but for its way to fail."""

    def __init__(self, module: Runner) -> None:
        self.run_command = module.run_command
        self._module = module

    def get_bin_path(self, arg: str, required: bool) -> str:
        """Find a command."""
        path = self._module.get_bin_path(arg, required=False)
        if not path and required:
            raise DockerSilent
        return path

    def fail_json(self, msg: str) -> Any:
        """Instead of ending the module."""
        raise DockerSilent(msg)


def docker(module: Runner) -> tuple[Docker | None, list[Container]]:
    """The host's Docker with all of its containers; None when it does not answer."""
    try:
        found = Docker(_Asker(module))
        return found, found.containers()
    except DockerSilent:
        return None, []


def read(want: Want, containers: Sequence[Container]) -> Raw:
    """What the groups of checks want to see.

    :param containers: all containers of the host
    """
    inside = image_versions.sources(want.image if want.versions else "")
    raw = look.look(judge.sources(want) | inside)
    more = {
        "python": Output(0, platform.python_version()),
        "uname": Output(0, platform.machine()),
    }
    root = docker_info.root_dir(raw)
    if root:
        more["disk"] = _disk(root)
    pids = [process.pid for process in nvidia_smi.processes(raw) or ()]
    if pids:
        more["our_pids"] = _ours(pids, {container.id for container in containers if container.is_ours})
    return replace(raw, outputs={**raw.outputs, **more})


def _disk(folder: str) -> Output:
    """Bytes free for users, and in all, of the file system that holds a folder."""
    try:
        found = os.statvfs(folder)
    except OSError as error:
        return Output(1, err=str(error))
    return Output(0, f"{found.f_bavail * found.f_frsize} {found.f_blocks * found.f_frsize}")


def _ours(pids: Sequence[int], ours: set[str]) -> Output:
    """Those of some processes that run in our containers."""
    found = []
    for pid in pids:
        try:
            text = Path(f"/proc/{pid}/cgroup").read_text(encoding="ascii", errors="replace")
        except OSError:
            continue  # gone meanwhile
        if ports.container_id(text) in ours:
            found.append(pid)
    return Output(0, "\n".join(map(str, found)))
