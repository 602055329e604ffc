# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Action plugin ``replica_change``: brings the files and calls the module until nothing is waited for."""

from __future__ import annotations

import base64
import time
from typing import Any

from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from ansible_collections.dgxspark.serving.plugins.plugin_utils import rank_files, this_run

MODULE = "dgxspark.serving.replica_change"


class ActionModule(ActionBase):
    """The loop around the module; one round trip when nothing has to stop."""

    TRANSFERS_FILES = False

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        host = (task_vars or {}).get("inventory_hostname", "")
        run = this_run.this_run()
        arguments = {**self._task.args, "run": run.id, "by": run.by, "pid": run.pid}
        if arguments.get("state") == "begun":
            files = rank_files.rank_files()
            arguments |= {
                "program": base64.b64encode(files.program).decode(),
                "ray_rank": files.ray_rank.decode(),
                "unit": files.unit.decode(),
            }
        start = time.monotonic()
        changed = False
        while True:
            seen = self._execute_module(module_name=MODULE, module_args=arguments, task_vars=task_vars)
            lock = seen.get("lock")
            if lock and not arguments.get("force_lock") and run.is_certainly_over(lock):
                arguments["force_lock"] = lock["run"]
                continue
            if lock:
                seen["msg"] = f"{host}: {seen['msg']}"
            changed = changed or bool(seen.get("changed"))
            if seen.get("failed") or not seen.get("pending"):
                return {**result, **seen, "changed": changed}
            Display().display(f"{host}: {time.monotonic() - start:.0f} s, {seen['words']}")
