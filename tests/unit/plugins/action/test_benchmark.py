# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a run is followed: rounds are written as they come, and the load ends when the controller does."""

from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest
from ansible.errors import AnsibleConnectionFailure

from ansible_collections.dgxspark.serving.plugins.action import benchmark
from ansible_collections.dgxspark.serving.plugins.module_utils.background import folder as folders
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.run.kept import Kept, packed, unpacked
from ansible_collections.dgxspark.serving.plugins.plugin_utils.interrupted import Interrupted
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.bench.run.run_rounds import (
    order,
    played,
    spec,
)

ORDER = order(rounds=[spec(f"{number:04}") for number in range(1, 5)])
RUNNING = {"state": "running", "text": "round 1 of 4, short.en N=4 gateway: 3 of 12 requests", "seconds": 3.0}
DONE = {"state": "done", "text": "", "seconds": 9.0}
STOPPED: dict[str, Any] = {"rounds": {}, "left": 0, "job": DONE}


def rounds(*ids: str, succeeded: int = 2, **more: Any) -> dict[str, str]:
    """Rounds as a host packs them."""
    packs = {}
    for round_id in ids:
        errors = [] if succeeded else [{"error": {"kind": "connect"}}]
        whole = {
            **played(spec(round_id), succeeded=succeeded), "requests": [{"error": None}] * succeeded + errors,
            "began": 0.0, "invalid_reasons": [], **more,
        }  # fmt: skip
        del whole["succeeded"]
        packs[round_id] = base64.b64encode(packed(whole)).decode()
    return packs


def answer(job: dict[str, Any], *ids: str, left: int = 0, **more: Any) -> dict[str, Any]:
    return {"rounds": rounds(*ids), "left": left, "job": job, "changed": False, **more}


class Run:
    """The plugin with answers that are given."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path, check_mode: bool = False, **more: Any) -> None:
        self.calls: list[dict[str, Any]] = []
        self.shown: list[str] = []
        self.answers: list[dict[str, Any] | BaseException | Callable[[], None]] = []
        self.folder = folder
        arguments = {"order": ORDER, "results": str(folder), **more}
        task = MagicMock(args=arguments, check_mode=check_mode, async_val=0)
        self.plugin = benchmark.ActionModule(task, MagicMock(), MagicMock(), MagicMock(), MagicMock(), MagicMock())
        monkeypatch.setattr(self.plugin, "_execute_module", self.execute)
        monkeypatch.setattr(benchmark.Display, "display", lambda display, text: self.shown.append(text))
        monkeypatch.setattr(benchmark.time, "sleep", lambda seconds: None)

    def execute(self, module_name: str, module_args: dict[str, Any], task_vars: Any) -> dict[str, Any]:
        assert module_name == "dgxspark.serving.benchmark"
        self.calls.append(module_args)
        found = self.answers.pop(0)
        if isinstance(found, BaseException):
            raise found
        assert isinstance(found, dict)
        return found

    def run(self, *answers: Any) -> dict[str, Any]:
        self.answers = list(answers)
        result: dict[str, Any] = self.plugin.run(task_vars={"inventory_hostname": "s1"})
        assert self.answers == []
        return result

    @property
    def stages(self) -> list[str]:
        return [call.get("job_stage", "start") for call in self.calls]

    @property
    def files(self) -> list[str]:
        return sorted(file.name for file in (self.folder / "rounds").iterdir())


def test_rounds_are_written_as_they_come(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    run = Run(monkeypatch, tmp_path)
    last = answer(DONE, "0003", "0004", played=4, skipped_rounds=0, failure="")
    result = run.run(answer(RUNNING), answer(RUNNING, "0001", "0002"), last, STOPPED)
    assert run.stages == ["start", "poll", "poll", "stop"]
    assert [call["have"] for call in run.calls] == [[], [], ["0001", "0002"], ["0001", "0002", "0003", "0004"]]
    assert run.files == ["0001.json.gz", "0002.json.gz", "0003.json.gz", "0004.json.gz"]
    assert (result["rounds"], result["requests"], result["failed_requests"], result["nothing_worked"]) == (
        4,
        8,
        0,
        False,
    )
    assert (result["changed"], result.get("failed"), result["folder"]) == (False, None, str(tmp_path))
    assert "left" not in result
    assert run.shown[0] == "s1: round 1 of 4, short.en N=4 gateway: 3 of 12 requests"
    assert "round 2 of 4, short.en N=4 gateway: 2 requests, 0 failed, 40.0 tok/s, first token 100 ms" in run.shown
    assert len({call["job_id"] for call in run.calls}) == 1
    assert all(call["job_wait"] <= 4 for call in run.calls)


def test_what_does_not_fit_into_one_answer_is_fetched_after_the_end(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    run = Run(monkeypatch, tmp_path)
    run.run(answer(DONE, "0001", left=3), answer(DONE, "0002", "0003", "0004"), STOPPED)
    assert run.stages == ["start", "poll", "stop"]
    assert len(run.files) == 4


def test_a_resumed_run_says_what_it_has(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    Run(monkeypatch, tmp_path).run(answer({**DONE, "state": "failed"}, "0001", failed=True, msg="Killed."), STOPPED)
    again = Run(monkeypatch, tmp_path, resume=True)
    result = again.run(answer(DONE, "0002", "0003", "0004"), STOPPED)
    assert again.calls[0]["have"] == ["0001"]
    assert [known["id"] for known in again.calls[0]["known"]] == ["0001"]
    assert result["rounds"] == 4


def test_what_a_dead_target_missed_comes_with_the_resumed_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    first, dead = Run(monkeypatch, tmp_path), {"skipped": "gateway is dead.", "skip_kind": "dead"}
    left_out = rounds("0002", "0003", succeeded=0, **dead)
    first.run({**answer(DONE, "0001"), "rounds": {**rounds("0001"), **left_out}}, STOPPED)
    again = Run(monkeypatch, tmp_path, resume=True)
    monkeypatch.setattr(folders, "jobs_root", lambda: tmp_path / "jobs")
    kept = Kept("benchmark-test")
    kept.make()

    def host(module_name: str, module_args: dict[str, Any], task_vars: Any) -> dict[str, Any]:
        """Plays what is missing at once, and tells it as the module does."""
        again.calls.append(module_args)
        stage = module_args.get("job_stage", "start")
        if stage == "start":
            for round_id in sorted({one["id"] for one in ORDER["rounds"]} - set(module_args["have"])):
                kept.write(unpacked(base64.b64decode(rounds(round_id)[round_id])))
            return answer(RUNNING)
        told = kept.answer(module_args["have"])
        if stage == "stop" and not told["rounds"]:
            kept.end()
        return {**told, "job": DONE, "changed": False}

    monkeypatch.setattr(again.plugin, "_execute_module", host)
    result = again.run()
    assert again.calls[0]["have"] == ["0001"]
    assert (result["rounds"], result["skipped_rounds"], result["requests"]) == (4, 0, 8)
    here = [unpacked((tmp_path / "rounds" / name).read_bytes()) for name in again.files]
    assert [(one["id"], one["skipped"]) for one in here] == [(f"000{number}", "") for number in range(1, 5)]
    assert not kept.path.exists()


def test_the_self_test_is_kept_and_made_once_in_a_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    off = {"host": "s1", "ttft_err_pct": 0.2}
    first = Run(monkeypatch, tmp_path)
    began = answer(RUNNING, self_test=None)
    result = first.run(began, answer(DONE, "0001", self_test=off), {**STOPPED, "self_test": off})
    assert first.calls[0]["self_test"] is True
    assert result["self_test"] == off
    again = Run(monkeypatch, tmp_path, resume=True)
    result = again.run(answer(DONE, "0002", self_test={"host": "s1", "ttft_err_pct": 9.9}), STOPPED)
    assert again.calls[0]["self_test"] is False
    assert result["self_test"] == off


def test_no_self_test_is_made_when_it_is_not_wanted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    run = Run(monkeypatch, tmp_path, self_test=False)
    result = run.run(answer(DONE, "0001", self_test=None), STOPPED)
    assert run.calls[0]["self_test"] is False
    assert result["self_test"] is None
    assert run.files == ["0001.json.gz"]


def test_an_earlier_run_is_not_mixed_in_unasked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    Run(monkeypatch, tmp_path).run(answer(DONE, "0001"), STOPPED)
    run = Run(monkeypatch, tmp_path)
    result = run.run()
    assert result["failed"]
    assert "benchmark_resume" in result["msg"]
    assert run.calls == []


def test_all_rounds_are_here_although_the_end_cannot_be_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    run = Run(monkeypatch, tmp_path)
    result = run.run(answer(DONE, "0001"), AnsibleConnectionFailure("no route"))
    assert (result["rounds"], result.get("failed")) == (1, None)


def test_a_failure_keeps_what_is_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    run = Run(monkeypatch, tmp_path)
    result = run.run(answer(DONE, "0001", failure="Round 0002 is lost: the disk is full."), STOPPED)
    assert (result["failed"], result["msg"]) == (True, "Round 0002 is lost: the disk is full.")
    assert run.files == ["0001.json.gz"]


def test_refused_targets_fail_at_once_with_all_faults(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    run = Run(monkeypatch, tmp_path)
    result = run.run(answer({**DONE, "state": "failed"}, failed=True, msg="2 errors"), STOPPED)
    assert (result["failed"], result["msg"], result["failure"], result["rounds"]) == (True, "2 errors", "2 errors", 0)


def test_b08_a_run_without_one_success_is_whole_and_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    run = Run(monkeypatch, tmp_path)
    last = {**answer(DONE), "rounds": rounds("0001", succeeded=0, errors={"connect": 1})}
    result = run.run(last, STOPPED)
    assert (result["nothing_worked"], result.get("failed"), result["errors"]) == (True, None, {"connect": 1})


def test_the_load_ends_with_the_controller(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    run = Run(monkeypatch, tmp_path)
    monkeypatch.setattr("os.kill", lambda pid, number: None)
    with pytest.raises(Interrupted):
        run.run(answer(RUNNING, "0001"), Interrupted(2), answer(DONE, "0002"))
    assert run.stages == ["start", "poll", "stop"]
    assert run.files == ["0001.json.gz", "0002.json.gz"]
    # The role's end is not run: what it has laid on the host goes with the load.
    assert [call.get("order") for call in run.calls] == [ORDER, None, ORDER]
    again = f"go on with the same command and -e benchmark_resume={tmp_path}"
    assert run.shown[-2] == f"s1: ending the load; the finished rounds are kept in {tmp_path}/rounds, {again}"


def test_a_host_that_cannot_be_reached_for_a_while_is_asked_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    run = Run(monkeypatch, tmp_path)
    lost = AnsibleConnectionFailure("no route")
    result = run.run(answer(RUNNING), lost, lost, answer(DONE, "0001"), STOPPED)
    assert result["rounds"] == 1
    assert sum("Asking again" in line for line in run.shown) == 2


@pytest.mark.parametrize("begun", [False, True])
def test_a_host_that_cannot_be_reached_for_long_is_an_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, begun: bool
) -> None:
    run = Run(monkeypatch, tmp_path)
    monkeypatch.setattr(benchmark, "PATIENCE", -1.0)
    with pytest.raises(AnsibleConnectionFailure):
        run.run(*([answer(RUNNING, "0001")] if begun else []), AnsibleConnectionFailure("no route"))
    # The run goes on there: only its rounds are fetched later.
    assert "stop" not in run.stages
    assert run.shown[-1].endswith(f", go on with the same command and -e benchmark_resume={tmp_path}")


def test_a_disk_of_the_controller_that_is_full_ends_the_load(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    run = Run(monkeypatch, tmp_path)

    def full(_files: Any, _round_id: str, _packed: str) -> dict[str, Any]:
        raise benchmark.CannotWrite("No room.")

    monkeypatch.setattr(benchmark.RoundFiles, "write", full)
    result = run.run(answer(RUNNING, "0001"), STOPPED)
    assert (result["failed"], result["msg"], run.stages) == (True, "No room.", ["start", "stop"])
    assert (result["failure"], result["rounds"]) == ("No room.", 0)


def test_check_mode_says_what_it_would_play(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    run = Run(monkeypatch, tmp_path / "x", check_mode=True)
    result = run.run()
    assert result["skipped"]
    assert result["msg"] == "Would play 4 rounds of 1 points against gateway; check mode measures nothing."
    # A skipped task's own words are not on the screen.
    assert run.shown == ["", result["msg"], ""]
    assert not (tmp_path / "x").exists()
