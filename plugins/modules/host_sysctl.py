#!/usr/bin/python
# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Set kernel settings of a host now and for each boot, or put them back."""

from __future__ import annotations

DOCUMENTATION = r"""
module: host_sysctl
short_description: Set kernel settings of a host now and for each boot, or put them back
version_added: 0.1.0
description:
  - Sets buffers, queue and congestion control for links of 100 Gb/s, and C(vm.swappiness), in a file of our own
    (C(/etc/sysctl.d/zz-dgxspark-serving.conf)) and at once. C(tcp_bbr) is loaded, and named in C(/etc/modules-load.d).
  - A setting that this host does not have or does not let be set is noted with its key, and the others are set.
  - Warns of a file that is read after ours and says something else.
  - The values before are kept in C(/var/lib/dgxspark-serving/host/sysctl.json) for O(state=restored).
  - Needs root on the host.
author:
  - dgxspark.serving contributors (@dgxspark)
options:
  state:
    description:
      - V(present) sets the settings.
      - V(restored) puts back the values that were and removes our files. A value that somebody else has changed since
        is left as it is; a kernel module that was loaded stays until the next boot.
    type: str
    choices: [present, restored]
    default: present
  settings:
    description: Values of your own by key, beside ours or instead of them. V(null) leaves a setting as the host has it.
    type: dict
    default: {}
  strict:
    description: Fail when a setting is not possible on this host.
    type: bool
    default: false
attributes:
  check_mode:
    description: Can run in check mode.
    support: full
  diff_mode:
    description: Returns what would change.
    support: full
"""

EXAMPLES = r"""
- name: Set kernel settings, but leave the congestion control alone
  dgxspark.serving.host_sysctl:
    settings:
      net.ipv4.tcp_congestion_control:
  become: true

- name: Put them back
  dgxspark.serving.host_sysctl:
    state: restored
  become: true
"""

RETURN = r"""
keys:
  description: Each setting.
  returned: always
  type: list
  elements: dict
  contains:
    key:
      description: Its name.
      type: str
    was:
      description: Its value before; V(null) where this kernel has no such setting.
      type: str
    now:
      description: Its value after.
      type: str
    wanted:
      description: What it is to be.
      type: str
    note:
      description: Why it is not as wanted; empty when it is.
      type: str
"""

import os
from dataclasses import asdict

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.dgxspark.serving.plugins.module_utils.facts.sysctl import same
from ansible_collections.dgxspark.serving.plugins.module_utils.host_files import HostFiles
from ansible_collections.dgxspark.serving.plugins.module_utils.host_sysctl import Done, HostSysctl
from ansible_collections.dgxspark.serving.plugins.module_utils.tuning import wanted_sysctl


def diff(done: Done) -> list[dict[str, str]]:
    """Our files and the values in force, before and after."""
    shown = [
        {"before_header": path, "after_header": path, "before": before or "", "after": after or ""}
        for path, (before, after) in done.files.items()
    ]
    moving = [key for key in done.keys if key.was is not None and not key.note and not same(key.was, key.wanted)]
    before, after = (
        "".join(f"{key.key} = {' '.join(value.split())}\n" for key, value in values)
        for values in ([(key, key.was) for key in moving], [(key, key.wanted) for key in moving])
    )
    return [*shown, {"before_header": "now", "after_header": "now", "before": before, "after": after}]


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "state": {"type": "str", "choices": ["present", "restored"], "default": "present"},
            "settings": {"type": "dict", "default": {}},
            "strict": {"type": "bool", "default": False},
        },
        supports_check_mode=True,
    )
    if os.geteuid() != 0:
        module.fail_json(msg="Kernel settings can be changed by root only. Set become: true for this task.")
    host = HostSysctl(HostFiles())
    try:
        if module.params["state"] == "present":
            done = host.present(wanted_sysctl(module.params["settings"]), module.check_mode)
        else:
            done = host.restored(module.check_mode)
    except (ValueError, OSError) as error:
        module.fail_json(msg=f"{error}.")
    for warning in done.warnings:
        module.warn(warning)
    result = {"changed": done.changed, "keys": [asdict(key) for key in done.keys], "diff": diff(done)}
    refused = [f"{key.key} ({key.note})" for key in done.keys if key.note]
    if refused and module.params["strict"] and module.params["state"] == "present":
        module.fail_json(
            msg=f"Not set on this host: {', '.join(refused)}. Leave them out, or set strict: false.", **result
        )
    module.exit_json(**result)


if __name__ == "__main__":
    main()
