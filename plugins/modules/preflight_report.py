#!/usr/bin/python
# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin of the same name."""

from __future__ import annotations

DOCUMENTATION = r"""
module: preflight_report
short_description: Show what the preflight found on all hosts
version_added: 0.1.0
description:
  - Compares the hosts with each other, prints one table of what is not well and what to do about it, and says which
    hosts may not go on.
  - With C(-v) the table has every check.
  - Runs on the controller.
extends_documentation_fragment:
  - dgxspark.serving.attributes
options:
  plan:
    description: What M(dgxspark.serving.plan) returned, also when it failed.
    type: dict
    default: {}
  result_variable:
    description: Variable that holds, on each host, what M(dgxspark.serving.preflight_info) returned there.
    type: str
    required: true
  ignore:
    description: Ids of checks whose findings count as known.
    type: list
    elements: str
    default: []
  strict:
    description: Whether a warning fails.
    type: bool
    default: false
  path:
    description: File on the controller into which all answers are written as JSON.
    type: path
  model_download:
    description: Whether a deployment downloads a model that no host has, so that this is no failure.
    type: bool
    default: true
  model_from:
    description: The host whose model a deployment copies to those that have another.
    type: str
    default: ""
  image_comes:
    description: Whether a deployment brings one image to all hosts, so that images that differ are no failure.
    type: bool
    default: false
  whole:
    description: Fail here when any host may not go on. Without it RV(refused) says which.
    type: bool
    default: false
"""

EXAMPLES = r"""
- name: Show what the preflight found
  dgxspark.serving.preflight_report:
    result_variable: here
    whole: true
  run_once: true
"""

RETURN = r"""
refused:
  description: Why hosts may not go on, by host; those that share a replica with one that failed are among them.
  returned: success
  type: dict
counts:
  description: How many answers there are of each status.
  returned: success
  type: dict
"""
