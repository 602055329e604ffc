# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Action plugin ``image_pull``: pulls an image, and again where the registry's words say that it may help."""

from __future__ import annotations

import time
from itertools import count
from typing import Any

from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from ansible_collections.dgxspark.serving.plugins.module_utils.pull_errors import judge, pauses, words

MODULE = "community.docker.docker_image_pull"


class ActionModule(ActionBase):
    """One round trip for each attempt; a pull goes on where the one before ended."""

    TRANSFERS_FILES = False

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        _validation, options = self.validate_argument_spec(
            argument_spec={
                "name": {"type": "str", "required": True},
                "attempts": {"type": "int", "default": 4},
                "delay": {"type": "float", "default": 10},
            }
        )
        host = (task_vars or {}).get("inventory_hostname", "")
        name, waits = options["name"], pauses(options["attempts"], options["delay"])
        for attempt in count(1):
            pulled = self._execute_module(
                module_name=MODULE, module_args={"name": name, "pull": "not_present"}, task_vars=task_vars
            )
            if not pulled.get("failed"):
                break
            said = words(str(pulled.get("msg") or ""))
            error, pause = judge(said), next(waits, None)
            if not error.again or pause is None:
                times = f" after {attempt} attempts" if attempt > 1 else ""
                found = f"found no image {name}, and it cannot be pulled{times}: {said}"
                pulled = {**pulled, "msg": f"{host}: {found}. {error.remedy}."}
                pulled.pop("exception", None)
                break
            Display().display(f"{host}: cannot pull {name} now, again in {pause:g} s: {said}")
            time.sleep(pause)
        return {**result, **pulled, "attempts": attempt}
