# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Action plugin ``benchmark_blocks``: deploys and measures variants in turn, and brings back what was there."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ansible import context
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display
from ansible.utils.vars import load_extra_vars

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.suites import block_rounds, blocks
from ansible_collections.dgxspark.serving.plugins.module_utils.faults import ConfigurationError
from ansible_collections.dgxspark.serving.plugins.plugin_utils.block_experiment import ROUNDS, Experiment, write_rounds
from ansible_collections.dgxspark.serving.plugins.plugin_utils.child_playbook import (
    ChildPlaybooks,
    Interrupted,
    Parent,
    asked_passwords,
)
from ansible_collections.dgxspark.serving.plugins.plugin_utils.host_variables import variable
from ansible_collections.dgxspark.serving.plugins.plugin_utils.shown import show


class ActionModule(ActionBase):
    """The edge around :class:`Experiment`; it runs once, on the controller."""

    TRANSFERS_FILES = False
    _requires_connection = False

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        _validation, options = self.validate_argument_spec(
            argument_spec={
                "blocks": {"type": "dict", "required": True},
                "run": {"type": "dict", "required": True},
                "results": {"type": "path", "required": True},
                "running_variable": {"type": "str", "required": True},
                "restore": {"type": "bool", "default": True},
            }
        )
        task_vars = task_vars or {}
        extra = dict(load_extra_vars(self._loader))
        try:
            return {**result, **self._played(options, extra, task_vars)}
        except ConfigurationError as error:
            return {**result, "failed": True, "failure": str(error), "msg": str(error)}

    def _played(
        self, options: Mapping[str, Any], extra: Mapping[str, Any], task_vars: dict[str, Any]
    ) -> dict[str, Any]:
        variants, rounds = blocks.read_variants(options["blocks"])
        hosts = list(task_vars["ansible_play_hosts_all"])
        hostvars = task_vars["hostvars"]
        looks = {host: hostvars[host].get(options["running_variable"]) or {} for host in hosts}
        said = bool(hosts and variable(hostvars[hosts[0]], "serving_deployments"))
        must_know = options["restore"] or not all(variant.playbook for variant in variants)
        faults = blocks.clashes(variants, extra) + blocks.even_hosts(variants, hosts, said)
        faults += asked_passwords(context.CLIARGS) + (blocks.look_faults(looks) if must_know else [])
        if faults:
            raise ConfigurationError(faults)
        sequence = blocks.sequence(variants, rounds)
        names = [block.variant.name for block in sequence]
        if self._task.check_mode:
            words = f"Would deploy and measure {', '.join(names)}{_last(options['restore'])}."
            show([words])
            return {"changed": False, "skipped": True, "sequence": names, "msg": words}
        before = blocks.restoring_playbook(looks)
        parent = Parent(list(task_vars["ansible_inventory_sources"]), context.CLIARGS, extra)
        folder = Path(options["results"]).absolute()
        with _until_interrupted() as over:
            # After an interrupt nobody reads what a worker shows, and its queue would fill.
            children = ChildPlaybooks(parent, over, lambda line: None if over() else Display().display(line))
            experiment = Experiment(folder, sequence, extra, before, options["restore"], children, children.say)
            children.say(_beginning(names, options["restore"], folder))
            try:
                experiment.prepare()
            except Interrupted:
                raise KeyboardInterrupt from None
            outcome = experiment.play()
        found = _merged(outcome.measured, options["run"], folder, len(sequence)) if outcome.measured else {}
        if outcome.interrupted:
            # What ran before is back; the playbook has ended meanwhile and takes no result.
            raise KeyboardInterrupt
        words = "\n".join(part for part in (outcome.failure, outcome.restored) if part)
        more = {"failure": outcome.failure, "restored": outcome.restored, "sequence": names, "msg": words}
        return {"changed": True, "failed": not outcome.measured, **more, **found}


def _last(restore: bool) -> str:
    return ", and restore what runs now" if restore else ""


def _beginning(names: list[str], restore: bool, folder: Path) -> str:
    words = f"{len(names)} blocks: {', '.join(names)}; their logs are in {folder / 'blocks'}."
    if not restore:
        return words
    return f"{words} Ctrl-C ends the run, and it then restores what runs now: {folder / 'blocks' / 'restore.log'}."


def _merged(measured: Any, run: Mapping[str, Any], folder: Path, blocks_of_run: int) -> dict[str, Any]:
    """One run of all finished blocks, for the report."""
    order, rounds = block_rounds.merged_rounds(measured, run)
    write_rounds(folder, order, rounds)
    notes = block_rounds.changed_deployments(measured)
    if len(measured) < blocks_of_run:
        notes.append(f"Only the first {len(measured)} of {blocks_of_run} blocks are measured.")
    return {
        "order": order,
        "results": str(folder),
        "merged": {
            "rounds_folder": str(folder / ROUNDS),
            "deployments": block_rounds.merged_deployments(measured),
            "envs": block_rounds.merged_hosts(measured),
            "snapshots": block_rounds.merged_snapshots(measured),
            "self_test": block_rounds.first_self_test(measured),
        },
        "notes": notes,
        "finished": len(measured),
    }


@contextlib.contextmanager
def _until_interrupted() -> Iterator[Any]:
    """Says whether the user, or the end of the playbook's main process, asks for the end.

    Ansible ends its workers by a signal whose handler leaves at once: nothing could be restored.
    """
    asked: list[int] = []
    parent = os.getppid()
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, lambda number, _frame: asked.append(number)) for number in numbers}
    try:
        yield lambda: bool(asked) or os.getppid() != parent
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
