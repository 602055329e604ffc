# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Action plugin ``fanout``: gives each host its part of the way, and follows those that receive."""

from __future__ import annotations

from typing import Any

from ansible_collections.dgxspark.serving.plugins.plugin_utils.followed import FollowedAction


class ActionModule(FollowedAction):
    """Reads on the controller what is the same for all hosts, so that a task says it once."""

    MODULE = "dgxspark.serving.fanout"

    def what(self, arguments: dict[str, Any]) -> str:
        return f"copying {arguments['what']}"

    def arguments(self, task_vars: dict[str, Any]) -> dict[str, Any]:
        arguments = dict(self._task.args)
        offers, variable, ways = arguments.pop("offers"), arguments.pop("manifest_variable"), arguments.pop("ways", {})
        host = task_vars["inventory_hostname"]
        own = offers[host]
        source = next(name for name, other in offers.items() if other["key"] == own["key"] and other["source"])
        arguments.setdefault("stage", "serve" if own["source"] else "copy")
        return {
            **arguments,
            "what": own["what"],
            "root": own["root"],
            "distrust": own.get("distrust") or [],
            "record": own.get("record", True),
            "manifest": task_vars["hostvars"][source][variable]["manifest"],
            **ways.get(host, {}),
        }
