# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Action plugin ``status``: prints what runs on which host, and writes it as JSON where asked to."""

from __future__ import annotations

import time
from typing import Any

from ansible.plugins.action import ActionBase

from ansible_collections.dgxspark.serving.plugins.module_utils.report import status
from ansible_collections.dgxspark.serving.plugins.plugin_utils.shown import save, show


class ActionModule(ActionBase):
    """The thin edge around :func:`status.rows`."""

    TRANSFERS_FILES = False
    _requires_connection = False

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        _validation, options = self.validate_argument_spec(
            argument_spec={
                "result_variable": {"type": "str", "required": True},
                "plan": {"type": "dict"},
                "path": {"type": "path"},
            }
        )
        task_vars = task_vars or {}
        seen = {
            host: task_vars["hostvars"][host].get(options["result_variable"]) or {}
            for host in task_vars["ansible_play_hosts_all"]
        }
        planned = (options["plan"] or {}).get("ranks")
        rows = status.rows(seen, planned, time.time())
        lines = status.lines(rows)
        show(lines)
        if options["path"]:
            save(options["path"], rows)
        return {**result, "changed": False, "lines": lines, "ranks": rows}
