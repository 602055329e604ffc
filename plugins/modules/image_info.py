#!/usr/bin/python
# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Look at an image on a host, at a file of one, and at the room for it."""

from __future__ import annotations

DOCUMENTATION = r"""
module: image_info
short_description: Look at an image on a host
version_added: 0.1.0
description:
  - Says which image a name stands for on the host, what is in a file of C(docker save), how much room there is, and
    on request which versions of vLLM, PyTorch, NCCL and others the image has.
  - Versions are kept on the host, so that an image is asked once; that needs root.
extends_documentation_fragment:
  - dgxspark.serving.attributes
options:
  name:
    description: The image, by tag or digest.
    type: str
    required: true
  archive:
    description: A file that C(docker save) made, which is looked at without loading it.
    type: path
    default: ""
  versions:
    description: Also ask the image for the versions of what is in it, in a container without network and GPU.
    type: bool
    default: false
"""

EXAMPLES = r"""
- name: Look at the image
  dgxspark.serving.image_info:
    name: vllm/vllm-openai:v0.32.0
  become: true
"""

RETURN = r"""
image:
  description: The image; null when the host does not have it.
  returned: always
  type: dict
  contains:
    id:
      description: Docker's id of it, which differs between Docker's two image stores.
      type: str
    repo_digests:
      description: Digests of registries, with the names of the images there.
      type: list
      elements: str
    architecture:
      description: Its architecture, in Docker's words.
      type: str
    layers:
      description: SHA-256 of its layers, unpacked.
      type: list
      elements: str
    size:
      description: Bytes, as Docker counts them.
      type: int
    entrypoint:
      description: What it runs when nothing else is said.
      type: list
      elements: str
archive:
  description:
    - What is in the file; null when there is no file, or none was asked for.
    - C(problem) says in words why it is no image; the other values are empty then.
  returned: always
  type: dict
room:
  description: Bytes free where Docker keeps images and where we keep files of them, and whether that is one disk.
  returned: always
  type: dict
versions:
  description: Versions by name; empty when the image did not say, or was not asked.
  returned: always
  type: dict
"""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.dgxspark.serving.plugins.module_utils.docker_cli import Docker
from ansible_collections.dgxspark.serving.plugins.module_utils.images import answers, archive, probe
from ansible_collections.dgxspark.serving.plugins.module_utils.images.docker_process import (
    DockerProcess,
    room_for_images,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.hostpaths import HostPaths

NOTHING: dict[str, Any] = {"tags": [], "architecture": "", "layers": [], "config": ""}


def look_into(path: Path, wanted: str) -> dict[str, Any] | None:
    """What is in a file; None when there is none."""
    if not path.is_file():
        return None
    try:
        return {**asdict(archive.read(path, wanted)), "problem": ""}
    except archive.NotAnImage as error:
        return {**NOTHING, "problem": str(error)}
    except OSError as error:
        return {**NOTHING, "problem": f"it cannot be read ({error.strerror})"}


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "name": {"type": "str", "required": True},
            "archive": {"type": "path", "default": ""},
            "versions": {"type": "bool", "default": False},
        },
        supports_check_mode=True,
    )
    options = module.params
    docker = Docker(module)
    image = docker.image(options["name"])
    said = None
    if image and options["versions"]:
        asked = probe.question("", [], [])
        said, _why = answers.ask(docker, image.id, asked, HostPaths().probes, not module.check_mode)
    module.exit_json(
        changed=False,
        image=asdict(image) if image else None,
        archive=look_into(Path(options["archive"]), options["name"]) if options["archive"] else None,
        room=room_for_images(DockerProcess(docker.command).root()),
        versions=said["versions"] if said else {},
    )


if __name__ == "__main__":
    main()
