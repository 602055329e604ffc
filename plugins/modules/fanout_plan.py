#!/usr/bin/python
# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin of the same name."""

from __future__ import annotations

DOCUMENTATION = r"""
module: fanout_plan
short_description: Lay the way on which a copy goes from host to host
version_added: 0.1.0
description:
  - Makes one chain over the fabric, as far as the hosts share networks, so that each host sends once.
  - Says for all hosts why something cannot be copied, such as a disk that is too small, before the first byte.
  - Runs on the controller.
extends_documentation_fragment:
  - dgxspark.serving.attributes
options:
  offers:
    description: Who has what, and who gets it; see the role C(fanout).
    type: dict
    required: true
  need_variable:
    description: Variable that holds, on each host that receives, what M(dgxspark.serving.fanout) found to be missing.
    type: str
    required: true
  network:
    description: Whether only the fabric will do.
    type: str
    choices: [fabric, any]
    default: fabric
  group:
    description: Inventory group of the hosts that meet on the fabric.
    type: str
    default: sparks
"""

EXAMPLES = r"""
- name: Lay the way
  dgxspark.serving.fanout_plan:
    offers: "{{ spread.offers }}"
    need_variable: need
  register: way
  run_once: true
"""

RETURN = r"""
ways:
  description: For each host where it listens, whom it answers, and whom it asks.
  returned: success
  type: dict
refused:
  description: For each host why nothing is copied to it.
  returned: success
  type: dict
"""
