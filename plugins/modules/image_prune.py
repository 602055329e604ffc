#!/usr/bin/python
# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Remove images of a repository that nobody uses any more."""

from __future__ import annotations

DOCUMENTATION = r"""
module: image_prune
short_description: Remove images of a repository that nobody uses any more
version_added: 0.1.0
description:
  - Removes images of the wanted image's repository that are not wanted and that no container was made from, whether it
    runs or not, so that the last good one stays; and those whose name this collection gave to a newer image.
  - Also removes files of images that interrupted runs have left.
  - Needs root.
author:
  - dgxspark.serving contributors (@dgxspark)
attributes:
  check_mode:
    description: Can run in check mode and says whether it would change the host.
    support: full
  diff_mode:
    description: Returns what would change.
    support: none
options:
  name:
    description: The image that stays.
    type: str
    required: true
"""

EXAMPLES = r"""
- name: Remove old images
  dgxspark.serving.image_prune:
    name: vllm/vllm-openai:v0.32.0
  become: true
"""

RETURN = r"""
removed:
  description: Names of the images that were removed, or would be; the id of one that had no name.
  returned: always
  type: list
  elements: str
bytes:
  description: Bytes that are free now; in check mode the most that it can be, for images share layers.
  returned: always
  type: int
"""

import json
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.dgxspark.serving.plugins.module_utils import disk
from ansible_collections.dgxspark.serving.plugins.module_utils.docker_cli import Docker
from ansible_collections.dgxspark.serving.plugins.module_utils.images import carry, prune
from ansible_collections.dgxspark.serving.plugins.module_utils.images.docker_process import DockerProcess
from ansible_collections.dgxspark.serving.plugins.module_utils.images.replaced import replaced
from ansible_collections.dgxspark.serving.plugins.module_utils.images.room import FOLDER
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.hostpaths import HostPaths


def all_images(cli: DockerProcess) -> list[dict[str, Any]]:
    """Every image of the host, as Docker shows it."""
    ids = sorted(set(cli.run("image", "ls", "--quiet", "--no-trunc")[1].split()))
    return list(json.loads(cli.run("image", "inspect", *ids)[1])) if ids else []


def main() -> None:
    module = AnsibleModule(argument_spec={"name": {"type": "str", "required": True}}, supports_check_mode=True)
    docker = Docker(module)
    cli = DockerProcess(docker.command)
    used = {container.image_id for container in docker.containers()}
    wanted = {module.params["name"]}
    found = prune.old(all_images(cli), wanted, used, replaced(HostPaths().states))
    files = carry.leftovers()
    names = [reference for image in found for reference in image.references] + [path.name for path in files]
    size = sum(image.size for image in found) + sum(path.stat().st_size for path in files)
    if module.check_mode or not names:
        module.exit_json(changed=bool(names), removed=names, bytes=size)
    root = cli.root() or FOLDER
    before = disk.free(root) or 0
    errors = []
    for image in found:
        for reference in image.references:
            code, _out, error = cli.run("image", "rm", reference)
            if code and "no such image" not in error.lower():
                errors.append(" ".join(error.split()))
                names.remove(reference)
    carry.tidy()
    if errors:
        module.warn(f"Docker keeps what it says is used: {'; '.join(errors)}")
    module.exit_json(changed=bool(names), removed=names, bytes=max((disk.free(root) or 0) - before, 0))


if __name__ == "__main__":
    main()
