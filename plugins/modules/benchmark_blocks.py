#!/usr/bin/python
# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin of the same name."""

from __future__ import annotations

DOCUMENTATION = r"""
module: benchmark_blocks
short_description: Compare deployments by deploying and measuring them in turn
version_added: 0.1.0
description:
  - >-
    Deploys each variant with a playbook of this collection, measures it, and goes on to the next, as A B B A. Of two
    blocks of the same variant in a row the second finds it deployed, and only measures.
  - >-
    The playbooks run as child processes with the inventory, the limit, the extra variables and the connection options
    of the playbook that this task is in. A password that the user has typed cannot be passed on and is refused.
  - >-
    Before the first change it is checked that each variant can be planned, and that what runs now is what inventory
    and variables say. In the end that is deployed again, also after a failure and after Ctrl-C.
  - Runs on the controller, once for all hosts of the play.
extends_documentation_fragment:
  - dgxspark.serving.attributes
options:
  blocks:
    description:
      - What RV(dgxspark.serving.benchmark_plan#module:blocks) is, with C(variants) and C(rounds).
      - Each variant has C(name), C(playbook) and C(extra_vars). C(rounds) is the number of blocks of each variant.
    type: dict
    required: true
  run:
    description: The C(run) of RV(dgxspark.serving.benchmark_plan#module:order).
    type: dict
    required: true
  results:
    description:
      - Folder of the run on the controller. Blocks that it has the result of are not measured again.
    type: path
    required: true
  running_variable:
    description: Variable that holds, on each host, what M(dgxspark.serving.replica_info) returned there.
    type: str
    required: true
  restore:
    description: Deploy what runs now again in the end. Otherwise what the last block has deployed stays.
    type: bool
    default: true
"""

EXAMPLES = r"""
- name: Look what runs
  dgxspark.serving.replica_info:
  register: here
  become: true

- name: Measure one replica per host against one per pair
  dgxspark.serving.benchmark_blocks:
    blocks:
      variants:
        - name: tp1
          playbook: deploy_tp1
          extra_vars: {}
        - name: tp2
          playbook: deploy_tp2
          extra_vars: {}
      rounds: 2
    run: "{{ benchmark_plan.order.run }}"
    results: results/20261130T101500Z-layout
    running_variable: here
  run_once: true
  register: measured
"""

RETURN = r"""
sequence:
  description: The variant of each block.
  returned: always
  type: list
  elements: str
finished:
  description: Number of blocks that are measured.
  returned: when a block is measured
  type: int
failure:
  description:
    - Why the other blocks are not measured, and how to go on, or what could not be restored. Empty when all is well.
    - With at least one block measured the task does not fail, so that what there is can be reported first.
  returned: always
  type: str
restored:
  description: What was done about what ran before.
  returned: success
  type: str
order:
  description: The order of the whole run, with targets, points and deployments of each variant under its name.
  returned: when a block is measured
  type: dict
results:
  description: Folder of the run, as O(results).
  returned: when a block is measured
  type: str
merged:
  description: What M(dgxspark.serving.benchmark_report) takes as O(dgxspark.serving.benchmark_report#module:merged).
  returned: when a block is measured
  type: dict
  contains:
    rounds_folder:
      description: Folder with the rounds of all blocks.
      type: str
    deployments:
      description: What was measured, one entry for each variant.
      type: list
      elements: dict
    envs:
      description: What the hosts are.
      type: dict
    snapshots:
      description: What was sampled on each host in all blocks.
      type: dict
notes:
  description: Sentences on blocks that are not measured, and on variants that were not the same in all of theirs.
  returned: when a block is measured
  type: list
  elements: str
"""
