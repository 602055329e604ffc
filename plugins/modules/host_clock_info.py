#!/usr/bin/python
# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Say whether a cap of the GPU's clock is seen to hold."""

from __future__ import annotations

DOCUMENTATION = r"""
module: host_clock_info
short_description: Say whether a cap of the GPU's clock is seen to hold
version_added: 0.1.0
description:
  - A GB10 does not say what its clock is capped to. Only under load the clock shows it; without load nothing is proved.
extends_documentation_fragment:
  - dgxspark.serving.attributes
options:
  gpu_clock_max:
    description: MHz that the clock may reach.
    type: int
    required: true
"""

EXAMPLES = r"""
- name: See whether the cap holds
  dgxspark.serving.host_clock_info:
    gpu_clock_max: 2200
"""

RETURN = r"""
verdict:
  description: V(verified), V(unverified) without load, or V(broken).
  returned: always
  type: str
msg:
  description: The same in words, with the clock and the load.
  returned: always
  type: str
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.dgxspark.serving.plugins.module_utils.host_setup import clock


def main() -> None:
    module = AnsibleModule(
        argument_spec={"gpu_clock_max": {"type": "int", "required": True}},
        supports_check_mode=True,
    )
    program = module.get_bin_path("nvidia-smi")
    out = module.run_command([program, *clock.QUERY])[1] if program else ""
    verdict, sentence = clock.judge(out, module.params["gpu_clock_max"])
    if verdict != clock.VERIFIED:
        module.warn(sentence)
    module.exit_json(changed=False, verdict=verdict, msg=sentence)


if __name__ == "__main__":
    main()
