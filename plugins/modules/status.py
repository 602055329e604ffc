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
  - Prints a table of the ranks on all hosts of the play, hosts that cannot be reached among them.
  - Runs on the controller.
extends_documentation_fragment:
  - dgxspark.serving.attributes
options:
  result_variable:
    description: Variable that holds, on each host, what M(dgxspark.serving.replica_info) returned there.
    type: str
    required: true
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
"""
