#!/usr/bin/python
# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin of the same name."""

from __future__ import annotations

DOCUMENTATION = r"""
module: fabric_test_report
short_description: Judge a test of the fabric and show it
version_added: 0.1.0
description:
  - Prints what was measured and what good links move, and a verdict on each pair.
  - Fails when a verdict is bad.
  - Runs on the controller.
extends_documentation_fragment:
  - dgxspark.serving.attributes
options:
  result_variable:
    description: Variable that holds, on each host, the results that it has measured.
    type: str
    required: true
  plan:
    description: What M(dgxspark.serving.fabric_test_plan) returned.
    type: dict
    required: true
  path:
    description: File on the controller into which all is written as JSON.
    type: path
"""

EXAMPLES = r"""
- name: Show it
  dgxspark.serving.fabric_test_report:
    result_variable: results
    plan: "{{ test }}"
  run_once: true
"""

RETURN = r"""
pairs:
  description: Each pair with its results and its verdict.
  returned: always
  type: list
  elements: dict
  contains:
    name:
      description: The two hosts.
      type: str
    results:
      description: As RV(dgxspark.serving.fabric_test_measure#module:results).
      type: list
      elements: dict
    verdict:
      description:
        - C(word) is V(healthy), V(not judged), V(failed), V(link down), V(degraded init), V(sockets only), V(one twin),
          V(MTU) or V(below); C(why), C(remedy) and C(notes) are sentences.
      type: dict
lines:
  description: What was printed.
  returned: always
  type: list
  elements: str
"""
