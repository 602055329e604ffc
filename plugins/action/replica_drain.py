# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Action plugin ``replica_drain``: lets the module of that name look, window by window, and says what it waits for."""

from __future__ import annotations

import time
from typing import Any

from ansible.module_utils.parsing.convert_bool import boolean
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from ansible_collections.dgxspark.serving.plugins.plugin_utils import this_run

MODULE = "dgxspark.serving.replica_drain"
# As the module has them.
TIMEOUT, WINDOW = 600, 10


class ActionModule(ActionBase):
    """The loop around the module; one round trip when nothing is waited for."""

    TRANSFERS_FILES = False

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        host = (task_vars or {}).get("inventory_hostname", "")
        arguments = {**self._task.args, "by": this_run.this_run().by}
        timeout = int(arguments.get("timeout", TIMEOUT))
        is_forced = boolean(arguments.get("force", False))
        start = time.monotonic()
        changed = False
        while True:
            left = max(0, round(timeout - (time.monotonic() - start)))
            arguments["window"] = min(int(self._task.args.get("window", WINDOW)), left)
            seen = self._execute_module(module_name=MODULE, module_args=arguments, task_vars=task_vars)
            changed = changed or bool(seen.get("changed"))
            seen["changed"] = changed
            if seen.get("failed") or seen.get("done") or self._task.check_mode:
                return {**result, **seen}
            seconds = time.monotonic() - start
            if seconds >= timeout:
                words = over(arguments["state"], timeout, seen)
                if is_forced:
                    Display().warning(f"{host}: {words}")
                    return {**result, **seen, "msg": words}
                return {**result, **seen, "failed": True, "msg": f"{words} {what_to_do(arguments['state'])}"}
            verb = "draining" if arguments["state"] == "drained" else "undraining"
            Display().display(f"{host}: {verb} {seen['replica']}: {seen['words']}, {seconds:.0f} s")
            arguments["since"] = seen["since"]


def over(state: str, timeout: int, seen: dict[str, Any]) -> str:
    """That the time is over, in words."""
    what = "drained" if state == "drained" else "back"
    return f"{seen['replica']} is not {what} after {timeout} s: {seen['words']}."


def what_to_do(state: str) -> str:
    """What an operator can do then."""
    if state == "drained":
        return (
            "It gets no new requests and stays so. Drain it again with a longer timeout, or with force: true to go on "
            "although these requests are lost; undrain it to give it requests again."
        )
    return "It gets requests as soon as it is ready. Look at its state with playbook status."
