#!/usr/bin/python
# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Make the addresses and MTU of a host's fabric permanent, with a way back that the host takes by itself."""

from __future__ import annotations

DOCUMENTATION = r"""
module: fabric_link
short_description: Set up a host's fabric links, with a timed way back
version_added: 0.1.0
description:
  - Writes the addresses and the MTU of the fabric links to netplan or NetworkManager, whichever has the interfaces, and
    has it take them up.
  - Before it changes anything the host gets a timer that puts files and live state back. V(confirm) asks the peers,
    V(keep) takes the timer away once they have answered, and without it the host goes back by itself, also after a
    reboot.
  - Refuses the interface by which Ansible came in, configuration of others, and a change below ranks that run.
  - The controller adds the peers, from C(fabric_links) of all hosts of O(group).
  - Needs root.
extends_documentation_fragment:
  - dgxspark.serving.attributes
attributes:
  check_mode:
    description: Says what would change, and refuses what would be refused.
    support: full
  diff_mode:
    description: Shows the files that would be written.
    support: full
    details: What differs on the interfaces themselves is in RV(lacking).
options:
  stage:
    description:
      - V(apply) arms the way back and makes the change.
      - V(confirm) asks the peers over the new addresses, with frames of the full MTU.
      - V(keep) disarms the way back, if all hosts that were asked have answered.
      - V(absent) brings back what was before the first V(apply).
    type: str
    choices: [apply, confirm, keep, absent]
    required: true
  group:
    description: Inventory group of the hosts of the fabric.
    type: str
    default: sparks
  links:
    description: This host's links. The controller takes them from C(fabric_links).
    type: list
    elements: dict
    default: []
    suboptions:
      interface:
        description: Name of the interface.
        type: str
        required: true
      address:
        description: Its address with prefix length.
        type: str
        required: true
      rdma_device:
        description: Its RDMA device; not looked at here.
        type: str
        default: ""
  peers:
    description: Whom to ask. The controller takes them from C(fabric_links) of the other hosts.
    type: list
    elements: dict
    default: []
    suboptions:
      host:
        description: Name in the inventory.
        type: str
        required: true
      address:
        description: Its address.
        type: str
        required: true
      interface:
        description: This host's interface to it.
        type: str
        required: true
      source:
        description: This host's address on that interface.
        type: str
        required: true
  mtu:
    description: MTU of the fabric, in bytes.
    type: int
    default: 9000
  manager:
    description: Who is to keep the configuration; V(auto) is whoever has the interfaces now.
    type: str
    choices: [auto, netplan, networkmanager]
    default: auto
  take_over:
    description:
      - Whether to take the interfaces out of configuration that is not of this collection. The undo brings it back.
    type: bool
    default: false
  revert_after:
    description: Seconds without V(keep) after which the host takes the change back.
    type: int
    default: 60
  program:
    description: The program of the way back. The controller fills it in.
    type: str
    default: ""
"""

EXAMPLES = r"""
- name: Change the fabric
  dgxspark.serving.fabric_link:
    stage: apply
  register: __fabric_applied

- name: Ask the peers
  dgxspark.serving.fabric_link:
    stage: confirm
  register: __fabric_confirmed

- name: Keep the change
  dgxspark.serving.fabric_link:
    stage: keep
"""

RETURN = r"""
manager:
  description: Who keeps the configuration.
  returned: with O(stage=apply)
  type: str
lacking:
  description: What of the wanted state was not in force, in words.
  returned: with O(stage=apply)
  type: list
  elements: str
silent:
  description: Peers that have not answered, each with V(small), whether it answers a packet of the usual size.
  returned: with O(stage=confirm)
  type: list
  elements: dict
"""

from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_setup import host, ping
from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_setup.desired import Refused
from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_setup.revert import NotDone
from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_setup.words import unanswered

OPTIONS: dict[str, Any] = {
    "stage": {"type": "str", "choices": ["apply", "confirm", "keep", "absent"], "required": True},
    "group": {"type": "str", "default": "sparks"},
    "links": {
        "type": "list",
        "elements": "dict",
        "default": [],
        "options": {
            "interface": {"type": "str", "required": True},
            "address": {"type": "str", "required": True},
            "rdma_device": {"type": "str", "default": ""},
        },
    },
    "peers": {
        "type": "list",
        "elements": "dict",
        "default": [],
        "options": {
            "host": {"type": "str", "required": True},
            "address": {"type": "str", "required": True},
            "interface": {"type": "str", "required": True},
            "source": {"type": "str", "required": True},
        },
    },
    "mtu": {"type": "int", "default": 9000},
    "manager": {"type": "str", "choices": ["auto", "netplan", "networkmanager"], "default": "auto"},
    "take_over": {"type": "bool", "default": False},
    "revert_after": {"type": "int", "default": 60},
    "program": {"type": "str", "default": ""},
}
# Of the seconds until the way back is taken, the share that the peers get to answer in, and the most that they get.
SHARE = 0.4
MOST = 30.0


def apply(module: AnsibleModule) -> dict[str, Any]:
    """Arm the way back, and change what differs."""
    options = module.params
    wanted = host.Wanted(
        options["links"], options["mtu"], options["manager"], options["take_over"], options["revert_after"]
    )
    host.unfinished(module.check_mode)
    now = host.look_now()
    change = host.plan(wanted, now)
    result = {
        "changed": change.needed,
        "manager": change.manager,
        "lacking": list(change.lacking),
        "diff": list(change.diff),
    }
    if change.needed and not module.check_mode:
        host.arm(wanted, change, now, options["program"])
        try:
            host.apply(wanted, change)
        except (Refused, NotDone, OSError) as error:
            module.fail_json(
                msg=f"{error} This host puts back what was there within {wanted.revert_after} s.", **result
            )
    return result


def confirm(module: AnsibleModule) -> dict[str, Any]:
    """Ask the peers."""
    options = module.params
    silent = ping.silent(options["peers"], options["mtu"], min(MOST, options["revert_after"] * SHARE))
    if silent:
        module.fail_json(msg=unanswered(silent, options["mtu"], options["revert_after"]), silent=silent)
    return {"changed": False, "silent": []}


def main() -> None:
    module = AnsibleModule(argument_spec=OPTIONS, supports_check_mode=True)
    stage = module.params["stage"]
    try:
        if stage == "apply":
            result = apply(module)
        elif stage == "confirm":
            result = confirm(module)
        elif stage == "keep":
            host.keep()
            result = {"changed": False}
        else:
            changed, diff = host.absent(module.check_mode, host.look_now())
            result = {"changed": changed, "diff": diff}
    except (Refused, NotDone) as error:
        module.fail_json(msg=str(error))
    module.exit_json(**result)


if __name__ == "__main__":
    main()
