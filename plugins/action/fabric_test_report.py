# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Action plugin ``fabric_test_report``: prints the table of a fabric test, and writes it as JSON where asked to."""

from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase

from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_test import report
from ansible_collections.dgxspark.serving.plugins.plugin_utils.shown import save, show


class ActionModule(ActionBase):
    """The thin edge around :mod:`report`."""

    TRANSFERS_FILES = False
    _requires_connection = False

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        _validation, options = self.validate_argument_spec(
            argument_spec={
                "result_variable": {"type": "str", "required": True},
                "plan": {"type": "dict", "required": True},
                "path": {"type": "path"},
            }
        )
        task_vars = task_vars or {}
        found = [
            one
            for host in task_vars["ansible_play_hosts_all"]
            for one in task_vars["hostvars"][host].get(options["result_variable"]) or []
        ]
        plan = options["plan"]
        rows = report.data(plan["pairs"], plan["looks"], found)
        lines = report.lines(rows, plan["notes"])
        show(lines)
        if options["path"]:
            save(options["path"], {"pairs": rows})
        bad = report.bad(rows)
        failure = {"failed": True, "msg": bad} if bad else {}
        return {**result, "changed": False, "pairs": rows, "lines": lines, **failure}
