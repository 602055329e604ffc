# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Blocks of deployments with a pretended runner: their sequence, failures, the way on, and what is restored."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.suites.blocks import Block, Variant, sequence
from ansible_collections.dgxspark.serving.plugins.module_utils.faults import ConfigurationError
from ansible_collections.dgxspark.serving.plugins.plugin_utils import block_experiment
from ansible_collections.dgxspark.serving.plugins.plugin_utils.block_experiment import Experiment, Outcome
from ansible_collections.dgxspark.serving.plugins.plugin_utils.child_playbook import Ended, Interrupted

UNCHANGED = "PLAY RECAP ***\nspark1 : ok=9 changed=0 unreachable=0 failed=0\n"
CHANGED = "TASK [Make it] ***\nchanged: [spark1]\n\nPLAY RECAP ***\nspark1 : ok=9 changed=1 unreachable=0 failed=0\n"
FAILED = "\n".join(f"line {number}" for number in range(50)) + "\nfatal: [spark1]: FAILED! => out of memory"
LAYOUTS = sequence([Variant("tp1", "deploy_tp1", {}), Variant("tp2", "deploy_tp2", {})], 2)
EXTRA = {"model": "org/m", "suite": "layout", "baseline": "old.json"}


class Runner:
    """Notes what it is asked for, and measures like the playbook does.

    :ivar answers: what becomes of a call, by a part of its words: an exit status, or an exception
    """

    def __init__(self, **answers: Any) -> None:
        self.answers = {key.replace("_", " "): answer for key, answer in answers.items()}
        self.calls: list[str] = []
        self.variables: list[dict[str, Any]] = []
        self.check = UNCHANGED

    def run(
        self,
        playbook: str,
        variables: Mapping[str, Any],
        log: Path,
        what: str,
        *,
        check: bool = False,
        whatever: bool = False,
    ) -> Ended:
        self.calls.append(playbook + (" --check" if check else "") + (" whatever" if whatever else ""))
        self.variables.append(dict(variables))
        for words, answer in self.answers.items():
            if words in what:
                if isinstance(answer, type):
                    raise answer(what)
                return Ended(answer, FAILED, str(log))
        if playbook == "benchmark":
            measured(Path(variables["benchmark_results"]), variables.get("benchmark_resume", ""))
        return Ended(0, self.check if check else UNCHANGED, str(log))


def measured(results: Path, resume: str = "", interrupted: bool = False) -> Path:
    """What the measurement of a block leaves."""
    folder = Path(resume) if resume else results / "20261130T101500Z-layout"
    (folder / "rounds").mkdir(parents=True, exist_ok=True)
    one = {"id": "0001", "point": "short/chat/gateway/n4", "case": "short", "target": "gateway", "round": 0}
    (folder / "rounds" / "0001.json.gz").write_bytes(gzip.compress(json.dumps({**one, "requests": []}).encode()))
    result = {
        "run": {"id": folder.name, "interrupted": interrupted},
        "targets": [{"name": "gateway", "via": "gateway", "deployment": "main"}],
        "cases": [{"name": "short", "digest": "d"}],
        "deployments": [{"id": "main"}],
    }
    (folder / "result.json").write_text(json.dumps(result), encoding="utf-8")
    return folder


def experiment(
    folder: Path, runner: Runner, before: str = "deploy_tp1", blocks: list[Block] | None = None
) -> Experiment:
    restore = before != "left"
    return Experiment(folder, blocks or LAYOUTS, EXTRA, before if restore else "deploy_tp2", restore, runner, print)


def played(folder: Path, runner: Runner, before: str = "deploy_tp1") -> Outcome:
    made = experiment(folder, runner, before)
    made.prepare()
    runner.calls.clear()
    runner.variables.clear()
    return made.play()


def test_blocks_are_deployed_and_measured_in_turn_and_the_first_comes_back(tmp_path: Path) -> None:
    runner = Runner()
    outcome = played(tmp_path, runner)
    assert runner.calls == [
        *("deploy_tp1", "benchmark", "deploy_tp2", "benchmark"),
        *("deploy_tp2", "benchmark", "deploy_tp1", "benchmark"),
        "deploy_tp1 whatever",
    ]
    assert runner.variables[0] == {"model": "org/m"}
    assert runner.variables[3]["benchmark_block"] == "tp2"
    assert runner.variables[3]["benchmark_results"] == str(tmp_path / "blocks" / "02")
    assert "baseline" not in runner.variables[3]
    assert [block.variant for block in outcome.measured] == ["tp1", "tp2", "tp2", "tp1"]
    assert (outcome.failure, outcome.interrupted) == ("", False)
    assert outcome.restored == "What ran before runs again (deploy_tp1)."


@pytest.mark.parametrize(
    "before, last, words",
    [
        ("stop", "stop whatever", "Nothing runs, as before."),
        ("deploy", "deploy whatever", "What ran before runs again (deploy)."),
        ("left", "benchmark", "benchmark_restore=false"),
    ],
)
def test_what_is_restored(tmp_path: Path, before: str, last: str, words: str) -> None:
    runner = Runner()
    assert words in played(tmp_path, runner, before).restored
    assert runner.calls[-1] == last


@pytest.mark.parametrize("what, blocks, words", [("deploying", 0, "deployment"), ("measuring", 0, "measurement")])
def test_a_failure_ends_in_what_ran_before_with_the_last_lines(
    tmp_path: Path, what: str, blocks: int, words: str
) -> None:
    runner = Runner(**{f"2_of_4_(tp2):_{what}": 2})
    outcome = played(tmp_path, runner)
    assert runner.calls[-1] == "deploy_tp1 whatever"
    assert [block.variant for block in outcome.measured] == ["tp1"]
    head, *lines = outcome.failure.splitlines()
    assert head == f"Block 2 of 4 (tp2): the {words} failed (exit status 2). Its last lines:"
    assert lines[:30] == FAILED.splitlines()[-30:]
    assert f"blocks/02-{'deploy' if what == 'deploying' else 'measure'}.log" in outcome.failure
    assert f"-e benchmark_resume={tmp_path}" in outcome.failure


def test_an_interrupt_ends_in_what_ran_before(tmp_path: Path) -> None:
    runner = Runner(**{"3_of_4_(tp2):_measuring": Interrupted})
    outcome = played(tmp_path, runner)
    assert runner.calls[-1] == "deploy_tp1 whatever"
    assert outcome.interrupted
    assert "after 2 of 4 blocks" in outcome.failure


def test_a_mistake_of_ours_ends_in_what_ran_before(tmp_path: Path) -> None:
    runner = Runner(**{"2_of_4_(tp2):_deploying": ZeroDivisionError})
    with pytest.raises(ZeroDivisionError):
        played(tmp_path, runner)
    assert runner.calls[-1] == "deploy_tp1 whatever"


def test_what_cannot_be_restored_is_said_with_the_playbook_that_would(tmp_path: Path) -> None:
    outcome = played(tmp_path, Runner(Restoring=4))
    assert outcome.restored == "What ran before could not be restored."
    assert outcome.failure.startswith("What ran before could not be restored: run dgxspark.serving.deploy_tp1 ")
    assert "out of memory" in outcome.failure
    assert len(outcome.measured) == 4


def test_a_run_that_goes_on_measures_what_is_missing(tmp_path: Path) -> None:
    played(tmp_path, Runner(**{"3_of_4_(tp2):_measuring": 2}))
    # The third block was begun: its rounds are there, and no result.
    begun = tmp_path / "blocks" / "03" / "20261130T111500Z-layout"
    (begun / "rounds").mkdir(parents=True)
    runner = Runner()
    outcome = played(tmp_path, runner)
    assert runner.calls == ["deploy_tp2", "benchmark", "deploy_tp1", "benchmark", "deploy_tp1 whatever"]
    assert runner.variables[1]["benchmark_resume"] == str(begun)
    assert "benchmark_resume" not in runner.variables[3]
    assert len(outcome.measured) == 4


def test_an_interrupted_measurement_is_not_a_finished_block(tmp_path: Path) -> None:
    measured(tmp_path / "blocks" / "01", interrupted=True)
    runner = Runner()
    played(tmp_path, runner)
    assert runner.calls[:2] == ["deploy_tp1", "benchmark"]
    assert runner.variables[1]["benchmark_resume"].endswith("01/20261130T101500Z-layout")


def test_a_finished_run_deploys_nothing(tmp_path: Path) -> None:
    played(tmp_path, Runner())
    runner = Runner()
    outcome = played(tmp_path, runner)
    assert runner.calls == []
    assert outcome.restored == "Nothing was deployed."


def test_a_run_that_goes_on_deploys_with_the_playbook_it_began_with(tmp_path: Path) -> None:
    swept = sequence([Variant(f"port={port}", "", {"serving_port": port}) for port in (8100, 8200)], 1)
    experiment(tmp_path, Runner(), "deploy_tp2", swept).prepare()
    runner = Runner()
    made = experiment(tmp_path, runner, "stop", swept)
    made.prepare()
    made.play()
    assert runner.calls == [
        *("deploy_tp2", "deploy_tp2"),
        *("deploy_tp2", "benchmark", "deploy_tp2", "benchmark", "stop whatever"),
    ]


def test_another_sequence_is_no_way_on(tmp_path: Path) -> None:
    played(tmp_path, Runner())
    other = sequence([Variant("tp1", "deploy_tp1", {"serving_port": 8100}), Variant("tp2", "deploy_tp2", {})], 2)
    with pytest.raises(ConfigurationError, match=r"sequence\.json"):
        experiment(tmp_path, Runner(), blocks=other).prepare()


def test_nothing_changes_before_all_variants_are_planned_and_the_present_is_known(tmp_path: Path) -> None:
    runner = Runner()
    experiment(tmp_path, runner).prepare()
    assert runner.calls == ["deploy_tp1", "deploy_tp2", "deploy_tp1 --check"]
    assert [variables.get("serving_explain") for variables in runner.variables] == [True, True, None]


def test_all_variants_that_cannot_be_planned_are_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError) as error:
        experiment(tmp_path, Runner(Planning=2)).prepare()
    assert len(error.value.faults) == 2
    assert "variant tp2" in str(error.value)


@pytest.mark.parametrize(
    "runner, check, words",
    [
        (Runner(), CHANGED, "would change it on spark1:\n    spark1: Make it"),
        (Runner(Checking=2), "", "--check failed"),
        (Runner(), "no recap", "--check failed"),
    ],
)
def test_what_runs_must_be_what_the_variables_say(tmp_path: Path, runner: Runner, check: str, words: str) -> None:
    runner.check = check
    with pytest.raises(ConfigurationError) as error:
        experiment(tmp_path, runner).prepare()
    assert words in str(error.value)
    assert "benchmark_restore=false" in str(error.value)


@pytest.mark.parametrize("before", ["left", "stop"])
def test_what_need_not_be_restored_is_not_checked(tmp_path: Path, before: str) -> None:
    runner = Runner()
    experiment(tmp_path, runner, before).prepare()
    assert not any("--check" in call for call in runner.calls)


def test_a_variant_without_a_playbook_is_deployed_by_the_one_of_what_runs(tmp_path: Path) -> None:
    swept = sequence([Variant(f"port={port}", "", {"serving_port": port}) for port in (8100, 8200)], 1)
    for before, wanted in (("deploy_tp2", "deploy_tp2"), ("stop", "deploy"), ("left", "deploy_tp2")):
        runner = Runner()
        experiment(tmp_path / f"run-{before}", runner, before, swept).play()
        assert runner.calls[0] == wanted
        assert runner.variables[0] == {"model": "org/m", "serving_port": 8100}


def test_the_whole_runs_rounds_replace_those_of_an_earlier_attempt(tmp_path: Path) -> None:
    block_experiment.write_rounds(tmp_path, {"rounds": []}, [{"id": "0001"}, {"id": "0002"}])
    block_experiment.write_rounds(tmp_path, {"rounds": [1]}, [{"id": "0001", "point": "x"}])
    assert [path.name for path in (tmp_path / "rounds").iterdir()] == ["0001.json.gz"]
    assert json.loads((tmp_path / "blocks" / "order.json").read_text(encoding="utf-8")) == {"rounds": [1]}
