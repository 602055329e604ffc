#!/usr/bin/python
# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Load an image from a file, in the background."""

from __future__ import annotations

DOCUMENTATION = r"""
module: image_load
short_description: Load an image from a file
version_added: 0.1.0
description:
  - Gives the file to C(docker load), gives the image its name if it has another one there, and sees that it is the
    right one.
  - The file of the fan-out is removed then, with all that earlier runs have left beside it.
  - Needs root.
extends_documentation_fragment:
  - dgxspark.serving.background
options:
  name:
    description: The image as the host is to know it.
    type: str
    required: true
  path:
    description: A file of C(docker save), instead of the one that the fan-out brought under O(key).
    type: path
  key:
    description: Name of the file that the fan-out brought, without its ending.
    type: str
  layers:
    description: SHA-256 of the layers that the image must have, in their order; empty for any.
    type: list
    elements: str
    default: []
  architecture:
    description: Architecture that it must have, in Docker's words.
    type: str
    default: arm64
"""

EXAMPLES = r"""
- name: Load the image
  dgxspark.serving.image_load:
    name: vllm/vllm-openai:v0.32.0
    path: /media/usb/vllm.tar
  become: true
"""

RETURN = r"""
image:
  description: The image, as M(dgxspark.serving.image_info) returns it.
  returned: success, but not in check mode
  type: dict
job:
  description: How far the work is.
  returned: success, but not in check mode
  type: dict
"""

from pathlib import Path
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.dgxspark.serving.plugins.module_utils.background.work import JOB_OPTIONS, Progress, run_job
from ansible_collections.dgxspark.serving.plugins.module_utils.images.carry import Load, file_of, load
from ansible_collections.dgxspark.serving.plugins.module_utils.images.docker_process import DockerProcess
from ansible_collections.dgxspark.serving.plugins.module_utils.images.image import layers_digest


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "name": {"type": "str", "required": True},
            "path": {"type": "path"},
            "key": {"type": "str", "no_log": False},
            "layers": {"type": "list", "elements": "str", "default": []},
            "architecture": {"type": "str", "default": "arm64"},
            **JOB_OPTIONS,
        },
        required_one_of=[("path", "key")],
        mutually_exclusive=[("path", "key")],
        supports_check_mode=True,
    )
    options = module.params
    docker = DockerProcess(module.get_bin_path("docker", required=True))
    wanted = Load(
        name=options["name"],
        path=Path(options["path"]) if options["path"] else file_of(options["key"]),
        layers=layers_digest(options["layers"]),
        architecture=options["architecture"],
        keep=bool(options["path"]),
    )

    def work(progress: Progress) -> dict[str, Any]:
        return load(docker, wanted, progress.tell)

    run_job(module, work)


if __name__ == "__main__":
    main()
