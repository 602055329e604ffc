# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Action plugin ``fabric_test_measure``: one measurement after the other on a host, with a line for each."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_test import counters, results

MODULE = "dgxspark.serving.fabric_test_jobs"


class ActionModule(ActionBase):
    """The loop around :mod:`fabric_test_jobs`."""

    TRANSFERS_FILES = False

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        _validation, options = self.validate_argument_spec(
            argument_spec={
                "pair": {"type": "str", "required": True},
                "measurements": {"type": "list", "elements": "dict", "required": True},
                "ports": {"type": "dict", "default": {}},
                "interfaces": {"type": "list", "elements": "str", "default": []},
                "devices": {"type": "list", "elements": "str", "default": []},
            }
        )
        if self._task.check_mode:
            return {**result, "changed": False, "skipped": True, "msg": "Nothing is measured in check mode."}
        found = []
        for measurement in options["measurements"]:
            found.append(self._measure(options, measurement, task_vars))
            if not measurement["skipped"]:
                _say(found[-1], results.shown(found[-1]))
        return {**result, "changed": False, "results": found}

    def _measure(
        self, options: Mapping[str, Any], measurement: Mapping[str, Any], task_vars: dict[str, Any] | None
    ) -> dict[str, Any]:
        empty = results.empty(options["pair"], measurement)
        if measurement["skipped"]:
            return empty
        names = [job["name"] for job in measurement["jobs"]]
        watched = {key: options[key] for key in ("interfaces", "devices")}
        start = time.monotonic()
        wish = {**watched, "start": measurement["jobs"], "ports": options["ports"], "watch": names}
        seen = self._jobs(wish, task_vars)
        before = seen.get("counters", {}).get("before", {})
        while seen.get("running"):
            _say(empty, f"running since {time.monotonic() - start:.0f} s")
            ended = seen["ended"]
            seen = self._jobs({**watched, "watch": seen["running"]}, task_vars)
            seen["ended"] = {**ended, **seen.get("ended", {})}
        if seen.get("failed"):
            return {**empty, "failed": str(seen.get("msg", "the module ended without a word"))}
        moved = counters.moved(before, seen["counters"]["after"])
        return results.read(options["pair"], measurement, [seen["ended"][name] for name in names], moved)

    def _jobs(self, arguments: dict[str, Any], task_vars: dict[str, Any] | None) -> dict[str, Any]:
        seen: dict[str, Any] = self._execute_module(module_name=MODULE, module_args=arguments, task_vars=task_vars)
        return seen


def _say(result: Mapping[str, Any], words: str) -> None:
    Display().display(f"{result['pair']}: {results.title(result)} over {' + '.join(result['over'])}: {words}")
