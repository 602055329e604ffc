# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Action plugin ``model_plan``: who has the model, who downloads it, who gets a copy, over what all hosts said."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from ansible_collections.dgxspark.serving.plugins.module_utils.models import spread


class ActionModule(ActionBase):
    """The thin edge around :func:`spread.decide`."""

    TRANSFERS_FILES = False
    _requires_connection = False

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        _validation, options = self.validate_argument_spec(
            argument_spec={
                "ranks": {"type": "dict", "required": True},
                "download": {"type": "bool", "default": True},
                "truth": {"type": "str", "default": ""},
                "compare": {"type": "bool", "default": True},
                "tried": {"type": "dict", "default": {}},
            }
        )
        task_vars = task_vars or {}
        ranks = {host: options["ranks"][host] for host in task_vars["ansible_play_hosts"] if host in options["ranks"]}
        if options["truth"] and options["truth"] not in options["ranks"]:
            msg = f"model_from is {options['truth']}, wanted one of: {', '.join(options['ranks'])}."
            return {**result, "failed": True, "msg": msg}
        seen = {host: task_vars["hostvars"][host] for host in ranks}
        found = {host: _found(variables) for host, variables in seen.items()}
        hashed = {host: _result(variables, "__model_hashed") for host, variables in seen.items()}
        views = [
            spread.view(host, rank["model_revision"], found[host], hashed[host], options["compare"])
            for host, rank in ranks.items()
        ]
        lost = {
            spread.key_of(rank["model_hub"], rank["model"], rank["model_revision"]): host
            for host, rank in options["ranks"].items()
            if options["tried"].get(host) == spread.DOWNLOAD and host not in ranks
        }
        decided = spread.decide(views, options["download"], options["truth"], lost)
        for line in decided.words:
            Display().display(f"{line}.")
        offers = spread.offers(decided, views, {host: one["root"] for host, one in found.items()}, hashed)
        return {
            **result,
            "changed": bool(decided.words),
            "steps": decided.steps,
            "refused": {host: f"{host}: {words}" for host, words in decided.refused.items()},
            "offers": offers,
            "download": spread.DOWNLOAD in decided.steps.values(),
        }


def _found(variables: Mapping[str, Any]) -> dict[str, Any]:
    """What ``model_info`` said last, or else what the preflight saw."""
    return _result(variables, "__model_found") or _result(variables, "__preflight_here").get("model") or {}


def _result(variables: Mapping[str, Any], name: str) -> dict[str, Any]:
    """A registered result; empty where the task was left out."""
    value = variables.get(name) or {}
    return {} if value.get("skipped") else value
