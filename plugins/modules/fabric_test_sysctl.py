#!/usr/bin/python
# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Try the kernel's network settings for a moment."""

from __future__ import annotations

DOCUMENTATION = r"""
module: fabric_test_sysctl
short_description: Try the kernel's network settings for a moment
version_added: 0.1.0
description:
  - Puts settings in force for a measurement, and what was there before back again. No file of the host changes.
  - When nobody puts them back within O(seconds) the host does it by itself.
  - Needs root.
author:
  - dgxspark.serving contributors (@dgxspark)
options:
  state:
    description:
      - V(kernel) is what the host had before M(dgxspark.serving.host_sysctl) changed it; what it has now where that has
        not been.
      - V(prepared) is what M(dgxspark.serving.host_sysctl) sets.
      - V(restored) is what was there before this module.
    type: str
    choices: [kernel, prepared, restored]
    required: true
  settings:
    description: The user's own settings, as for M(dgxspark.serving.host_sysctl).
    type: dict
    default: {}
  seconds:
    description: Seconds after which the settings before come back by themselves.
    type: int
    default: 300
attributes:
  check_mode:
    description: Can run in check mode and changes nothing.
    support: full
  diff_mode:
    description: Returns what would change.
    support: none
    details: What it changes does not last.
"""

EXAMPLES = r"""
- name: Try what the playbook prepare would set
  dgxspark.serving.fabric_test_sysctl:
    state: prepared
  become: true
"""

RETURN = r"""
settings:
  description: What is in force now, by key.
  returned: always
  type: dict
"""

import os

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_test.kernel_settings import Trial
from ansible_collections.dgxspark.serving.plugins.module_utils.host_files import HostFiles
from ansible_collections.dgxspark.serving.plugins.module_utils.tuning import wanted_sysctl


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "state": {"type": "str", "choices": ["kernel", "prepared", "restored"], "required": True},
            "settings": {"type": "dict", "default": {}},
            "seconds": {"type": "int", "default": 300},
        },
        supports_check_mode=True,
    )
    if module.check_mode:
        module.exit_json(changed=False, settings={})
    if os.geteuid() != 0:
        module.fail_json(msg="Kernel settings can be changed by root only. Set become: true for this task.")
    trial = Trial(HostFiles())
    state, settings = module.params["state"], {}
    try:
        if state == "restored":
            trial.restore()
        else:
            wanted = wanted_sysctl(module.params["settings"]) if state == "prepared" else trial.before_prepare()
            settings = trial.set(wanted, module.params["seconds"])
    except (ValueError, OSError) as error:
        module.fail_json(msg=f"The kernel's settings could not be tried: {error}.")
    module.exit_json(changed=False, settings=settings)


if __name__ == "__main__":
    main()
