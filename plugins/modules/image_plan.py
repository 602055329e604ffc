#!/usr/bin/python
# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin of the same name."""

from __future__ import annotations

DOCUMENTATION = r"""
module: image_plan
short_description: Say which host gets its image from where
version_added: 0.1.0
description:
  - In its first stage it names the host that gets an image from outside, where one has to. In its second, when that is
    done, the hosts that get the image from it.
  - Fails on a host that has, or would get, an image of another architecture or another one than the lock's, that has
    too little room for it, or that cannot be reached; before anything is copied.
  - Looks at what other hosts have registered. Runs on the controller.
extends_documentation_fragment:
  - dgxspark.serving.attributes
options:
  plan:
    description: What M(dgxspark.serving.plan) returned, of which the image of each rank is read.
    type: dict
    required: true
  stage:
    description: Which of the two.
    type: str
    choices: [first, second]
    required: true
  info_variable:
    description: Variable that holds, on each host, what M(dgxspark.serving.image_info) returned there.
    type: str
    required: true
  part_variable:
    description: Variable that holds, on each host, what the first stage returned; the second stage needs it.
    type: str
    default: ""
  before_variable:
    description: Variable that holds, on each host, what O(info_variable) held before; changes are shown against it.
    type: str
    default: ""
  architecture:
    description: Architecture that images must have, in Docker's words.
    type: str
    default: arm64
  tar:
    description: File of an image, on a host.
    type: str
    default: ""
  source:
    description: Host whose image all are to have.
    type: str
    default: ""
  update:
    description: Whether a newer image is wanted where the name is there.
    type: bool
    default: false
  fan_out:
    description: Whether hosts get the image from each other.
    type: bool
    default: true
  network:
    description: Whether they may do so without the fabric.
    type: str
    choices: [fabric, any]
    default: fabric
  lock_file:
    description: The lock, on the controller.
    type: str
    default: ""
"""

EXAMPLES = r"""
- name: Decide who gets it from outside
  dgxspark.serving.image_plan:
    stage: first
    plan: "{{ plan }}"
    info_variable: here
  register: first
"""

RETURN = r"""
part:
  description: What this host does - C(action), C(reference), C(source), C(gives), C(receives) and C(key).
  returned: success
  type: dict
settled:
  description: Whether no host has anything to do.
  returned: success
  type: bool
copies:
  description: Whether any host gets an image from another one.
  returned: success
  type: bool
receivers:
  description: Hosts that get this host's image.
  returned: success
  type: list
  elements: str
offers:
  description: What the role C(fanout) is told.
  returned: success
  type: dict
layers:
  description: SHA-256 of the layers of the image that this host is to have, where they are known.
  returned: success
  type: list
  elements: str
changes:
  description: What an update changes, a line each.
  returned: in the second stage of an update, on the host that got it
  type: list
  elements: str
"""
