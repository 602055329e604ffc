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


def free(path: str) -> int:
    """Bytes free on the file system of a path, or of the nearest folder above it that there is."""
    while True:
        try:
            found = os.statvfs(path)
        except FileNotFoundError:
            path = os.path.dirname(path)
            continue
        return found.f_bavail * found.f_frsize


def room_for_images(docker_root: str) -> dict[str, Any]:
    """What :func:`room.too_little` needs; empty when Docker does not say where it keeps images."""
    if not docker_root:
        return {}
    return {
        "docker_root": docker_root,
        "docker_free": free(docker_root),
        "folder_free": free(room.FOLDER),
        "shared": _device(docker_root) == _device(room.FOLDER),
    }


def _device(path: str) -> int:
    while not os.path.exists(path):
        path = os.path.dirname(path)
    return os.stat(path).st_dev
