#!/usr/bin/python
# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin of the same name."""

from __future__ import annotations

DOCUMENTATION = r"""
module: image_lock
short_description: Write down which image each name stands for
version_added: 0.1.0
description:
  - Keeps a YAML file on the controller with the digests, the contents and the versions of each image that is deployed.
    Entries that are there stay, unless an update is asked for.
  - Asked first with O(state=looked), on all hosts, then with O(state=written), once.
author:
  - dgxspark.serving contributors (@dgxspark)
attributes:
  check_mode:
    description: Can run in check mode and says whether it would change the file.
    support: full
  diff_mode:
    description: Returns what would change.
    support: none
options:
  plan:
    description: What M(dgxspark.serving.plan) returned, of which the image of each rank is read.
    type: dict
    required: true
  path:
    description: The file.
    type: str
    required: true
  update:
    description: Whether entries that are there are written anew.
    type: bool
    default: false
  state:
    description: V(looked) says what the file lacks, V(written) writes it.
    type: str
    choices: [looked, written]
    required: true
  info_variable:
    description:
      - Variable that holds, on the hosts that had to be asked, what M(dgxspark.serving.image_info) returned there with
        versions; needed with O(state=written).
    type: str
    default: ""
"""

EXAMPLES = r"""
- name: Find what the lock lacks
  dgxspark.serving.image_lock:
    state: looked
    path: image.lock.yml
    plan: "{{ plan }}"
  register: lock
"""

RETURN = r"""
ask:
  description: Whether this host has to be asked for its image.
  returned: with O(state=looked)
  type: bool
missing:
  description: Names of images whose entries are to be written.
  returned: with O(state=looked)
  type: list
  elements: str
changes:
  description: What changes by image name, a line each.
  returned: with O(state=written)
  type: dict
"""
