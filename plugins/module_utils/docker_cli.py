# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The host's Docker, by its command: an edge, it runs processes. Changes go through community.docker, not here."""

from __future__ import annotations

import json
from typing import Any, Protocol

from ansible_collections.dgxspark.serving.plugins.module_utils.containers import DEPLOYMENT_LABEL, Container, read
from ansible_collections.dgxspark.serving.plugins.module_utils.images.image import Image, read_images

# Last log lines that are kept.
LOG_LINES = 25


class Runner(Protocol):
    """What this needs of an ``AnsibleModule``."""

    def get_bin_path(self, arg: str, required: bool) -> str: ...
    def run_command(self, args: list[str]) -> tuple[int, str, str]: ...
    def fail_json(self, msg: str) -> Any: ...


class Docker:
    """Read-only questions to the Docker Engine; a Docker that does not answer ends the module with a remedy."""

    def __init__(self, module: Runner) -> None:
        self.module = module
        self.command = module.get_bin_path("docker", required=True)

    def containers(self) -> list[Container]:
        """All containers, ended ones too."""
        rc, out, err = self._run("container", "ls", "--all", "--quiet", "--no-trunc")
        if rc:
            self._fail(err)
        names = out.split()
        return self._inspect(names) if names else []

    def container(self, name: str) -> Container | None:
        """One container, or None when there is none of this name."""
        return next(iter(self._inspect([name])), None)

    def running(self) -> list[dict[str, Any]]:
        """Docker's whole description of each container of ours that runs."""
        rc, out, err = self._run("container", "ls", "--quiet", "--no-trunc", "--filter", f"label={DEPLOYMENT_LABEL}")
        if rc:
            self._fail(err)
        names = out.split()
        return self._described(names) if names else []

    def image(self, name: str) -> Image | None:
        """The image that has this name now, or None."""
        rc, out, err = self._run("image", "inspect", name)
        if rc and "no such image" not in err.lower():
            self._fail(err)
        return next(iter(read_images(json.loads(out or "[]"))), None)

    def log(self, name: str, lines: int = LOG_LINES) -> list[str]:
        """The last lines that the container wrote."""
        _rc, out, err = self._run("container", "logs", "--tail", str(lines), name)
        # Docker keeps the two streams apart; vLLM writes its own lines to the second.
        return [line for line in (out + err).splitlines() if line.strip()][-lines:]

    def _inspect(self, names: list[str]) -> list[Container]:
        return read(self._described(names))

    def _described(self, names: list[str]) -> list[dict[str, Any]]:
        rc, out, err = self._run("container", "inspect", *names)
        # A container that went away meanwhile is left out of the answer; the others are in it.
        if rc and "No such container" not in err:
            self._fail(err)
        described: list[dict[str, Any]] = json.loads(out or "[]")
        return described

    def _run(self, *arguments: str) -> tuple[int, str, str]:
        return self.module.run_command([self.command, *arguments])

    def _fail(self, error: str) -> None:
        remedy = "Start it with: systemctl start docker"
        if "permission denied" in error.lower():
            remedy = "Add the user to the group docker and log in anew, or set ansible_become for the host"
        self.module.fail_json(msg=f"Docker does not answer: {' '.join(error.split())}. {remedy}.")
