#!/usr/bin/python
# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin of the same name."""

from __future__ import annotations

DOCUMENTATION = r"""
module: model_plan
short_description: Say who has the model, who downloads it, and who gets a copy
version_added: 0.1.0
description:
  - Reads what M(dgxspark.serving.model_info) returned on all hosts, or what M(dgxspark.serving.preflight_info) saw
    there, and what M(dgxspark.serving.model_manifest) read of the contents.
  - Hosts that are to serve the same model are to have the same files. What one has is copied to the others; what none
    has is downloaded on one.
  - Prints one line for each model that moves. Runs on the controller.
extends_documentation_fragment:
  - dgxspark.serving.attributes
options:
  ranks:
    description: The ranks of M(dgxspark.serving.plan).
    type: dict
    required: true
  download:
    description: Whether a model that no host has may be downloaded.
    type: bool
    default: true
  truth:
    description: The host whose files count as right where hosts have different ones.
    type: str
    default: ""
  tried:
    description: RV(steps) of a plan before the downloads; the model of a host that has failed since is not to be had.
    type: dict
    default: {}
  compare:
    description: Whether hosts that have it whole must have the same files.
    type: bool
    default: true
"""

EXAMPLES = r"""
- name: Decide
  dgxspark.serving.model_plan:
    ranks: "{{ plan.ranks }}"
  register: spread
  run_once: true
"""

RETURN = r"""
steps:
  description: For each host V(download), V(source), V(receive), or nothing.
  returned: success
  type: dict
refused:
  description: For each host that cannot get its model, why.
  returned: success
  type: dict
offers:
  description: What the role C(fanout) is told of each host that takes part in a copy.
  returned: success
  type: dict
download:
  description: Whether a host downloads.
  returned: success
  type: bool
"""
