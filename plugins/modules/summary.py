#!/usr/bin/python
# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin of the same name."""

from __future__ import annotations

DOCUMENTATION = r"""
module: summary
short_description: Show what a deployment serves and how to ask it
version_added: 0.1.0
description:
  - Prints a table of the replicas with their hosts, endpoint, served name, engine version and the speed of the smoke
    generation, a C(curl) line and a codex profile. With a gateway these ask its address, there is a program for
    OpenAI's Python client, and a second profile asks an engine itself. Keys are named and never shown. Runs on the
    controller.
extends_documentation_fragment:
  - dgxspark.serving.attributes
options:
  replicas:
    description: The replicas of M(dgxspark.serving.plan); those whose hosts this run left out are not shown.
    type: list
    elements: dict
    required: true
  result_variable:
    description: Variable that holds, on each host, what M(dgxspark.serving.replica_ready) returned there.
    type: str
    required: true
  gateway:
    description: The gateway of M(dgxspark.serving.plan), if there is one.
    type: dict
"""

EXAMPLES = r"""
- name: Show the result
  dgxspark.serving.summary:
    replicas: "{{ plan.replicas }}"
    result_variable: ready
    gateway: "{{ plan.gateway }}"
  run_once: true
"""

RETURN = r"""
lines:
  description: What was printed.
  returned: success
  type: list
  elements: str
"""
