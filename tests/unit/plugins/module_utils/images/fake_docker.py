# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A ``docker`` whose images are files in a folder: ``save`` and ``load`` carry the file's content."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from ansible_collections.dgxspark.serving.plugins.module_utils.images.docker_process import DockerProcess

_PROGRAM = """\
import json, pathlib, sys
images = pathlib.Path({images!r})
verb, *rest = sys.argv[1:]
def file(name):
    return images / name.replace("/", "%")
def known(name):
    for path in images.iterdir():
        if path == file(name) or json.loads(path.read_text())["Id"] == name:
            return path
    sys.exit("Error response from daemon: No such image: " + name)
if verb == "image":
    print("[" + known(rest[1]).read_text() + "]")
elif verb == "info":
    print({root!r})
elif verb == "tag":
    file(rest[1]).write_text(known(rest[0]).read_text())
elif verb == "save":
    image = json.loads(known(rest[0]).read_text())
    sys.stdout.write(json.dumps({{"name": rest[0], "image": image}}))
elif verb == "load":
    try:
        said = json.loads(sys.stdin.read())
    except ValueError:
        sys.exit("invalid tar header")
    print("Loaded image: " + said["name"] if said["name"] else "Loaded image ID: " + said["image"]["Id"])
    file(said["name"] or said["image"]["Id"]).write_text(json.dumps(said["image"]))
"""


class FakeDocker(DockerProcess):
    """:ivar images: folder with a file for each name"""

    def __init__(self, folder: Path) -> None:
        self.images = folder / "images"
        self.images.mkdir(parents=True)
        program = folder / "docker"
        text = _PROGRAM.format(images=str(self.images), root=str(self.images))
        program.write_text(f"#!{sys.executable}\n{text}", encoding="utf-8")
        program.chmod(0o755)
        super().__init__(str(program))

    def give(self, name: str, content: str, architecture: str = "arm64", size: int = 100) -> dict[str, object]:
        """Have an image."""
        image = {"Id": f"sha256:{content}", "Architecture": architecture, "RootFS": {"Layers": [content]}, "Size": size}
        (self.images / name.replace("/", "%")).write_text(json.dumps(image), encoding="utf-8")
        return image
