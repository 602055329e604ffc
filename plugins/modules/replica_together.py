#!/usr/bin/python
# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin of the same name."""

from __future__ import annotations

DOCUMENTATION = r"""
module: replica_together
short_description: Go on only if a step has succeeded on all hosts that share a fate
version_added: 0.1.0
description:
  - Fails when the registered variable of one of the hosts is missing, failed or unreachable. Runs on the controller.
extends_documentation_fragment:
  - dgxspark.serving.attributes
options:
  hosts:
    description: The hosts, RV(dgxspark.serving.replica_turn#module:together).
    type: list
    elements: str
    required: true
  result_variable:
    description: Variable that holds, on each host, the result of the step.
    type: str
    required: true
"""

EXAMPLES = r"""
- name: Go on only if all ranks are started
  dgxspark.serving.replica_together:
    hosts: "{{ turn.together }}"
    result_variable: started
"""

RETURN = r"""
lame:
  description: The hosts on which it did not succeed.
  returned: failure
  type: list
  elements: str
"""
