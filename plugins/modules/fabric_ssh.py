#!/usr/bin/python
# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Let hosts copy from each other over the fabric by keys that allow nothing else."""

from __future__ import annotations

DOCUMENTATION = r"""
module: fabric_ssh
short_description: Let hosts read each other's models over the fabric, and nothing else
version_added: 0.1.0
description:
  - Gives a host a key pair of its own and the host keys of its peers for their fabric addresses. These come through
    the connections that Ansible has verified; nothing is asked of the network.
  - Authorises the peers' keys for reading one folder by C(rsync), from their fabric addresses; all else is refused.
  - The private half of a key never leaves its host.
  - Needs root.
extends_documentation_fragment:
  - dgxspark.serving.attributes
attributes:
  check_mode:
    description: Says what would change.
    support: full
  diff_mode:
    description: Shows the files that would be written.
    support: full
    details: Of the files with public keys; a private key is shown nowhere.
options:
  stage:
    description:
      - V(own) has a key pair, and returns public keys for the other hosts.
      - V(peers) knows and authorises the peers.
      - V(absent) undoes both.
    type: str
    choices: [own, peers, absent]
    required: true
  group:
    description: Inventory group of the hosts of the fabric.
    type: str
    default: sparks
  host:
    description: This host's name in the inventory. The controller fills it in.
    type: str
    default: ""
  user:
    description: Account that the peers read as. Empty is the one that Ansible connects as.
    type: str
    default: ""
  folder:
    description: Folder that the peers may read.
    type: str
    default: ~/.cache/huggingface/hub
  peers:
    description: The peers and their public keys. The controller takes them from the other hosts' V(own).
    type: list
    elements: dict
    default: []
    suboptions:
      host:
        description: Name in the inventory.
        type: str
        required: true
      addresses:
        description: Its fabric addresses.
        type: list
        elements: str
        required: true
      public_key:
        description: The public half of its key for copies.
        type: str
        required: true
      host_keys:
        description: Its host keys.
        type: list
        elements: str
        required: true
"""

EXAMPLES = r"""
- name: Have a key
  dgxspark.serving.fabric_ssh:
    stage: own
  register: __fabric_own

- name: Let the peers read models
  dgxspark.serving.fabric_ssh:
    stage: peers
    folder: /srv/models
"""

RETURN = r"""
public_key:
  description: The public half of the host's key for copies; empty in check mode where there is none yet.
  returned: with O(stage=own)
  type: str
host_keys:
  description: The host keys of its C(sshd).
  returned: with O(stage=own)
  type: list
  elements: str
"""

from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_setup import copy_host
from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_setup.copy_keys import NotSafe
from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_setup.revert import NotDone

OPTIONS: dict[str, Any] = {
    "stage": {"type": "str", "choices": ["own", "peers", "absent"], "required": True},
    "group": {"type": "str", "default": "sparks"},
    "host": {"type": "str", "default": ""},
    "user": {"type": "str", "default": ""},
    "folder": {"type": "str", "default": "~/.cache/huggingface/hub"},
    "peers": {
        "type": "list",
        "elements": "dict",
        "default": [],
        "options": {
            "host": {"type": "str", "required": True},
            "addresses": {"type": "list", "elements": "str", "required": True},
            "public_key": {"type": "str", "required": True, "no_log": False},
            "host_keys": {"type": "list", "elements": "str", "required": True, "no_log": False},
        },
    },
}


def main() -> None:
    module = AnsibleModule(argument_spec=OPTIONS, supports_check_mode=True)
    options, check = module.params, module.check_mode
    try:
        if options["stage"] == "own":
            changed = copy_host.make_key(options["host"], check)
            module.exit_json(changed=changed, **copy_host.own_keys())
        if options["stage"] == "absent":
            module.exit_json(changed=copy_host.forget(check))
        diff = copy_host.authorize(options["user"], options["folder"], options["peers"], check)
        module.exit_json(changed=bool(diff), diff=diff)
    except (NotDone, NotSafe, OSError) as error:
        module.fail_json(msg=str(error))


if __name__ == "__main__":
    main()
