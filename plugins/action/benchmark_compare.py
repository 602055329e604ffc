# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Action plugin ``benchmark_compare``: reads two results, prints the comparison, and fails on a regression."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ansible.plugins.action import ActionBase

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.judge import comparison_text
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.judge.comparison import compare
from ansible_collections.dgxspark.serving.plugins.module_utils.faults import ConfigurationError, Fault
from ansible_collections.dgxspark.serving.plugins.plugin_utils.bench_files import result_in
from ansible_collections.dgxspark.serving.plugins.plugin_utils.shown import save, show


class ActionModule(ActionBase):
    """The thin edge around :func:`compare`."""

    TRANSFERS_FILES = False
    _requires_connection = False

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        _validation, options = self.validate_argument_spec(
            argument_spec={
                "candidate": {"type": "path", "required": True},
                "baseline": {"type": "path", "required": True},
                "margins": {"type": "dict", "default": {}},
                "allow_differences": {"type": "list", "elements": "str", "default": []},
                "path": {"type": "path"},
                "fail_on": {"type": "str", "choices": ["regression", "inconclusive", "never"], "default": "regression"},
            }
        )
        try:
            candidate, baseline = _both(options["candidate"], options["baseline"])
            comparison = compare(candidate, baseline, options["margins"], options["allow_differences"])
            if options["path"] and not self._task.check_mode:
                _save(options["path"], comparison)
        except ConfigurationError as error:
            return {**result, "failed": True, "changed": False, "msg": str(error)}
        lines = comparison_text.lines(comparison)
        show(lines)
        bad = comparison_text.failure(comparison, options["fail_on"])
        failure = {"failed": True, "msg": bad} if bad else {}
        return {
            **result,
            "changed": False,
            "comparison": comparison,
            "verdict": comparison["verdict"],
            "exit_code": comparison["exit_code"],
            "lines": lines,
            **failure,
        }


def _both(*places: str) -> list[dict[str, Any]]:
    """The results in two files; what is wrong with either is said at once."""
    results, faults = [], []
    for place in places:
        try:
            results.append(result_in(Path(place)))
        except ConfigurationError as error:
            faults += error.faults
    if faults:
        raise ConfigurationError(faults)
    return results


def _save(place: str, comparison: dict[str, Any]) -> None:
    try:
        save(place, comparison)
    except OSError as error:
        wanted = "a file that can be written"
        raise ConfigurationError([Fault(place, error.strerror or str(error), wanted, "Name another file")]) from None
