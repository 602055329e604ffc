#!/usr/bin/python
# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write an image into a file that other hosts can take, in the background."""

from __future__ import annotations

DOCUMENTATION = r"""
module: image_save
short_description: Write an image into a file that other hosts can take
version_added: 0.1.0
description:
  - Writes it with C(docker save) to C(/var/lib/dgxspark-serving/images), with its SHA-256, once there is room for it.
    Removes files there that earlier runs have left.
  - A file that is there whole is not written again.
  - Needs root.
extends_documentation_fragment:
  - dgxspark.serving.background
options:
  name:
    description: The image.
    type: str
    required: true
  key:
    description: Name of the file, without its ending.
    type: str
    required: true
"""

EXAMPLES = r"""
- name: Save the image
  dgxspark.serving.image_save:
    name: vllm/vllm-openai:v0.32.0
    key: 4f1c2a7be09d3385
  become: true
"""

RETURN = r"""
manifest:
  description: What the fan-out is told of the file.
  returned: success, but not in check mode
  type: dict
job:
  description: How far the work is.
  returned: success, but not in check mode
  type: dict
"""

from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.dgxspark.serving.plugins.module_utils.background.work import JOB_OPTIONS, Progress, run_job
from ansible_collections.dgxspark.serving.plugins.module_utils.images.carry import save
from ansible_collections.dgxspark.serving.plugins.module_utils.images.docker_process import DockerProcess


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "name": {"type": "str", "required": True},
            "key": {"type": "str", "required": True, "no_log": False},
            **JOB_OPTIONS,
        },
        supports_check_mode=True,
    )
    docker = DockerProcess(module.get_bin_path("docker", required=True))

    def work(progress: Progress) -> dict[str, Any]:
        return save(docker, module.params["name"], module.params["key"], progress.tell)

    run_job(module, work)


if __name__ == "__main__":
    main()
