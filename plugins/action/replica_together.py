# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Action plugin ``replica_together``: a host goes on only if a step has succeeded on all hosts that share its fate."""

from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase


class ActionModule(ActionBase):
    """Looks at a registered variable of the other hosts; connects to none."""

    TRANSFERS_FILES = False
    _requires_connection = False

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        _validation, options = self.validate_argument_spec(
            argument_spec={
                "hosts": {"type": "list", "elements": "str", "required": True},
                "result_variable": {"type": "str", "required": True},
            }
        )
        hostvars = (task_vars or {})["hostvars"]
        lame = []
        for host in options["hosts"]:
            seen = hostvars[host].get(options["result_variable"]) or {"failed": True}
            if seen.get("failed") or seen.get("unreachable"):
                lame.append(host)
        if lame:
            return {**result, "failed": True, "msg": f"It did not succeed on {', '.join(lame)}.", "lame": lame}
        return {**result, "changed": False}
