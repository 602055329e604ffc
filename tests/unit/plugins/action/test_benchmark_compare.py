# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The edge that compares two runs: files, refusals, and when the task fails."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest

from ansible_collections.dgxspark.serving.plugins.action import benchmark_compare
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.bench.judge.bench_points import (
    point,
    result,
    spread,
)


def run(candidate: Path, baseline: Path, check_mode: bool = False, **arguments: Any) -> dict[str, Any]:
    args = {"candidate": str(candidate), "baseline": str(baseline), **arguments}
    task = MagicMock(args=args, check_mode=check_mode, async_val=0)
    make = benchmark_compare.ActionModule
    plugin = make(task, MagicMock(), MagicMock(), MagicMock(), MagicMock(), MagicMock())
    return plugin.run(task_vars={})


@pytest.fixture
def old(tmp_path: Path) -> Path:
    folder = tmp_path / "20261123T101500Z-standard"
    folder.mkdir()
    (folder / "result.json").write_text(json.dumps(result(point())), encoding="utf-8")
    return folder


@pytest.fixture
def slower(tmp_path: Path) -> Path:
    file = tmp_path / "slower.json"
    file.write_text(json.dumps(result(point(stats={"tpot_ms": spread(28.0)}))), encoding="utf-8")
    return file


def test_a_folder_and_its_file_are_the_same(old: Path) -> None:
    found = run(old, old / "result.json")
    assert not found.get("failed")
    assert (found["changed"], found["verdict"], found["exit_code"]) == (False, "no change", 0)
    assert found["lines"][-1] == "Verdict: no change (4 no change)."


def test_a_regression_fails_the_task_and_gives_all_the_same_what_it_found(
    old: Path, slower: Path, tmp_path: Path
) -> None:
    written = tmp_path / "comparison.json"
    found = run(slower, old, path=str(written))
    assert found["failed"]
    assert "1 of 4 figures is worse than in the baseline" in found["msg"]
    assert "tpot_ms 25 -> 28" in found["msg"]
    assert found["exit_code"] == 1
    assert json.loads(written.read_text(encoding="utf-8")) == found["comparison"]


def test_a_regression_may_be_only_told_and_margins_widened(old: Path, slower: Path) -> None:
    assert not run(slower, old, fail_on="never").get("failed")
    assert run(slower, old, margins={"tpot_ms": 0.2})["verdict"] == "no change"


def test_check_mode_writes_nothing(old: Path, tmp_path: Path) -> None:
    found = run(old, old, check_mode=True, path=str(tmp_path / "comparison.json"))
    assert found["verdict"] == "no change"
    assert not (tmp_path / "comparison.json").exists()


def test_what_is_wrong_with_either_file_is_said_at_once(tmp_path: Path) -> None:
    (tmp_path / "not.json").write_bytes(b"\xff\xfe")
    found = run(tmp_path / "not.json", tmp_path / "missing" / "result.json")
    assert found["failed"]
    assert "not.json: found not a text file" in found["msg"]
    assert (
        "missing/result.json: found No such file or directory, wanted the result.json of an earlier run" in found["msg"]
    )


def test_a_folder_without_a_result_is_refused(tmp_path: Path, old: Path) -> None:
    assert "result.json: found No such file or directory" in run(tmp_path, old)["msg"]


def test_a_baseline_of_another_schema_is_refused(tmp_path: Path, old: Path) -> None:
    other = tmp_path / "other.json"
    other.write_text('{"schema": "spark_bench/9"}', encoding="utf-8")
    found = run(old, other)
    assert found["failed"]
    assert "found spark_bench/9, wanted spark_bench/1" in found["msg"]
    assert "comparison" not in found


def test_a_file_that_cannot_be_written_is_a_refusal(tmp_path: Path, old: Path) -> None:
    found = run(old, old, path=str(tmp_path / "no" / "comparison.json"))
    assert found["failed"]
    assert "wanted a file that can be written" in found["msg"]
