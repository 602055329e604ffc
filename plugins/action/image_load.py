# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Action plugin ``image_load``: follows the work in the background and shows how far it is."""

from __future__ import annotations

from typing import Any

from ansible_collections.dgxspark.serving.plugins.plugin_utils.followed import FollowedAction


class ActionModule(FollowedAction):
    """One line about it every ten seconds."""

    MODULE = "dgxspark.serving.image_load"

    def what(self, arguments: dict[str, Any]) -> str:
        return f"loading image {arguments['name']}"
