# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Action plugin ``preflight_report``: all findings of all hosts in one table, as JSON too, and the verdict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible.plugins.action import ActionBase

from ansible_collections.dgxspark.serving.plugins.module_utils.checks import across, mended
from ansible_collections.dgxspark.serving.plugins.module_utils.checks.across_network import without_echoes
from ansible_collections.dgxspark.serving.plugins.module_utils.checks.check import Check, failed, passed
from ansible_collections.dgxspark.serving.plugins.module_utils.checks.ids import IDS, unknown
from ansible_collections.dgxspark.serving.plugins.module_utils.report import preflight
from ansible_collections.dgxspark.serving.plugins.plugin_utils.shown import save, show


class ActionModule(ActionBase):
    """The thin edge around :mod:`report.preflight`."""

    TRANSFERS_FILES = False
    _requires_connection = False

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        _validation, options = self.validate_argument_spec(
            argument_spec={
                "plan": {"type": "dict", "default": {}},
                "result_variable": {"type": "str", "required": True},
                "ignore": {"type": "list", "elements": "str", "default": []},
                "strict": {"type": "bool", "default": False},
                "path": {"type": "path"},
                "whole": {"type": "bool", "default": False},
                "model_download": {"type": "bool", "default": True},
                "model_from": {"type": "str", "default": ""},
                "image_comes": {"type": "bool", "default": False},
            }
        )
        wrong = unknown(options["ignore"])
        if wrong:
            msg = f"preflight_ignore has {', '.join(wrong)}, wanted ids of checks: {', '.join(IDS)}. Correct them."
            return {**result, "failed": True, "msg": msg}
        task_vars = task_vars or {}
        hostvars = task_vars["hostvars"]
        answers = {
            host: hostvars[host].get(options["result_variable"]) or {} for host in task_vars["ansible_play_hosts_all"]
        }
        # Nobody looked at hosts that were left out.
        seen = {host: answer for host, answer in answers.items() if not answer.get("skipped")}
        hosts = list(seen)
        plan = options["plan"]
        replicas = plan.get("replicas") or []
        facts = {host: one["facts"] for host, one in seen.items() if "facts" in one}
        crossed = across.checks(facts, replicas)
        own = without_echoes(
            {host: _of_the_host(one) for host, one in seen.items()},
            {host: one["network"] for host, one in facts.items()},
            crossed,
        )
        models = {host: one.get("model") or {} for host, one in seen.items()}
        brought = mended.models(plan.get("ranks") or {}, models, options["model_download"], options["model_from"])
        checks = [*_of_the_plan(plan), *((host, check) for host in hosts for check in own[host]), *crossed]
        checks = mended.without_mended(checks, brought, options["image_comes"])
        found = preflight.findings(checks, hosts, options["ignore"], options["strict"])
        show(preflight.lines(found, self._display.verbosity > 0))
        if options["path"]:
            save(options["path"], preflight.document(found, hosts))
        refused = preflight.refusals(found, hosts, replicas)
        counts = preflight.counts(found)
        answer = {**result, "changed": False, "refused": refused, "counts": counts, "_ansible_verbose_override": True}
        if options["whole"] and refused:
            number = counts["failed"]
            answer["failed"] = True
            answer["msg"] = f"{number} check{'' if number == 1 else 's'} failed on {', '.join(refused)}: see the table."
        return answer


def _of_the_plan(plan: Mapping[str, Any]) -> list[tuple[str, Check]]:
    name = "plan.configuration"
    if "ranks" not in plan and plan.get("msg"):
        words = " ".join(str(plan["msg"]).split())
        return [("", failed(name, words, "a configuration that can be served", "Correct what it names."))]
    return [("", passed(name, f"{len(plan.get('replicas') or [])} replicas planned"))]


def _of_the_host(result: Mapping[str, Any]) -> list[Check]:
    """The checks that a host answered, or that it did not."""
    if "checks" in result:
        return [passed("host.reachable", "it answered"), *(Check(**check) for check in result["checks"])]
    words = " ".join(str(result.get("msg", "no answer")).split())
    remedy = "Look why: ansible -m ping HOST; where sudo needs a password add --ask-become-pass"
    return [failed("host.reachable", words, "an answer", remedy)]
