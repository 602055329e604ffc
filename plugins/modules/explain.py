#!/usr/bin/python
# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin of the same name."""

from __future__ import annotations

DOCUMENTATION = r"""
module: explain
short_description: Show a plan as the commands that a person would type
version_added: 0.1.0
description:
  - Prints a table of replicas and ranks, and one C(docker run) for each rank, workers first; then the files and units
    of the gateway, with names in the place of secrets. Runs on the controller.
  - The folder of the model on the host is known only there and stays the word C(MODEL_ON_HOST).
extends_documentation_fragment:
  - dgxspark.serving.attributes
options:
  plan:
    description: What M(dgxspark.serving.plan) returned.
    type: dict
    required: true
"""

EXAMPLES = r"""
- name: Show the plan as commands
  dgxspark.serving.explain:
    plan: "{{ plan }}"
  run_once: true
"""

RETURN = r"""
lines:
  description: What was printed.
  returned: success
  type: list
  elements: str
"""
