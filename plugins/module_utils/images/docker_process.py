# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Docker's command, run by work that goes on for long: an edge, it runs processes."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from typing import Any, cast

from ansible_collections.dgxspark.serving.plugins.module_utils import disk
from ansible_collections.dgxspark.serving.plugins.module_utils.background.work import WorkFailed
from ansible_collections.dgxspark.serving.plugins.module_utils.images import room
from ansible_collections.dgxspark.serving.plugins.module_utils.images.image import Image, read_images


class DockerProcess:
    """:ivar command: path of the program"""

    def __init__(self, command: str) -> None:
        self.command = command

    def run(self, *arguments: str) -> tuple[int, str, str]:
        """Run it to its end: exit code and both outputs."""
        done = subprocess.run([self.command, *arguments], check=False, capture_output=True, text=True)
        return done.returncode, done.stdout, done.stderr

    def follow(self, arguments: list[str], said: Callable[[str], None]) -> tuple[int, str]:
        """Run it and hand on each line as it comes: exit code and what it wrote as an error."""
        with self.process(arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
            last = ""
            for line in cast("Any", process.stdout):
                last = line.strip() or last
                said(line.strip())
        return process.returncode, last

    def process(self, arguments: list[str], **options: Any) -> subprocess.Popen[Any]:
        """Start it."""
        return subprocess.Popen([self.command, *arguments], **options)

    def image(self, name: str) -> Image | None:
        """The image that has this name now, or None.

        :raises WorkFailed: when Docker does not answer
        """
        code, out, error = self.run("image", "inspect", name)
        if code and "no such image" not in error.lower():
            raise WorkFailed(f"Docker does not answer: {' '.join(error.split())}.")
        return next(iter(read_images(json.loads(out or "[]"))), None)

    def root(self) -> str:
        """Where it keeps images; empty when it does not say."""
        return self.run("info", "--format", "{{.DockerRootDir}}")[1].strip()


def room_for_images(docker_root: str) -> dict[str, Any]:
    """What :func:`room.too_little` needs; empty when Docker or a file system does not say (field fault M08)."""
    if not docker_root:
        return {}
    docker_free, folder_free = disk.free(docker_root), disk.free(room.FOLDER)
    if docker_free is None or folder_free is None:
        return {}
    return {
        "docker_root": docker_root,
        "docker_free": docker_free,
        "folder_free": folder_free,
        "shared": os.stat(disk.nearest(docker_root)).st_dev == os.stat(disk.nearest(room.FOLDER)).st_dev,
    }
