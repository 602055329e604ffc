# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Action plugin ``benchmark_report``: makes the report of a run from the rounds in its folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ansible.plugins.action import ActionBase

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.judge import (
    clocks,
    comparison,
    comparison_text,
    decision,
    findings,
    findings_client,
    pairs,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.measure.notes import findings_of_points
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.measure.points import points_of
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.provenance import deployments as provenance
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result import assemble, screen, skipped, split
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.run.kept import self_test_in
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.second import comparison as comparison_with_second
from ansible_collections.dgxspark.serving.plugins.module_utils.faults import ConfigurationError
from ansible_collections.dgxspark.serving.plugins.plugin_utils import bench_files, bench_report
from ansible_collections.dgxspark.serving.plugins.plugin_utils.round_files import again
from ansible_collections.dgxspark.serving.plugins.plugin_utils.shown import show

Options = Mapping[str, Any]
Seen = dict[str, Mapping[str, Any]]


class ActionModule(ActionBase):
    """The edge around :mod:`assemble` and those that judge."""

    TRANSFERS_FILES = False
    _requires_connection = False

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        answer = super().run(tmp, task_vars)
        _validation, options = self.validate_argument_spec(
            argument_spec={
                "plan": {"type": "dict", "default": {}},
                "order": {"type": "dict", "required": True},
                "results": {"type": "path", "required": True},
                **{f"{name}_variable": {"type": "str", "default": ""} for name in ("samples", *_OF_HOSTS)},
                "client": {"type": "str", "default": ""},
                "merged": {"type": "dict", "default": {}},
                "notes": {"type": "list", "elements": "str", "default": []},
                "second_source": {"type": "dict", "default": {}},
                "interrupted": {"type": "bool", "default": False},
                "baseline": {"type": "str", "default": ""},
                "margins": {"type": "dict", "default": {}},
                "allow_differences": {"type": "list", "elements": "str", "default": []},
                "fail_on": {"type": "str", "choices": list(comparison_text.FAIL_ON), "default": "regression"},
                "formats": {
                    "type": "list",
                    "elements": "str",
                    "choices": list(bench_report.FORMATS),
                    "default": list(bench_report.FORMATS),
                },
                "pictures": {"type": "bool", "default": True},
            }
        )
        if self._task.check_mode:
            return {**answer, "changed": False, "skipped": True, "msg": "No report is written in check mode."}
        try:
            return {**answer, **_report(options, task_vars or {})}
        except ConfigurationError as error:
            return {**answer, "failed": True, "changed": False, "msg": str(error)}


_OF_HOSTS = ("running", "model", "gateway")


def _report(options: Options, task_vars: Mapping[str, Any]) -> dict[str, Any]:
    folder = Path(options["results"])
    merged = options["merged"]
    rounds = bench_files.rounds_in(Path(merged.get("rounds_folder") or folder / bench_files.ROUNDS))
    self_test = merged.get("self_test") or self_test_in(folder / bench_files.ROUNDS)
    found = _found(options, rounds, self_test, task_vars)
    version = bench_files.collection_version()
    result = assemble.result(found, version)
    result["run"]["interrupted"] |= options["interrupted"]
    refused = _compare(result, options)
    written = bench_report.files(result, rounds, options["formats"], options["pictures"])
    bench_files.write_all(folder, written)
    paths = [str(folder / name) for name in written]
    said = screen.lines(result, paths)
    show(said)
    stops = screen.failure(result) or skipped.failure(rounds, "" if merged else again(folder)) or refused
    regressions = comparison_text.failure(result["comparison"], options["fail_on"]) if result["comparison"] else ""
    return {
        "changed": True,
        "lines": said,
        "paths": paths,
        "comparison": result["comparison"],
        "decision": result["decision"],
        "findings": result["findings"],
        "failure": stops or regressions,
        "exit_code": 1 if stops else (result["comparison"] or {}).get("exit_code", 0),
    }


def _found(
    options: Options,
    rounds: Sequence[Mapping[str, Any]],
    self_test: Mapping[str, Any] | None,
    task_vars: Mapping[str, Any],
) -> assemble.Found:
    order, plan, merged = options["order"], options["plan"], options["merged"]
    samples = _of_hosts(task_vars, options["samples_variable"])
    running, models, gateways = (_of_hosts(task_vars, options[f"{name}_variable"]) for name in _OF_HOSTS)
    snapshots = merged.get("snapshots") or _watched(options, samples)
    deployments = merged.get("deployments") or provenance.deployments_of(plan, running, models, gateways)
    points = points_of(rounds, order)
    decided = decision.decide(points, deployments, snapshots, order.get("cases") or ())
    second = comparison_with_second.compared(options["second_source"], points)
    otherwise = provenance.running_otherwise(plan, running) if running else []
    notes = [*_notes("running_otherwise", otherwise), *_notes("plan", options["notes"])]
    return assemble.Found(
        order=order,
        rounds=rounds,
        points=points,
        envs=merged.get("envs") or _part(samples, "env"),
        deployments=deployments,
        snapshots=snapshots,
        self_test=self_test,
        judged={
            "pairs": pairs.pairs_of(points, order, options["margins"]),
            "findings": [
                *findings.findings_of(order, rounds, snapshots),
                *clocks.findings(snapshots, options["client"]),
                *findings_client.of_self_test(self_test),
                *findings_of_points(points),
                *skipped.findings(rounds),
                *decision.missing(order, decided),
                *comparison_with_second.findings_of(second),
                *notes,
            ],
            "second_source": second,
            "decision": decided,
        },
    )


def _watched(options: Options, samples: Seen) -> dict[str, Any]:
    """What the samplers saw, in the client's time, with what a report of an earlier part of this run has kept.

    They ended with that part, and what they had seen was removed from the hosts.
    """
    now = clocks.aligned(_part(samples, "snapshots"), _part(samples, "clock"), options["client"])
    run_id = (options["order"].get("run") or {}).get("id", "")
    before = bench_files.snapshots_of(Path(options["results"]), run_id)
    return {host: split.continued(before.get(host), now.get(host)) for host in {**before, **now}}


def _compare(result: dict[str, Any], options: Options) -> str:
    """Lay the baseline beside the result; a refusal is said, as the report of what was measured is worth having."""
    if not options["baseline"]:
        return ""
    try:
        baseline = bench_files.result_in(Path(options["baseline"]))
        allowed = options["allow_differences"]
        result["comparison"] = comparison.compare(result, baseline, options["margins"], allowed)
    except ConfigurationError as error:
        text = f"It was not compared with {options['baseline']}. {error}"
        result["findings"].append({"code": "not_compared", "severity": "error", "text": text})
        return text
    return ""


def _of_hosts(task_vars: Mapping[str, Any], variable: str) -> Seen:
    """What each host of the play holds in the variable; hosts that hold nothing are left out."""
    if not variable:
        return {}
    found = {host: task_vars["hostvars"][host].get(variable) for host in task_vars["ansible_play_hosts_all"]}
    return {host: value for host, value in found.items() if isinstance(value, Mapping) and value}


def _part(seen: Seen, key: str) -> dict[str, Any]:
    return {host: value[key] for host, value in seen.items() if value.get(key)}


def _notes(code: str, sentences: Sequence[str]) -> list[dict[str, str]]:
    return [{"code": code, "severity": "warning", "text": sentence} for sentence in sentences]
