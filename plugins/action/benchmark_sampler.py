# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Action plugin ``benchmark_sampler``: calls the module, and compares the host's clock with ours at the end."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Any

from ansible.errors import AnsibleError
from ansible.plugins.action import ActionBase

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.judge import clocks

MODULE = "dgxspark.serving.benchmark_sampler"
# The quickest of so many questions counts.
QUESTIONS = 3
# Not every date knows %N; what it says then is no time.
COMMAND = "date +%s.%N"


class ActionModule(ActionBase):
    """The module, and ``clock`` with what it gives when it is stopped."""

    TRANSFERS_FILES = False

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        arguments = dict(self._task.args)
        answer = self._execute_module(module_name=MODULE, module_args=arguments, task_vars=task_vars)
        result = {**result, **answer}
        if arguments.get("state") == "stopped" and not self._task.check_mode and not answer.get("failed"):
            # Its connection is there by now, so that a question takes no longer than it must.
            result["clock"] = clocks.offset(self._asked())
        return result

    def _asked(self) -> list[tuple[float, str, float]]:
        found = []
        # What is not known of the clock must not cost the samples.
        with suppress(AnsibleError):
            for _number in range(QUESTIONS):
                before = time.time()
                answer = self._low_level_execute_command(COMMAND, sudoable=False)
                found.append((before, str(answer.get("stdout", "")).strip(), time.time()))
        return found
