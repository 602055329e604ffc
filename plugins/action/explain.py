# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Action plugin ``explain``: prints the plan as commands."""

from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase

from ansible_collections.dgxspark.serving.plugins.module_utils.report.explain import explain
from ansible_collections.dgxspark.serving.plugins.plugin_utils.shown import show


class ActionModule(ActionBase):
    """The thin edge around :func:`explain`."""

    TRANSFERS_FILES = False
    _requires_connection = False

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        _validation, options = self.validate_argument_spec(argument_spec={"plan": {"type": "dict", "required": True}})
        lines = explain(options["plan"])
        show(lines)
        return {**result, "changed": False, "lines": lines}
