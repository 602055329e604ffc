# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Action plugin ``status``: prints what runs on which host, and writes it as JSON where asked to."""

from __future__ import annotations

import time
from typing import Any

from ansible.plugins.action import ActionBase

from ansible_collections.dgxspark.serving.plugins.module_utils.report import gateway, status
from ansible_collections.dgxspark.serving.plugins.plugin_utils.shown import save, show


class ActionModule(ActionBase):
    """The thin edge around :func:`status.rows` and :func:`gateway.rows`."""

    TRANSFERS_FILES = False
    _requires_connection = False

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        _validation, options = self.validate_argument_spec(
            argument_spec={
                "result_variable": {"type": "str", "required": True},
                "gateway_variable": {"type": "str"},
                "plan": {"type": "dict"},
                "path": {"type": "path"},
            }
        )
        seen = _results(task_vars or {}, options["result_variable"])
        gateways = _results(task_vars or {}, options["gateway_variable"]) if options["gateway_variable"] else {}
        plan, now = options["plan"] or {}, time.time()
        found = {
            "ranks": status.rows(seen, plan.get("ranks"), now),
            "gateway": gateway.rows(gateways, seen, plan.get("gateway"), "ranks" in plan, now),
        }
        lines = [*status.lines(found["ranks"]), *gateway.lines(found["gateway"])]
        show(lines)
        if options["path"]:
            save(options["path"], found)
        return {**result, "changed": False, "lines": lines, **found}


def _results(task_vars: dict[str, Any], variable: str) -> dict[str, Any]:
    """What each host of the play holds in the variable; empty where it holds nothing."""
    return {host: task_vars["hostvars"][host].get(variable) or {} for host in task_vars["ansible_play_hosts_all"]}
