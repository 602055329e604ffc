# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An experiment of several deployments, block after block: what was there before is checked, and brought back.

Whatever happens, a failure, an interrupt or the end of the parent, what ran before is deployed again, unless the user
does not want it. Finished blocks stay, and a run that goes on does not measure them again.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.suites import blocks as suite_blocks
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.suites import playbook_output
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.suites.block_rounds import Measured
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.suites.blocks import Block, Variant
from ansible_collections.dgxspark.serving.plugins.module_utils.faults import ConfigurationError, Fault
from ansible_collections.dgxspark.serving.plugins.plugin_utils import bench_files
from ansible_collections.dgxspark.serving.plugins.plugin_utils.child_playbook import Ended, Interrupted

MEASURE = "benchmark"
BLOCKS = "blocks"
SEQUENCE = "sequence.json"
RESULT = "result.json"
ORDER = "order.json"
ROUNDS = bench_files.ROUNDS


class Runner(Protocol):
    """Runs a playbook of this collection to its end."""

    def run(
        self,
        playbook: str,
        variables: Mapping[str, Any],
        log: Path,
        what: str,
        *,
        check: bool = False,
        whatever: bool = False,
    ) -> Ended: ...


@dataclass(frozen=True)
class Outcome:
    """What became of the blocks.

    :ivar measured: those that are finished, in their sequence
    :ivar failure: why the others are not, and why nothing could be restored, in words; empty when all is well
    :ivar interrupted: whether the user has ended it
    :ivar restored: what was done about what ran before, a sentence
    """

    measured: tuple[Measured, ...]
    failure: str
    interrupted: bool
    restored: str


class Experiment:
    """Plays the blocks of one run.

    :param folder: of the run on the controller; the blocks are in ``blocks``
    :param extra: what the user gave with ``-e``
    :param before: the playbook that brings back what runs now (see ``restoring_playbook``)
    :param restore: whether it is brought back; else what the last block has deployed stays
    """

    def __init__(
        self,
        folder: Path,
        blocks: Sequence[Block],
        extra: Mapping[str, Any],
        before: str,
        restore: bool,
        runner: Runner,
        say: Callable[[str], None],
    ) -> None:
        self.folder = folder
        self.blocks = blocks
        self.deploying = suite_blocks.deploying_variables(extra)
        self.extra = extra
        self.before = before
        self.restore = restore
        # Variants that name no playbook are deployed by that of what ran when the run began.
        self.usual = before if before in suite_blocks.DEPLOYING else "deploy"
        self.runner = runner
        self.say = say

    def prepare(self) -> None:
        """See that every variant can be planned and that what runs now can be brought back; changes nothing.

        :raises ConfigurationError: it cannot
        """
        self._keep_sequence()
        faults = []
        variants = {block.variant.name: block.variant for block in self.blocks}
        for number, variant in enumerate(variants.values(), 1):
            name = self._deploys(variant)
            variables = {**self.deploying, **variant.extra_vars, "serving_explain": True}
            log = self.folder / BLOCKS / f"plan-{number}.log"
            ended = self.runner.run(name, variables, log, f"Planning {variant.name}")
            if ended.code:
                found = f"a plan with faults:\n{playbook_output.tail(ended.text)}\n"
                remedy = f"Mend them; the whole output is in {ended.log}"
                faults.append(Fault(f"variant {variant.name}", found, "a deployment that can be planned", remedy))
        if not faults and self.restore and self.before != suite_blocks.STOP:
            faults += self._restorable()
        if faults:
            raise ConfigurationError(faults)

    def play(self) -> Outcome:
        """Deploy and measure block after block, and bring back what was there."""
        measured: list[Measured] = []
        failure = ""
        interrupted = touched = False
        try:
            for block in self.blocks:
                found = self._finished(block)
                if found is not None:
                    self.say(f"{self._title(block)}: measured before")
                    measured.append(found)
                    continue
                touched = True
                failure = self._play(block)
                found = None if failure else self._finished(block)
                if found is None:
                    failure = failure or f"{self._title(block)}: the measurement left no complete {RESULT}."
                    break
                measured.append(found)
        except Interrupted:
            interrupted = True
            failure = f"The run was ended by hand after {len(measured)} of {len(self.blocks)} blocks."
        finally:
            # Also after a mistake of ours: what was there comes first.
            lost, restored = self._restore() if touched else ("", "Nothing was deployed.")
        if failure:
            failure += f" Finished blocks stay; go on with -e benchmark_resume={self.folder}"
        return Outcome(tuple(measured), "\n".join(filter(None, (failure, lost))), interrupted, restored)

    def _play(self, block: Block) -> str:
        """Deploy and measure one; returns what failed, in words."""
        title = self._title(block)
        here = self.folder / BLOCKS
        variables = {**self.deploying, **block.variant.extra_vars}
        log = here / f"{block.folder}-deploy.log"
        ended = self.runner.run(self._deploys(block.variant), variables, log, f"{title}: deploying")
        if ended.code:
            return _failed(f"{title}: the deployment failed", ended)
        results = here / block.folder
        begun = _newest(results.glob(f"*/{ROUNDS}"))
        variables = suite_blocks.measuring_variables(
            self.extra, block, str(results), str(begun.parent) if begun else ""
        )
        log = here / f"{block.folder}-measure.log"
        ended = self.runner.run(MEASURE, variables, log, f"{title}: measuring")
        return _failed(f"{title}: the measurement failed", ended) if ended.code else ""

    def _restore(self) -> tuple[str, str]:
        """Bring back what ran before; returns what failed, in words, and what was done."""
        if not self.restore:
            return "", "What the last block has deployed still runs, as benchmark_restore=false asks for."
        log = self.folder / BLOCKS / "restore.log"
        stops = self.before == suite_blocks.STOP
        what = "Stopping, as nothing ran before" if stops else f"Restoring what ran before ({self.before})"
        ended = self.runner.run(self.before, self.deploying, log, what, whatever=True)
        if ended.code:
            head = f"What ran before could not be restored: run dgxspark.serving.{self.before} with the same inventory"
            return _failed(f"{head} and variables", ended), "What ran before could not be restored."
        return "", "Nothing runs, as before." if stops else f"What ran before runs again ({self.before})."

    def _restorable(self) -> list[Fault]:
        """What runs now must be what the variables say: no more is known of it than they say."""
        log = self.folder / BLOCKS / "before.log"
        what = "Checking that what runs now could be restored"
        ended = self.runner.run(self.before, self.deploying, log, what, check=True)
        changes = [host for host, count in playbook_output.recap(ended.text).changed.items() if count]
        if not ended.code and playbook_output.recap(ended.text).changed and not changes:
            return []
        if ended.code or not changes:
            found = f"that dgxspark.serving.{self.before} --check failed:\n{playbook_output.tail(ended.text)}\n"
        else:
            tasks = "\n".join(f"    {task}" for task in playbook_output.changed_tasks(ended.text))
            found = f"that dgxspark.serving.{self.before} would change it on {', '.join(changes)}:\n{tasks}\n"
        remedy = (
            f"Deploy with dgxspark.serving.{self.before} first, or say -e benchmark_restore=false to leave what the "
            f"last block deploys. The whole output is in {ended.log}"
        )
        return [Fault("what runs now", found, "what inventory and variables say, so that it can be restored", remedy)]

    def _deploys(self, variant: Variant) -> str:
        return variant.playbook or self.usual

    def _title(self, block: Block) -> str:
        return f"Block {block.number} of {len(self.blocks)} ({block.variant.name})"

    def _finished(self, block: Block) -> Measured | None:
        """What a block has left when its measurement is complete."""
        path = _newest((self.folder / BLOCKS / block.folder).glob(f"*/{RESULT}"))
        if path is None:
            return None
        result = json.loads(path.read_text(encoding="utf-8"))
        if (result.get("run") or {}).get("interrupted"):
            return None
        rounds = bench_files.rounds_in(path.parent / ROUNDS)
        order_path = path.parent / ORDER
        order = json.loads(order_path.read_text(encoding="utf-8")) if order_path.is_file() else _order(result, rounds)
        return Measured(block.variant.name, order, rounds, result)

    def _keep_sequence(self) -> None:
        """Write which blocks the run has; a run that goes on must have the same."""
        wanted = [
            {"variant": block.variant.name, "extra_vars": dict(block.variant.extra_vars)} for block in self.blocks
        ]
        path = self.folder / BLOCKS / SEQUENCE
        if not path.is_file():
            bench_files.write_all(path.parent, {path.name: _json({"usual": self.usual, "blocks": wanted})})
            return
        found = json.loads(path.read_text(encoding="utf-8"))
        if found["blocks"] != json.loads(json.dumps(wanted)):
            names = " ".join(str(entry.get("variant")) for entry in found["blocks"])
            now = " ".join(str(entry["variant"]) for entry in wanted)
            remedy = "Give the same suite and variables as before, or begin a new run without benchmark_resume"
            raise ConfigurationError([Fault(str(path), f"the blocks {names}", f"those of now: {now}", remedy)])
        self.usual = found["usual"]


def write_rounds(folder: Path, order: Mapping[str, Any], rounds: Sequence[Mapping[str, Any]]) -> None:
    """Write the whole run's order and rounds, in place of those of an earlier attempt; the blocks keep theirs.

    :raises ConfigurationError: the file system does not take them
    """
    here = folder / ROUNDS
    for old in here.glob("*.json.gz"):
        old.unlink()
    for one in rounds:
        # No time in it: the same rounds give the same bytes.
        packed = gzip.compress(json.dumps(one, ensure_ascii=False).encode(), mtime=0)
        bench_files.write_all(here, {f"{one['id']}.json.gz": packed})
    # Not beside the rounds: there stands what was asked for, which a run that goes on is compared with.
    bench_files.write_all(folder / BLOCKS, {ORDER: _json(order)})


def _order(result: Mapping[str, Any], rounds: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The order as far as result and rounds tell it."""
    spec = ("id", "point", "case", "target", "endpoint", "stream", "load", "round", "warmup", "block", "ladder")
    return {
        "run": result.get("run") or {},
        "targets": result.get("targets") or [],
        "cases": result.get("cases") or [],
        "rounds": [{key: one[key] for key in spec if key in one} for one in rounds],
    }


def _json(document: Any) -> bytes:
    return (json.dumps(document, indent=2, ensure_ascii=False) + "\n").encode()


def _newest(paths: Any) -> Path | None:
    """The last by name: names of runs sort by time."""
    return max(paths, default=None)


def _failed(head: str, ended: Ended) -> str:
    return f"{head} (exit status {ended.code}). Its last lines:\n{playbook_output.tail(ended.text)}\n{ended.log}\n"
