#!/usr/bin/python
# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Look which ranks are on a host, how they are, and what a new one would meet there."""

from __future__ import annotations

DOCUMENTATION = r"""
module: replica_info
short_description: Look which ranks are on a host and how they are
version_added: 0.1.0
description:
  - Reads the containers that this collection made, from their labels, and what their supervisors say, in one call.
  - With O(rank) also says whether the rank is as wanted already, and what keeps it from working there.
  - Needs no root, but then cannot name the process that holds a port.
extends_documentation_fragment:
  - dgxspark.serving.attributes
options:
  rank:
    description: The host's rank as RV(dgxspark.serving.plan#module:ranks) has it, for a look before a change.
    type: dict
  limits:
    description: The supervisor's limits that are wanted, with O(rank).
    type: dict
    default: {}
  model_source:
    description: Where the model lies on the host, with O(rank); a rank that has it from elsewhere is not as wanted.
    type: str
    default: ""
  digests:
    description:
      - SHA-256 of the files that all ranks share, by their kind. The controller fills it in.
    type: dict
    default: {}
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
    rank:
      description: Its rank in the replica.
      type: int
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
    refusal:
      description:
        - That the engine refuses our key, or that the key cannot be read, in words; empty when it was not asked or
          answered. The key is the one in the file that the container mounts.
      type: str
    id:
      description: Docker's id of it.
      type: str
    generation:
      description: What it shares with the other ranks of its replica.
      type: str
    spec_digest:
      description: Changes with its options.
      type: str
    image:
      description: The image as it was asked for.
      type: str
    image_id:
      description: Id of the image that it was made from.
      type: str
    started_at:
      description: Time of its last start.
      type: str
    restarts:
      description: How often Docker itself has started it again.
      type: int
    mounts:
      description: For each folder in the container the one on the host.
      type: dict
live:
  description: What the supervisor of each rank says, by name of its container.
  returned: always
  type: dict
running:
  description: Names of the replicas of which a rank runs here.
  returned: always
  type: list
  elements: str
gateway:
  description: Whether the host has a gateway of this collection.
  returned: always
  type: bool
interrupted:
  description: A change that is not finished, in words; empty when there is none.
  returned: always
  type: str
unchanged:
  description: Whether the rank is as wanted and kept alive.
  returned: with O(rank)
  type: bool
reasons:
  description: Why it is not, in words.
  returned: with O(rank)
  type: list
  elements: str
replace:
  description: Whether its container must be made anew.
  returned: with O(rank)
  type: bool
displaced:
  description: Names of our containers that make room for it.
  returned: with O(rank)
  type: list
  elements: str
image:
  description: The wanted image as this host has it; V(null) when it is not there.
  returned: with O(rank)
  type: dict
  contains:
    id:
      description: Its id in this host's store.
      type: str
    repo_digests:
      description: Its digests as registries know it.
      type: list
      elements: str
    architecture:
      description: Docker's word for it.
      type: str
problems:
  description: What keeps the rank from working here. Empty for one that is as wanted.
  returned: with O(rank)
  type: list
  elements: dict
  contains:
    id:
      description: V(stranger), V(port), V(link) or V(memory).
      type: str
    found:
      description: What there is.
      type: str
    wanted:
      description: What would be right.
      type: str
    remedy:
      description: What to do.
      type: str
"""

from dataclasses import asdict

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.dgxspark.serving.plugins.module_utils import rank_look
from ansible_collections.dgxspark.serving.plugins.module_utils.docker_cli import Docker
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.host import Host


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "rank": {"type": "dict"},
            "limits": {"type": "dict", "default": {}},
            "model_source": {"type": "str", "default": ""},
            "digests": {"type": "dict", "default": {}},
            "deployment": {"type": "str", "default": ""},
            "probe": {"type": "bool", "default": False},
        },
        supports_check_mode=True,
    )
    options = module.params
    host = Host()
    docker = Docker(module)
    found = docker.containers()
    wanted = rank_look.Wanted(options["rank"] or {}, options["limits"], options["model_source"], options["digests"])
    try:
        result = rank_look.look(host, docker, found, wanted, options["deployment"], options["probe"])
    except ValueError as error:
        module.fail_json(msg=f"{host.paths.change} cannot be read ({error}). Remove it, and deploy again.")
    if wanted.rank and result["reasons"]:
        result["problems"] = [asdict(problem) for problem in rank_look.problems(host, found, wanted)]
    module.exit_json(changed=False, **result)


if __name__ == "__main__":
    main()
