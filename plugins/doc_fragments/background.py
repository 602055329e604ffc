# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What modules whose work outlives a call say of themselves in common."""

from __future__ import annotations


class ModuleDocFragment:
    """``dgxspark.serving.background``: a module that works in the background of its host."""

    DOCUMENTATION = r"""
author:
  - dgxspark.serving contributors (@dgxspark)
options:
  job_stage:
    description: Begin the work, ask how far it is, or end it. The action plugin does what is needed.
    type: str
    choices: [start, poll, stop]
    default: start
  job_id:
    description: Name of the work on its host. The action plugin sets it.
    type: str
    default: ""
  job_wait:
    description: Seconds that a call waits for the end of the work.
    type: float
    default: 10
attributes:
  check_mode:
    description: Can run in check mode; it starts nothing, and says whether it would change the host.
    support: full
  diff_mode:
    description: Returns what would change.
    support: none
    details: Files of many gigabytes.
"""
