#!/usr/bin/python
# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Look which ranks are on a host and how they are."""

from __future__ import annotations

DOCUMENTATION = r"""
module: replica_info
short_description: Look which ranks are on a host and how they are
version_added: 0.1.0
description:
  - Reads the containers that this collection made, from their labels, in one call.
extends_documentation_fragment:
  - dgxspark.serving.attributes
options:
  wanted:
    description: Name of a container that is about to be started; sorts out what stands in its way.
    type: str
    default: ""
  deployment:
    description: Only ranks of this deployment; of all when empty.
    type: str
    default: ""
  probe:
    description:
      - Also ask the engines of running containers for C(/health) and C(/v1/models).
      - No token is asked for, since that would queue behind the users' requests.
    type: bool
    default: false
"""

EXAMPLES = r"""
- name: See what runs
  dgxspark.serving.replica_info:
    probe: true
  register: here
"""

RETURN = r"""
containers:
  description: The ranks on the host, by name of their container.
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
    status:
      description: Docker's word for its state, such as V(running) or V(exited).
      type: str
    exit_code:
      description: The code that it ended with; V(0) while it runs.
      type: int
    oom_killed:
      description: Whether it was killed for lack of memory.
      type: bool
    api:
      description: Base URL of the engine's API on the host; empty for ranks other than 0.
      type: str
    health:
      description: Status of C(/health); V(null) when it was not asked or did not answer.
      type: int
    served:
      description: Names in C(/v1/models); V(null) when it was not asked or did not answer.
      type: list
      elements: str
leftovers:
  description: Names of our containers other than the wanted one. A host holds one engine.
  returned: always
  type: list
  elements: str
stranger:
  description: Status of a container that has the wanted name and is not ours; empty when there is none.
  returned: always
  type: str
"""

from dataclasses import asdict
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.dgxspark.serving.plugins.module_utils.containers import Container, strange
from ansible_collections.dgxspark.serving.plugins.module_utils.docker_cli import Docker
from ansible_collections.dgxspark.serving.plugins.module_utils.engine_api import EngineApi


def described(container: Container, probe: bool) -> dict[str, Any]:
    """A rank as the module returns it."""
    health, served = None, None
    if probe and container.api and container.status == "running":
        api = EngineApi(container.api)
        health = api.health()
        served = api.served() if health == 200 else None
    return {**asdict(container), "health": health, "served": served}


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "wanted": {"type": "str", "default": ""},
            "deployment": {"type": "str", "default": ""},
            "probe": {"type": "bool", "default": False},
        },
        supports_check_mode=True,
    )
    wanted, deployment, probe = (module.params[name] for name in ("wanted", "deployment", "probe"))
    found = Docker(module).containers()
    ours = [container for container in found if container.is_ours and deployment in ("", container.deployment)]
    module.exit_json(
        changed=False,
        containers=[described(container, probe) for container in ours],
        leftovers=[container.name for container in ours if container.name != wanted],
        stranger=strange(found, wanted),
    )


if __name__ == "__main__":
    main()
