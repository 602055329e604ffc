# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Action plugin ``summary``: prints what a deployment serves."""

from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase

from ansible_collections.dgxspark.serving.plugins.module_utils.report.summary import Readiness, summary
from ansible_collections.dgxspark.serving.plugins.plugin_utils.shown import show


class ActionModule(ActionBase):
    """The thin edge around :func:`summary`."""

    TRANSFERS_FILES = False
    _requires_connection = False

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        _validation, options = self.validate_argument_spec(
            argument_spec={
                "replicas": {"type": "list", "elements": "dict", "required": True},
                "result_variable": {"type": "str", "required": True},
                "gateway": {"type": "dict"},
            }
        )
        task_vars = task_vars or {}
        served = [
            replica for replica in options["replicas"] if set(replica["hosts"]) <= set(task_vars["ansible_play_hosts"])
        ]
        if not served:
            return {**result, "changed": False, "lines": []}
        seen = {}
        for replica in served:
            ready = task_vars["hostvars"][replica["hosts"][0]].get(options["result_variable"]) or {}
            seen[replica["name"]] = Readiness(ready.get("engine_version", ""), ready.get("tokens_per_second"))
        lines = summary(served, seen, options["gateway"])
        show(lines)
        return {**result, "changed": False, "lines": lines}
