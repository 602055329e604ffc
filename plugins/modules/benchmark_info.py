#!/usr/bin/python
# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Say what the engines on a host were started with."""

from __future__ import annotations

DOCUMENTATION = r"""
module: benchmark_info
short_description: Say what the engines on a host were started with
version_added: 0.1.0
description:
  - Reads the containers of this collection that run, and asks their engines for version and context length.
  - The result of a benchmark says by it what was measured. Secrets are left out.
extends_documentation_fragment:
  - dgxspark.serving.attributes
"""

EXAMPLES = r"""
- name: See what is measured
  dgxspark.serving.benchmark_info:
  become: true
"""

RETURN = r"""
ranks:
  description: Those that run.
  returned: always
  type: list
  elements: dict
  contains:
    name:
      description: Name of the container.
      type: str
    deployment:
      description: Its deployment.
      type: str
    replica:
      description: Its replica.
      type: str
    rank:
      description: Its rank in the replica.
      type: int
    spec_digest:
      description: Changes with its options.
      type: str
    image:
      description: The image as it was asked for.
      type: str
    image_id:
      description: Id of the image in the host's store.
      type: str
    image_digest:
      description: The digest that a registry knows it by, otherwise its id.
      type: str
    argv:
      description: Its command line, without secrets.
      type: list
      elements: str
    env:
      description: What of its environment has to do with speed.
      type: dict
    started_at:
      description: Time of its last start.
      type: str
    version:
      description: The engine's own word for its version; empty for ranks other than 0.
      type: str
    max_model_len:
      description: Tokens of the longest context; V(null) where the engine does not say.
      type: int
"""

from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.dgxspark.serving.plugins.module_utils import engine_key
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.provenance import running
from ansible_collections.dgxspark.serving.plugins.module_utils.containers import API_LABEL
from ansible_collections.dgxspark.serving.plugins.module_utils.docker_cli import Docker
from ansible_collections.dgxspark.serving.plugins.module_utils.engine_api import EngineApi
from ansible_collections.dgxspark.serving.plugins.module_utils.engines.keyed import KEY_MOUNT
from ansible_collections.dgxspark.serving.plugins.module_utils.images.image import registry_digests


def described(docker: Docker, inspected: dict[str, Any]) -> dict[str, Any]:
    """One container, with what its image and its engine say of themselves."""
    rank = running.rank_of(inspected)
    image = docker.image(rank["image_id"])
    known = registry_digests({"repo_digests": image.repo_digests}) if image else set()
    return {**rank, "image_digest": min(known, default=rank["image_id"]), **asked(inspected)}


def asked(inspected: dict[str, Any]) -> dict[str, Any]:
    """What the engine says; nothing where there is none or where it wants another key."""
    url = (inspected["Config"].get("Labels") or {}).get(API_LABEL, "")
    if not url:
        return {"version": "", "max_model_len": None}
    mounts = {mount["Destination"]: mount.get("Source", "") for mount in inspected.get("Mounts") or ()}
    try:
        key = engine_key.read_key(mounts[KEY_MOUNT]) if KEY_MOUNT in mounts else ""
    except (OSError, ValueError):
        key = ""
    api = EngineApi(url, key)
    return {"version": api.version(), "max_model_len": api.context()}


def main() -> None:
    module = AnsibleModule(argument_spec={}, supports_check_mode=True)
    docker = Docker(module)
    module.exit_json(changed=False, ranks=[described(docker, inspected) for inspected in docker.running()])


if __name__ == "__main__":
    main()
