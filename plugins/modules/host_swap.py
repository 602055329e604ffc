#!/usr/bin/python
# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Switch swap of a host off for good, or put it back."""

from __future__ import annotations

DOCUMENTATION = r"""
module: host_swap
short_description: Switch swap of a host off for good, or put it back
version_added: 0.1.0
description:
  - With swap on, too little memory makes a host with unified memory unresponsive until its power is cycled.
  - Finds what is on, and what switches it on again. That is rows of C(/etc/fstab) of type C(swap), units of systemd,
    and services that make swap in compressed memory or in files of their own.
  - Comments the rows out, masks the units, stops the services and switches swap off, then looks whether it is off.
  - What was is kept in C(/var/lib/dgxspark-serving/host/swap.json) for O(state=restored).
  - Never makes systemd read its units anew, since that takes the GPU from containers that run.
  - Needs root on the host.
author:
  - dgxspark.serving contributors (@dgxspark)
options:
  state:
    description:
      - V(absent) switches swap off, now and for each boot. Refused when what is swapped out does not fit in memory.
      - V(restored) puts back the rows byte for byte, the units, the services and the swap that was on. What does not
        come back is a warning.
    type: str
    choices: [absent, restored]
    default: absent
attributes:
  check_mode:
    description: Can run in check mode.
    support: full
  diff_mode:
    description: Returns what would change.
    support: full
"""

EXAMPLES = r"""
- name: Switch swap off for good
  dgxspark.serving.host_swap:
    state: absent
  become: true

- name: Put it back
  dgxspark.serving.host_swap:
    state: restored
  become: true
"""

RETURN = r"""
devices:
  description: Devices and files that went off, or came on again.
  returned: always
  type: list
  elements: str
units:
  description: Units that were masked, or are not any more.
  returned: always
  type: list
  elements: str
services:
  description: Services that were stopped, or started again.
  returned: always
  type: list
  elements: str
"""

import os

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.dgxspark.serving.plugins.module_utils.facts import fstab
from ansible_collections.dgxspark.serving.plugins.module_utils.host_files import HostFiles
from ansible_collections.dgxspark.serving.plugins.module_utils.host_swap import Done, HostSwap
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.host import Refused


def diff(done: Done, absent: bool) -> list[dict[str, str]]:
    """fstab, and what is on or starts with the host, before and after."""
    rows = [f"on: {device}\n" for device in done.devices]
    rows += [f"starts swap: {unit}\n" for unit in done.units]
    rows += [f"runs: {service}\n" for service in done.services]
    there = "".join(rows)
    shown = [{"before_header": fstab.PATH, "after_header": fstab.PATH, "before": done.before, "after": done.after}]
    if there:
        before, after = (there, "") if absent else ("", there)
        shown.append({"before_header": "swap", "after_header": "swap", "before": before, "after": after})
    return shown


def main() -> None:
    module = AnsibleModule(
        argument_spec={"state": {"type": "str", "choices": ["absent", "restored"], "default": "absent"}},
        supports_check_mode=True,
    )
    if os.geteuid() != 0:
        module.fail_json(msg="Swap can be changed by root only. Set become: true for this task.")
    absent = module.params["state"] == "absent"
    host = HostSwap(HostFiles())
    try:
        done = host.absent(module.check_mode) if absent else host.restored(module.check_mode)
    except (Refused, OSError) as error:
        module.fail_json(msg=str(error))
    for warning in done.warnings:
        module.warn(warning)
    module.exit_json(
        changed=done.changed,
        devices=done.devices,
        units=done.units,
        services=done.services,
        diff=diff(done, absent),
    )


if __name__ == "__main__":
    main()
