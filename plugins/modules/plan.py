#!/usr/bin/python
# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin of the same name."""

from __future__ import annotations

DOCUMENTATION = r"""
module: plan
short_description: Lay replicas on hosts, or say all that is wrong with the configuration
version_added: 0.1.0
description:
  - Reads the inventory and the variables of all hosts of a group, checks them, and gives replicas, ranks, addresses,
    ports and the engine's exact command line and environment. Later steps read it and decide nothing.
  - Runs on the controller and connects to no host.
  - All errors of the configuration are reported at once, misspelt variables among them.
  - The variables it reads are listed in C(docs/variables.md).
extends_documentation_fragment:
  - dgxspark.serving.attributes
options:
  group:
    description: Inventory group of the hosts.
    type: str
    default: sparks
  deployment_name:
    description: Name of the one deployment when C(serving_deployments) spells out none.
    type: str
    default: main
  world_size:
    description: Hosts of each replica that the playbook serves; any number when V(0).
    type: int
    default: 0
"""

EXAMPLES = r"""
- name: Plan the deployment
  dgxspark.serving.plan:
    group: sparks
  run_once: true
  register: plan
"""

RETURN = r"""
replicas:
  description: The replicas in the order of their deployments, with name, hosts, endpoint, served name, model and image.
  returned: success
  type: list
  elements: dict
gateway:
  description:
    - What the gateway is to be, without any secret; empty when there is none.
    - The hosts that run it, where it listens, the deployments with the address of each replica, limits, and what must
      be installed and free.
  returned: success
  type: dict
ranks:
  description:
    - For each host that serves and that this run may touch, its replica, rank, model, API address, container, the ports
      that must be free, and what its supervisor is told.
  returned: success
  type: dict
"""
