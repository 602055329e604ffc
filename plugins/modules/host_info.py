#!/usr/bin/python
# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Look what the role host has to do on a host."""

from __future__ import annotations

DOCUMENTATION = r"""
module: host_info
short_description: Look what the role host has to do on a host
version_added: 0.1.0
description:
  - Looks at swap, kernel settings, services, limits, earlyoom, Docker, the NVIDIA runtime and the GPU's clock, and says
    in one call what is to be done for the host to be as wanted, or to be again as it was before the role.
  - While a container has the GPU nothing is due that makes systemd read its units again, since that takes the GPU from
    it.
  - Needs root.
extends_documentation_fragment:
  - dgxspark.serving.attributes
options:
  state:
    description: Whether the host is to be prepared or to be as it was before.
    type: str
    choices: [present, absent]
    default: present
  swap:
    description: Whether swap is to be off now and for good.
    type: bool
    default: true
  sysctl:
    description: Whether the kernel settings are to be in force.
    type: bool
    default: true
  sysctl_settings:
    description: Settings of the user, as O(dgxspark.serving.host_sysctl#module:settings) has them.
    type: dict
    default: {}
  sysctl_strict:
    description: Whether one that cannot be set on this host is a fault.
    type: bool
    default: false
  memlock:
    description: Whether logins, Docker and containerd may lock as much memory as they like.
    type: bool
    default: true
  earlyoom:
    description: Whether earlyoom is to end the engine before the host is out of memory.
    type: bool
    default: true
  earlyoom_free:
    description: GiB available under which it does so.
    type: float
    default: 3
  earlyoom_prefer:
    description: Names of processes to end first, as a regular expression. Empty is the engines.
    type: str
    default: ""
  earlyoom_avoid:
    description: Names of processes to spare, as a regular expression. Empty is what a host is reached and run by.
    type: str
    default: ""
  oom_protection:
    description: Whether Docker and containerd are to be spared by the kernel.
    type: bool
    default: true
  docker:
    description: Whether Docker Engine and the NVIDIA runtime are to be installed where they are missing.
    type: bool
    default: true
  docker_group:
    description: Whether O(docker_user) is to be in the group C(docker).
    type: bool
    default: true
  docker_user:
    description: Who is to use Docker. Empty is who has become root for this call.
    type: str
    default: ""
  fresh:
    description: Whether apt's lists were fetched just now, so that a package that they lack cannot be had.
    type: bool
    default: false
  gpu_clock_max:
    description: MHz that the GPU's clock may reach; V(0) leaves it alone.
    type: int
    default: 0
"""

EXAMPLES = r"""
- name: See what prepare would do
  dgxspark.serving.host_info:
    gpu_clock_max: 2200
  register: here
  become: true
"""

RETURN = r"""
due:
  description: What is to be done, by kind; the role's tasks follow it.
  returned: always
  type: dict
nothing:
  description: Whether there is nothing to do.
  returned: always
  type: bool
later:
  description: What is not done now, and what to do. Also given as warnings.
  returned: always
  type: list
  elements: str
impossible:
  description: What nobody can do on this host, and why. In a container root may not raise limits, for one.
  returned: always
  type: list
  elements: str
running:
  description: Containers that run; V(null) when Docker does not answer.
  returned: always
  type: list
  elements: str
"""

import os
from dataclasses import asdict
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.dgxspark.serving.plugins.module_utils.host_files import HostFiles
from ansible_collections.dgxspark.serving.plugins.module_utils.host_setup import decide, earlyoom, look, undo
from ansible_collections.dgxspark.serving.plugins.module_utils.host_setup.record import Setup
from ansible_collections.dgxspark.serving.plugins.module_utils.host_setup.state import Seen, Undo, Wanted
from ansible_collections.dgxspark.serving.plugins.module_utils.host_swap import HostSwap
from ansible_collections.dgxspark.serving.plugins.module_utils.host_sysctl import HostSysctl
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.host import Refused
from ansible_collections.dgxspark.serving.plugins.module_utils.tuning import wanted_sysctl

SAYINGS = ("later", "impossible")
# What is not work by itself.
ASIDE = (*SAYINGS, "notes", "keep", "drop", "records")


def wanted(params: dict[str, Any], user: str) -> Wanted:
    """The parts that are switched on."""
    command = earlyoom.command(
        params["earlyoom_free"],
        params["earlyoom_prefer"] or earlyoom.PREFER,
        params["earlyoom_avoid"] or earlyoom.AVOID,
    )
    return Wanted(
        memlock=params["memlock"],
        earlyoom=tuple(command) if params["earlyoom"] else (),
        oom=params["oom_protection"],
        docker=params["docker"],
        user=user if params["docker_group"] else "",
        clock=params["gpu_clock_max"],
    )


def result_of(work: dict[str, Any], seen: Seen) -> dict[str, Any]:
    """The module's answer."""
    due = {key: value for key, value in work.items() if key not in SAYINGS}
    return {
        "changed": False,
        "due": due,
        "nothing": not any(value for key, value in work.items() if key not in ASIDE) and not work.get("records"),
        "later": work.get("later", []),
        "impossible": work.get("impossible", []),
        "running": None if seen.running is None else [container.name for container in seen.running],
    }


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
            "swap": {"type": "bool", "default": True},
            "sysctl": {"type": "bool", "default": True},
            "sysctl_settings": {"type": "dict", "default": {}},
            "sysctl_strict": {"type": "bool", "default": False},
            "memlock": {"type": "bool", "default": True},
            "earlyoom": {"type": "bool", "default": True},
            "earlyoom_free": {"type": "float", "default": 3},
            "earlyoom_prefer": {"type": "str", "default": ""},
            "earlyoom_avoid": {"type": "str", "default": ""},
            "oom_protection": {"type": "bool", "default": True},
            "docker": {"type": "bool", "default": True},
            "docker_group": {"type": "bool", "default": True},
            "docker_user": {"type": "str", "default": ""},
            "fresh": {"type": "bool", "default": False},
            "gpu_clock_max": {"type": "int", "default": 0},
        },
        supports_check_mode=True,
    )
    if os.geteuid() != 0:
        module.fail_json(msg="Preparing a host needs root. Set ansible_become for it, or connect as root.")
    files = HostFiles()
    user = module.params["docker_user"] or os.environ.get("SUDO_USER", "root")
    try:
        answer = before(files) if module.params["state"] == "absent" else now(module, files, user)
    except (OSError, ValueError, KeyError) as error:
        module.fail_json(msg=f"The host cannot be read: {error}.")
    for sentence in answer["later"]:
        module.warn(sentence)
    module.exit_json(**answer)


def now(module: AnsibleModule, files: HostFiles, user: str) -> dict[str, Any]:
    """What is to be done for the host to be as wanted."""
    params = module.params
    seen = look.look(files, user)
    parts = wanted(params, user)
    offer = look.offer(files, decide.missing(parts, seen))
    # In check mode no list is fetched.
    due = decide.decide(parts, seen, offer, fresh=params["fresh"] or module.check_mode)
    due.swap = params["swap"] and swap_is_due(files)
    if params["sysctl"]:
        done = HostSysctl(files).present(wanted_sysctl(params["sysctl_settings"]), check_mode=True)
        due.sysctl = done.changed or (params["sysctl_strict"] and any(key.note for key in done.keys))
        # The module that acts says it itself.
        due.later += [] if due.sysctl else done.warnings
    return result_of(asdict(due), seen)


def swap_is_due(files: HostFiles) -> bool:
    """Whether swap is on or can come back."""
    try:
        return HostSwap(files).absent(check_mode=True).changed
    except Refused:
        return True  # the module that is to act says why it cannot


def before(files: HostFiles) -> dict[str, Any]:
    """What is to be done for the host to be as it was."""
    setup = Setup(files)
    records = setup.records()
    if not records:
        return result_of(asdict(Undo()), Seen())
    record = setup.read()
    user = next(iter(undo.noted(record["notes"], "group")), "root")
    seen = look.look(files, user)
    ours = [name for name in undo.noted(record["notes"], "package") if name != "earlyoom"]
    kept = {path: one["text"] for path, one in record["files"].items()}
    return result_of(asdict(undo.undo(records, record["notes"], kept, seen, look.strangers(files, ours))), seen)


if __name__ == "__main__":
    main()
