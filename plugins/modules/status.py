#!/usr/bin/python
# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin of the same name."""

from __future__ import annotations

DOCUMENTATION = r"""
module: status
short_description: Show what runs on which host
version_added: 0.1.0
description:
  - Prints a table of the ranks on all hosts of the play, hosts that cannot be reached among them, with what their
    supervisors say, and whether the inventory wants something else; then one for each gateway.
  - Runs on the controller.
extends_documentation_fragment:
  - dgxspark.serving.attributes
options:
  result_variable:
    description: Variable that holds, on each host, what M(dgxspark.serving.replica_info) returned there.
    type: str
    required: true
  gateway_variable:
    description:
      - Variable that holds, on each host, what M(dgxspark.serving.gateway_info) returned there. Without it nothing is
        said about gateways.
    type: str
  plan:
    description: What M(dgxspark.serving.plan) returned; without it nothing is said about what the inventory wants.
    type: dict
  path:
    description: File on the controller into which C(ranks) and C(gateway) are written as JSON.
    type: path
"""

EXAMPLES = r"""
- name: Show what runs
  dgxspark.serving.status:
    result_variable: here
  run_once: true
"""

RETURN = r"""
lines:
  description: What was printed.
  returned: success
  type: list
  elements: str
ranks:
  description: The rows as data, with more than the table shows.
  returned: success
  type: list
  elements: dict
gateway:
  description:
    - For each host that has a gateway, or is to have one, its state, provider, certificate and last fail-over, and for
      each deployment the queue and its replicas with rotation, requests in flight and last change.
  returned: success
  type: list
  elements: dict
"""
