#!/usr/bin/python
# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin of the same name."""

from __future__ import annotations

DOCUMENTATION = r"""
module: image_pull
short_description: Pull an image, and again where that may help
version_added: 0.1.0
description:
  - Pulls an image that the host does not have, by M(community.docker.docker_image_pull). One that is there is left
    as it is.
  - Tries again, after a pause that doubles each time, when the registry says that there were too many requests, or when
    it did not answer in time. An image that does not exist, a missing login or a full disk fails at once.
author:
  - dgxspark.serving contributors (@dgxspark)
options:
  name:
    description: The image, by tag or digest.
    type: str
    required: true
  attempts:
    description: How often it is tried.
    type: int
    default: 4
  delay:
    description: Seconds until the second attempt.
    type: float
    default: 10
attributes:
  check_mode:
    description: Can run in check mode and says whether it would pull.
    support: full
  diff_mode:
    description: Returns what would change.
    support: full
"""

EXAMPLES = r"""
- name: Have the image
  dgxspark.serving.image_pull:
    name: vllm/vllm-openai:v0.32.0
"""

RETURN = r"""
image:
  description: The image as Docker shows it; empty in check mode when it is not there.
  returned: success
  type: dict
attempts:
  description: How often it was tried.
  returned: always
  type: int
"""
