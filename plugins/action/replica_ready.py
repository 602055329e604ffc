# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Action plugin ``replica_ready``: lets the module of that name look, window by window, and says how far it is."""

from __future__ import annotations

import time
from typing import Any

from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from ansible_collections.dgxspark.serving.plugins.module_utils import readiness
from ansible_collections.dgxspark.serving.plugins.module_utils.report.not_ready import not_ready, progress_line

MODULE = "dgxspark.serving.replica_ready"


class ActionModule(ActionBase):
    """The loop around the module; one round trip when the engine is ready already."""

    TRANSFERS_FILES = False

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        if self._task.check_mode:
            return {**result, "changed": False, "skipped": True, "msg": "Nothing is waited for in check mode."}
        host = (task_vars or {}).get("inventory_hostname", "")
        arguments = dict(self._task.args)
        container = arguments.get("container", "")
        start = time.monotonic()
        patience = readiness.patience(
            float(arguments.get("timeout", readiness.DEFAULT_TIMEOUT)),
            float(arguments.get("timeout_total", 0)),
            start,
        )
        changed = False
        while True:
            seen = self._execute_module(module_name=MODULE, module_args=arguments, task_vars=task_vars)
            changed = seen["changed"] = changed or bool(seen.get("changed"))
            if seen.get("failed") or seen.get("state") == readiness.READY:
                return {**result, **seen}
            now = time.monotonic()
            stage = f"{seen['stage']} {seen['engine_stage']} {seen['detail']}"
            patience = patience.after(now, stage, seen["percent"], seen["line"])
            limit = patience.spent(now)
            if seen["state"] == readiness.FAILED or limit:
                words = "" if seen["state"] == readiness.FAILED else limit
                return {**result, **seen, "failed": True, "msg": not_ready(host, container, now - start, words, seen)}
            Display().display(progress_line(host, container, now - start, seen))
            # What later looks need of the first one: which request is this wait's own, and when it began.
            arguments["wait"] = seen["wait"]
