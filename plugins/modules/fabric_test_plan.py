#!/usr/bin/python
# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin of the same name."""

from __future__ import annotations

DOCUMENTATION = r"""
module: fabric_test_plan
short_description: Plan a test of the fabric
version_added: 0.1.0
description:
  - Decides which hosts are measured against each other, over which links and with which commands.
  - Refuses when engines run on these hosts, unless O(disturb).
  - Runs on the controller, once for all hosts of the play.
extends_documentation_fragment:
  - dgxspark.serving.attributes
options:
  result_variable:
    description: Variable that holds, on each host, what M(dgxspark.serving.fabric_test_info) returned there.
    type: str
    required: true
  plan:
    description: What M(dgxspark.serving.plan) returned; it may have failed.
    type: dict
    required: true
  pairs:
    description:
      - V(auto) is neighbouring ranks of each replica, then a pair for each host that is in none.
      - V(all) is every two hosts that share a network. Otherwise pairs by name, V(spark1:spark2,spark3:spark4).
    type: str
    default: auto
  seconds:
    description: Length of one measurement.
    type: int
    default: 5
  streams:
    description: TCP connections of one measurement.
    type: int
    default: 8
  buffer:
    description: Size of the all-gather, at most; a sixteenth of the free memory is the limit.
    type: bytes
    default: 1G
  backend:
    description: What carries the all-gather. V(gloo) is for hosts without a GPU.
    type: str
    choices: [nccl, gloo]
    default: nccl
  image:
    description: Image for the all-gather; that of the host's rank when empty.
    type: str
    default: ""
  disturb:
    description: Measure although engines run.
    type: bool
    default: false
"""

EXAMPLES = r"""
- name: Plan the test
  dgxspark.serving.fabric_test_plan:
    result_variable: here
    plan: "{{ serving_plan }}"
  run_once: true
  register: test
"""

RETURN = r"""
pairs:
  description: The pairs, each with C(name), C(client), C(server) and C(links).
  returned: success
  type: list
  elements: dict
rounds:
  description: What each host runs, by its name; one entry for each set of pairs that are measured at the same time.
  returned: success
  type: list
  elements: dict
looks:
  description: What each host said.
  returned: success
  type: dict
notes:
  description: Sentences for the report.
  returned: success
  type: list
  elements: str
"""
