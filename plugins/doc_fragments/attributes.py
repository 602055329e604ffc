# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What modules say of themselves in common."""

from __future__ import annotations


class ModuleDocFragment:
    """``dgxspark.serving.attributes``: a module that only looks."""

    DOCUMENTATION = r"""
author:
  - dgxspark.serving contributors (@dgxspark)
attributes:
  check_mode:
    description: Can run in check mode and gives the same answer.
    support: full
  diff_mode:
    description: Returns what would change.
    support: none
    details: It changes nothing.
"""
