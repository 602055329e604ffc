# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Action plugin ``model_manifest``: its module hashes in the background, and this shows how far it is."""

from __future__ import annotations

from typing import Any

from ansible_collections.dgxspark.serving.plugins.plugin_utils.followed import FollowedAction


class ActionModule(FollowedAction):
    """Follows the module."""

    MODULE = "dgxspark.serving.model_manifest"

    def what(self, arguments: dict[str, Any]) -> str:
        return f"hashing {arguments.get('model', '')}"
