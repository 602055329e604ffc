#!/usr/bin/python
# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin of the same name."""

from __future__ import annotations

DOCUMENTATION = r"""
module: engine_key_choice
short_description: Choose the key that gateway and engines share
version_added: 0.1.0
description:
  - Takes the key that M(dgxspark.serving.engine_key) has read on one of the hosts, or makes one.
  - Runs on the controller, and always with C(no_log).
extends_documentation_fragment:
  - dgxspark.serving.attributes
options:
  hosts:
    description: All hosts that share the key.
    type: list
    elements: str
    required: true
  result_variable:
    description: Name of the variable that holds each host's result of M(dgxspark.serving.engine_key).
    type: str
    required: true
attributes:
  check_mode:
    description: Can run in check mode.
    support: full
  diff_mode:
    description: Returns what would change.
    support: none
"""

EXAMPLES = r"""
- name: Take the key that is there, or make one
  dgxspark.serving.engine_key_choice:
    hosts: [spark1, spark2]
    result_variable: key_here
  register: key
  run_once: true
  no_log: true
"""

RETURN = r"""
key:
  description: The key.
  returned: always
  type: str
lacking:
  description: Hosts that have none, or another one.
  returned: always
  type: list
  elements: str
problem:
  description: Why there is no key, a sentence; empty when there is one.
  returned: always
  type: str
"""
