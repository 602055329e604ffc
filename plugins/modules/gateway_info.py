#!/usr/bin/python
# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Look how the gateway of a host is, and whether the host can run one."""

from __future__ import annotations

DOCUMENTATION = r"""
module: gateway_info
short_description: Look how the gateway of a host is, and whether the host can run one
version_added: 0.1.0
description:
  - Says what M(dgxspark.serving.gateway_change) has installed, whether it runs, and how HAProxy sees the replicas.
  - With O(ports), O(packages) and O(requirement) also says what keeps the host from running a gateway.
  - Needs root to name the processes that hold ports, and to ask HAProxy.
extends_documentation_fragment:
  - dgxspark.serving.attributes
options:
  ports:
    description: TCP ports that must be free for the gateway, or its own.
    type: list
    elements: dict
    default: []
    suboptions:
      address:
        description: Address that it listens on.
        type: str
        required: true
      port:
        description: The port.
        type: int
        required: true
      use:
        description: What it is for, in words.
        type: str
        required: true
  packages:
    description: Debian packages that the gateway needs.
    type: list
    elements: str
    default: []
  venv:
    description: Virtual environment in which O(requirement) has to be.
    type: path
    default: ""
  requirement:
    description: What pip is asked for, such as C(vllm-router==0.1.17); empty when nothing is needed.
    type: str
    default: ""
  require:
    description: Fail with all problems when there are any.
    type: bool
    default: false
"""

EXAMPLES = r"""
- name: See how the gateway is
  dgxspark.serving.gateway_info:
  register: gateway
  become: true
"""

RETURN = r"""
present:
  description: Whether there is a gateway of this collection.
  returned: always
  type: bool
provider:
  description: The program that it is; empty when there is none.
  returned: always
  type: str
listen:
  description: Where it listens, C(address), C(port) and C(tls); empty when there is none.
  returned: always
  type: dict
active:
  description: V(active), V(failed) or V(inactive). A router behind HAProxy counts, too.
  returned: always
  type: str
since:
  description: Unix time at which it was last started, in seconds; V(null) when it never was.
  returned: always
  type: int
files_digest:
  description: Changes with any of its files; empty when there are none, or this user may not read them.
  returned: always
  type: str
holders:
  description: Those of O(ports) that others hold.
  returned: always
  type: list
  elements: dict
  contains:
    address:
      description: As it was asked for.
      type: str
    port:
      description: As it was asked for.
      type: int
    use:
      description: As it was asked for.
      type: str
    holder:
      description: Program, process id, and unit or container.
      type: str
      sample: nginx (pid 123, unit nginx.service)
packages:
  description: For each of O(packages) the version that is C(installed) and the C(candidate); empty text for none.
  returned: always
  type: dict
missing:
  description: Those of O(packages) that are not installed.
  returned: always
  type: list
  elements: str
venv_ready:
  description: Whether O(requirement) is in O(venv).
  returned: always
  type: bool
problems:
  description: What keeps the host from running the gateway.
  returned: always
  type: list
  elements: dict
  contains:
    id:
      description: V(port) or V(package).
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
certificate:
  description: The gateway's certificate; V(null) when it has none.
  returned: always
  type: dict
  contains:
    not_after:
      description: Unix time of its end, in seconds.
      type: int
    names:
      description: Names and addresses that it is for.
      type: list
      elements: str
    self_signed:
      description: Whether this collection has made it.
      type: bool
stats:
  description: How HAProxy sees the replicas; V(null) when it does not run.
  returned: always
  type: dict
  contains:
    deployments:
      description: Each deployment with its C(name), the requests in its C(queue), and its C(replicas).
      type: list
      elements: dict
      contains:
        name:
          description: The deployment.
          type: str
        queue:
          description: Requests that wait.
          type: int
        replicas:
          description: Its replicas.
          type: list
          elements: dict
          contains:
            name:
              description: The replica.
              type: str
            state:
              description: V(up), V(down), V(drain), V(pressure) (short of memory) or V(maintenance).
              type: str
            in_flight:
              description: Requests that it is working on.
              type: int
            queue:
              description: Requests that wait for it alone.
              type: int
            last_change_seconds:
              description: Seconds since it went up or down.
              type: int
            check:
              description: What the last check said.
              type: str
            downs:
              description: How often it went down since HAProxy's last reload; the start of HAProxy counts.
              type: int
            requests:
              description: Requests since HAProxy's last reload.
              type: int
            errors:
              description: Failed connections, broken answers and answers 5xx since then.
              type: int
    last_failover:
      description: The last time that a replica left the rotation since its check failed; V(null) when none is known.
      type: dict
      contains:
        replica:
          description: The replica.
          type: str
        seconds_ago:
          description: When it was.
          type: int
        why:
          description: What the check said.
          type: str
"""

from dataclasses import asdict
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.dgxspark.serving.plugins.module_utils import preflight_look
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway import holders, live, programs
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.apply import Gateway


def needs(module: AnsibleModule) -> dict[str, Any]:
    """What a gateway would need, and what of it there is."""
    params = module.params
    held = holders.held(params["ports"], {})
    if any(", container " in one["holder"] for one in held):
        _docker, found = preflight_look.docker(module)
        held = holders.held(params["ports"], {container.id: container.name for container in found})
    names = params["packages"]
    packages = programs.versions(module.run_command(programs.policy(names))[1] if names else "", names)
    return {
        "holders": held,
        "packages": packages,
        "missing": programs.missing(packages),
        "venv_ready": live.venv_ready(params["venv"], params["requirement"]),
        "problems": [asdict(one) for one in (*holders.problems(held), *programs.problems(packages))],
    }


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "ports": {
                "type": "list",
                "elements": "dict",
                "default": [],
                "options": {
                    "address": {"type": "str", "required": True},
                    "port": {"type": "int", "required": True},
                    "use": {"type": "str", "required": True},
                },
            },
            "packages": {"type": "list", "elements": "str", "default": []},
            "venv": {"type": "path", "default": ""},
            "requirement": {"type": "str", "default": ""},
            "require": {"type": "bool", "default": False},
        },
        supports_check_mode=True,
    )
    result = {**live.look(Gateway()), **needs(module)}
    problems = result["problems"]
    if module.params["require"] and problems:
        lines = [
            f"  {number}. found {one['found']}, wanted {one['wanted']}. {one['remedy']}."
            for number, one in enumerate(problems, 1)
        ]
        module.fail_json(
            msg="\n".join(["This host cannot run the gateway; nothing was changed.", *lines]), problems=problems
        )
    module.exit_json(changed=False, **result)


if __name__ == "__main__":
    main()
