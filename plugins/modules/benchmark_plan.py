#!/usr/bin/python
# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin of the same name."""

from __future__ import annotations

DOCUMENTATION = r"""
module: benchmark_plan
short_description: Order a benchmark, or say all that is wrong with its variables
version_added: 0.1.0
description:
  - Reads the suite, its cases and the variables C(benchmark_*), and gives the rounds of the benchmark in sequence,
    with the targets as the host that asks reaches them.
  - All errors are reported at once.
  - Runs on the controller and connects to no host. The variables are those of the role
    P(dgxspark.serving.benchmark#role); C(suite) and C(baseline), when set, stand in place of C(benchmark_suite) and
    C(benchmark_baseline).
extends_documentation_fragment:
  - dgxspark.serving.attributes
attributes:
  check_mode:
    description: Can run in check mode, and then makes no folder of results.
    support: full
  diff_mode:
    description: Returns what would change.
    support: none
    details: It changes nothing but a new folder on the controller.
options:
  plan:
    description: What M(dgxspark.serving.plan) returned.
    type: dict
    required: true
"""

EXAMPLES = r"""
- name: Plan the deployment
  dgxspark.serving.plan:
    group: sparks
  run_once: true
  register: serving_plan

- name: Order the benchmark
  dgxspark.serving.benchmark_plan:
    plan: "{{ serving_plan }}"
  run_once: true
  register: ordered
  vars:
    benchmark_suite: standard
"""

RETURN = r"""
order:
  description:
    - What M(dgxspark.serving.benchmark) plays, with C(run), C(targets), C(cases), C(rounds), C(pairs), C(limits),
      C(goodput) and C(proxy). No secret is in it.
  returned: success
  type: dict
blocks:
  description: The C(variants) that are deployed in turn, and C(rounds), how often each; empty when nothing is deployed.
  returned: success
  type: dict
client:
  description: The host that asks, by its name in the inventory, or C(localhost) for the controller.
  returned: success
  type: str
hosts:
  description: The hosts that are watched meanwhile.
  returned: success
  type: list
  elements: str
second_source:
  description:
    - What M(dgxspark.serving.benchmark_second_source) asks, with the C(host), the C(container) and the C(points).
      Without points C(notes) say why.
  returned: success
  type: dict
folder:
  description:
    - Absolute path of the folder of results on the controller. But for check mode it holds the order as C(order.json)
      and the blocks as C(blocks.json).
  returned: success
  type: str
resumed:
  description: Whether the folder holds an interrupted run that goes on.
  returned: success
  type: bool
key_file:
  description: Where the key for the gateway has to be laid on the RV(client); empty when none has to.
  returned: success
  type: str
key_source:
  description: Absolute path of that key on the controller; empty when none has to be laid.
  returned: success
  type: str
ca_file:
  description: Where the certificate of C(benchmark_ca_file) has to be laid on the RV(client); empty when none has to.
  returned: success
  type: str
ca_source:
  description: Absolute path of that certificate on the controller; empty when none has to be laid.
  returned: success
  type: str
baseline:
  description: Absolute path of the result to compare with; empty without one.
  returned: success
  type: str
notes:
  description: Sentences about what cannot be seen from the host that asks.
  returned: success
  type: list
  elements: str
options:
  description: The values of all variables without their prefix, of the right types.
  returned: success
  type: dict
"""
