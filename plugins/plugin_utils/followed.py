# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What action plugins of work in the background have in common: they ask until it has ended, and show how far it is."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from ansible_collections.dgxspark.serving.plugins.module_utils.background.status import RUNNING, line


class FollowedAction(ActionBase):
    """Starts its module's work on the host and asks every ten seconds; with ``follow: false`` it only starts it.

    :cvar MODULE: full name of the module
    """

    TRANSFERS_FILES = False
    MODULE = ""

    def what(self, arguments: dict[str, Any]) -> str:
        """What the work does, for the lines about it: ``hashing ORG/NAME``."""
        raise NotImplementedError

    def arguments(self, task_vars: dict[str, Any]) -> dict[str, Any]:
        """What the module is given; the task's own arguments unless there is more to say."""
        return dict(self._task.args)

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        task_vars = task_vars or {}
        arguments = self.arguments(task_vars)
        follow = arguments.pop("follow", True)
        arguments.setdefault("job_id", self._job_id(arguments))
        answer = self._execute_module(module_name=self.MODULE, module_args=arguments, task_vars=task_vars)
        before = None
        while follow and (answer.get("job") or {}).get("state") == RUNNING:
            now = answer["job"]
            Display().display(line(task_vars["inventory_hostname"], self.what(arguments), now, before))
            before = now
            answer = self._execute_module(
                module_name=self.MODULE, module_args={**arguments, "job_stage": "poll"}, task_vars=task_vars
            )
        return {**result, **answer}

    def _job_id(self, arguments: dict[str, Any]) -> str:
        """The same work has the same id, so that a run goes on with what an interrupted one has begun."""
        asked = {name: value for name, value in arguments.items() if not name.startswith("job_")}
        text = json.dumps([self.MODULE, asked], sort_keys=True, default=str)
        return f"{self.MODULE.rpartition('.')[2]}-{hashlib.sha256(text.encode()).hexdigest()[:16]}"
