#!/usr/bin/python
# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pull an image, in the background."""

from __future__ import annotations

DOCUMENTATION = r"""
module: image_pull
short_description: Pull an image, from mirrors first, and again where that may help
version_added: 0.1.0
description:
  - Pulls with the C(docker) command of the user who is logged in, which knows that user's registries. One that is there
    is left as it is unless O(force) is set.
  - Asks the registry before the pull for which machines it has the image, and refuses one for others; looks again
    after the pull, for a registry that cannot be asked.
  - Tries again, after a pause that doubles each time, when the registry says that there were too many requests, or when
    it did not answer in time. An image that does not exist, a missing login or a full disk fails at once.
  - Works on in the background when the connection breaks; the same task takes it up again.
extends_documentation_fragment:
  - dgxspark.serving.background
options:
  name:
    description: The image as the host is to know it.
    type: str
    required: true
  reference:
    description: What to pull for it, such as a digest of a lock; empty for the name itself.
    type: str
    default: ""
  architecture:
    description: Architecture that it must have, in Docker's words.
    type: str
    default: arm64
  mirrors:
    description: Registries, with a path if they need one, that are asked first for the image, in this order.
    type: list
    elements: str
    default: []
  attempts:
    description: How often it is tried.
    type: int
    default: 4
  delay:
    description: Seconds until the second attempt.
    type: float
    default: 10
  force:
    description: Pull also when the name is there, for it may stand for another image now.
    type: bool
    default: false
"""

EXAMPLES = r"""
- name: Have the image
  dgxspark.serving.image_pull:
    name: vllm/vllm-openai:v0.32.0
"""

RETURN = r"""
image:
  description: The image, as M(dgxspark.serving.image_info) returns it.
  returned: success, but not in check mode when it would be pulled
  type: dict
attempts:
  description: How often it was tried; 0 when it was there.
  returned: success
  type: int
source:
  description: What was pulled, which is another name when a mirror had it; empty when nothing was.
  returned: success
  type: str
job:
  description: How far the work is.
  returned: when something is pulled
  type: dict
"""

import time
from dataclasses import asdict
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.dgxspark.serving.plugins.module_utils import disk
from ansible_collections.dgxspark.serving.plugins.module_utils.background.work import JOB_OPTIONS, Progress, run_job
from ansible_collections.dgxspark.serving.plugins.module_utils.docker_cli import Docker
from ansible_collections.dgxspark.serving.plugins.module_utils.images.docker_process import DockerProcess
from ansible_collections.dgxspark.serving.plugins.module_utils.images.pull import Order, pull


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "name": {"type": "str", "required": True},
            "reference": {"type": "str", "default": ""},
            "architecture": {"type": "str", "default": "arm64"},
            "mirrors": {"type": "list", "elements": "str", "default": []},
            "attempts": {"type": "int", "default": 4},
            "delay": {"type": "float", "default": 10},
            "force": {"type": "bool", "default": False},
            **JOB_OPTIONS,
        },
        supports_check_mode=True,
    )
    options = module.params
    docker = Docker(module)
    # Work that goes on may have pulled it already, and has more to say.
    image = docker.image(options["name"]) if options["job_stage"] == "start" and not options["force"] else None
    if image:
        module.exit_json(changed=False, image=asdict(image), attempts=0, source="")
    order = Order(
        name=options["name"],
        reference=options["reference"] or options["name"],
        architecture=options["architecture"],
        mirrors=options["mirrors"],
        attempts=options["attempts"],
        delay=options["delay"],
    )

    def work(progress: Progress) -> dict[str, Any]:
        cli = DockerProcess(docker.command)
        root = cli.root() or "/"
        before = disk.free(root) or 0
        # How much there is to come nobody knows: registries count packed bytes.
        return pull(
            order, cli, lambda text: progress.tell(max(before - (disk.free(root) or 0), 0), 0, text), time.sleep
        )

    run_job(module, work)


if __name__ == "__main__":
    main()
