#!/usr/bin/python
# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read, write or remove the key that the engines of a host ask for."""

from __future__ import annotations

DOCUMENTATION = r"""
module: engine_key
short_description: Read, write or remove the key that the engines of a host ask for
version_added: 0.1.0
description:
  - With a key vLLM answers under C(/v1) to nobody but the gateway and this collection. Other paths of it need none, and
    C(/invocations) generates, so an engine must not be reachable by strangers either.
  - The file belongs to root, and nobody else can read it. Engines read it when they start, so a new key is theirs
    after a restart only.
  - Needs root on the host.
author:
  - dgxspark.serving contributors (@dgxspark)
options:
  state:
    description:
      - V(read) returns the key that is there.
      - V(present) writes O(key), V(absent) removes the file.
    type: str
    choices: [read, present, absent]
    default: read
  key:
    description:
      - The key to write, with O(state=present).
      - At least 16 letters, digits and characters of C(._~+/-), with C(=) at the end only.
    type: str
  path:
    description: Path of the file on the host.
    type: path
    default: /etc/dgxspark-serving/engine.key
notes:
  - With O(state=read) the result holds the key. Set C(no_log=true) for the task.
attributes:
  check_mode:
    description: Can run in check mode.
    support: full
  diff_mode:
    description: Returns what would change.
    support: none
    details: It would show the key.
"""

EXAMPLES = r"""
- name: Read the key of a host
  dgxspark.serving.engine_key:
  register: engine_key
  become: true
  no_log: true

- name: Give a host its key
  dgxspark.serving.engine_key:
    state: present
    key: "{{ vault_engine_key }}"
  become: true
  no_log: true
"""

RETURN = r"""
found:
  description: Whether there is a key.
  returned: with O(state=read)
  type: bool
key:
  description: The key; empty when there is none.
  returned: with O(state=read)
  type: str
"""

import os

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.dgxspark.serving.plugins.module_utils.engine_key import (
    KEY_FILE,
    is_written,
    key_fault,
    read_key,
    write_key,
)


def is_root() -> bool:
    """Whether this is root."""
    return os.geteuid() == 0


def present(path: str, key: str, check_mode: bool) -> bool:
    """Put a key in place; says whether that is a change."""
    if is_written(path, key):
        return False
    if not check_mode:
        write_key(path, key)
    return True


def absent(path: str, check_mode: bool) -> bool:
    """Remove the key; says whether that is a change."""
    if not os.path.lexists(path):
        return False
    if not check_mode:
        os.unlink(path)
    return True


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "state": {"type": "str", "choices": ["read", "present", "absent"], "default": "read"},
            "key": {"type": "str", "no_log": True},
            "path": {"type": "path", "default": KEY_FILE},
        },
        required_if=[("state", "present", ["key"])],
        supports_check_mode=True,
    )
    state, path, key = (module.params[name] for name in ("state", "path", "key"))
    if not is_root():
        module.fail_json(msg="The engine key is for root alone. Set become: true for this task.")
    try:
        if state == "read":
            found = read_key(path)
            module.exit_json(changed=False, found=bool(found), key=found)
        if state == "absent":
            module.exit_json(changed=absent(path, module.check_mode))
        fault = key_fault(key)
        if fault:
            module.fail_json(msg=f"The given key cannot be one: it has {fault}. Make one with: openssl rand -hex 32")
        module.exit_json(changed=present(path, key, module.check_mode))
    except ValueError as error:
        module.fail_json(msg=f"{error}. Remove the file, or put a key in it, and deploy again.")
    except OSError as error:
        module.fail_json(msg=f"The engine key cannot be kept: {error}")


if __name__ == "__main__":
    main()
