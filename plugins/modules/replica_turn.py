#!/usr/bin/python
# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin of the same name."""

from __future__ import annotations

DOCUMENTATION = r"""
module: replica_turn
short_description: Find whether and when this host's replica is changed
version_added: 0.1.0
description:
  - Replicas that stand still are started together. Those that serve, or take the place of one that does, are changed
    one after the other, so that the others serve meanwhile.
  - A replica with a problem on one of its hosts, with a host that failed before, or with different images on its hosts
    is not touched; the task then fails on all its hosts and names every reason.
  - Looks at what other hosts have registered. Runs on the controller.
extends_documentation_fragment:
  - dgxspark.serving.attributes
options:
  replicas:
    description: The replicas of M(dgxspark.serving.plan).
    type: list
    elements: dict
    required: true
  info_variable:
    description: Variable that holds, on each host, what M(dgxspark.serving.replica_info) returned there.
    type: str
    required: true
"""

EXAMPLES = r"""
- name: Find when it is its turn
  dgxspark.serving.replica_turn:
    replicas: "{{ plan.replicas }}"
    info_variable: here
  register: turn
"""

RETURN = r"""
waves:
  description: Number of turns in this run, of all hosts.
  returned: always
  type: int
wave:
  description: The turn of this host's replica, from V(0); V(-1) when nothing is to be changed.
  returned: always
  type: int
after:
  description: Hosts of earlier turns, which must have succeeded.
  returned: always
  type: list
  elements: str
together:
  description: The hosts that share the fate of this change, this one among them.
  returned: always
  type: list
  elements: str
replace:
  description: Whether the containers of the replica are made anew.
  returned: always
  type: bool
reasons:
  description: What is not as wanted on this host.
  returned: always
  type: list
  elements: str
problems:
  description: What keeps the replica from being changed.
  returned: always
  type: list
  elements: str
"""
