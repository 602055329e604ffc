#!/usr/bin/python
# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Collect logs and the state of a host and its ranks into one archive."""

from __future__ import annotations

DOCUMENTATION = r"""
module: evidence_info
short_description: Collect logs and the state of a host and its ranks into one archive
version_added: 0.1.0
description:
  - Collects, for each rank of this collection, its log, its container's description without values of environment
    variables, kernel messages, memory, GPU and links, and what was saved when a rank failed before.
  - Keeps one archive on the host, the newest.
  - Needs root on the host.
author:
  - dgxspark.serving contributors (@dgxspark)
options: {}
attributes:
  check_mode:
    description: Can run in check mode.
    support: partial
    details: Nothing is collected then.
  diff_mode:
    description: Returns what would change.
    support: none
    details: It changes nothing that serves.
"""

EXAMPLES = r"""
- name: Collect the evidence
  dgxspark.serving.evidence_info:
  register: evidence
  become: true

- name: Bring it to the controller
  ansible.builtin.fetch:
    src: "{{ evidence.path }}"
    dest: evidence/
    flat: true
  become: true
  when: evidence.path
"""

RETURN = r"""
path:
  description: The archive on the host; empty when there is no rank of ours, and in check mode.
  returned: always
  type: str
"""

import socket
import time

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.dgxspark.serving.plugins.module_utils.evidence_bundle import bundle
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.hostpaths import HostPaths


def main() -> None:
    module = AnsibleModule(argument_spec={}, supports_check_mode=True)
    if module.check_mode:
        module.exit_json(changed=False, path="")
    try:
        path = bundle(HostPaths(), socket.gethostname(), time.time())
    except OSError as error:
        module.fail_json(msg=f"The evidence cannot be collected: {error}. It needs root and room on the host.")
    module.exit_json(changed=False, path=str(path or ""))


if __name__ == "__main__":
    main()
