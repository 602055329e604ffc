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

MODULE = "dgxspark.serving.replica_ready"


class ActionModule(ActionBase):
    """The loop around the module; one round trip when the engine is ready already."""

    TRANSFERS_FILES = False

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        if self._task.check_mode:
            return {**result, "changed": False, "skipped": True, "msg": "Nothing is waited for in check mode."}
        host = (task_vars or {}).get("inventory_hostname", "")
        container = self._task.args.get("container", "")
        start = time.monotonic()
        limit = int(self._task.args.get("timeout", readiness.DEFAULT_TIMEOUT))
        while True:
            seen = self._execute_module(module_name=MODULE, task_vars=task_vars)
            seconds = time.monotonic() - start
            if seen.get("failed") or seen.get("state") == readiness.READY:
                return {**result, **seen}
            if seen["state"] == readiness.FAILED:
                return {**result, **seen, "failed": True, "msg": _failure(host, container, seen, seconds, "")}
            if seconds > limit:
                timeout = f" until replica_ready_timeout ({limit} s)"
                return {**result, **seen, "failed": True, "msg": _failure(host, container, seen, seconds, timeout)}
            last = seen["log"][-1] if seen["log"] else "nothing in the log yet"
            Display().display(f"{host}: {container}: {seconds:.0f} s, {seen['detail']}; {last.strip()[:120]}")


def _failure(host: str, container: str, seen: dict[str, Any], seconds: float, timeout: str) -> str:
    log = "\n".join(f"  | {line}" for line in seen["log"]) or "  | (empty)"
    return (
        f"{host}: {container} did not become ready{timeout}: after {seconds:.0f} s {seen['detail']}.\n"
        f"Last lines of its log:\n{log}\n"
        f"Read all of it on {host} with: docker logs {container}"
    )
