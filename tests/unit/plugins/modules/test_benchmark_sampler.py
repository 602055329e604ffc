# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests of the module `benchmark_sampler`: what it refuses, and a host watched from start to stop."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible.module_utils import basic

from ansible_collections.dgxspark.serving.plugins.module_utils.background import folder as folders
from ansible_collections.dgxspark.serving.plugins.module_utils.background.folder import JobFolder
from ansible_collections.dgxspark.serving.plugins.modules import benchmark_sampler


class Ended(Exception):
    """The module has answered."""


@pytest.fixture(autouse=True)
def answers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    def end(_module: object, **result: Any) -> None:
        raise Ended(result)

    def fail(_module: object, **result: Any) -> None:
        raise Ended({**result, "failed": True})

    monkeypatch.setattr(folders, "jobs_root", lambda: tmp_path / "jobs")
    monkeypatch.setattr(basic.AnsibleModule, "exit_json", end)
    monkeypatch.setattr(basic.AnsibleModule, "fail_json", fail)
    yield
    JobFolder("sampler-r1").end()


def call(monkeypatch: pytest.MonkeyPatch, **options: Any) -> dict[str, Any]:
    """What the module answers."""
    monkeypatch.setattr(basic, "_ANSIBLE_ARGS", json.dumps({"ANSIBLE_MODULE_ARGS": options}).encode())
    monkeypatch.setattr(basic, "_ANSIBLE_PROFILE", "legacy", raising=False)
    with pytest.raises(Ended) as ended:
        benchmark_sampler.main()
    return dict(ended.value.args[0])


@pytest.mark.parametrize("run", ["", "../x", "a/b", ".hidden", "a b"])
def test_a_run_that_is_none(monkeypatch: pytest.MonkeyPatch, run: str) -> None:
    answer = call(monkeypatch, state="started", run=run)
    assert answer["failed"]
    assert answer["msg"].startswith(f"run: found {run!r}, wanted the id of a run")


def test_a_length_that_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = call(monkeypatch, state="started", run="r1", seconds=0)
    assert (answer["failed"], answer["msg"][:27]) == (True, "seconds: found 0, wanted mo")


def test_from_start_to_stop(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert call(monkeypatch, state="started", run="r1", seconds=60) == {"changed": False, "running": True}
    assert call(monkeypatch, state="started", run="r1", seconds=60) == {"changed": False, "running": True}
    answer = call(monkeypatch, state="stopped", run="r1", name="spark1", folders=["", str(tmp_path / "not" / "there")])
    assert (answer["running"], answer["snapshots"]["host"]) == (False, "spark1")
    assert answer["snapshots"]["samples"][-1]["mem"]["total"] == answer["env"]["mem_total"]
    after = answer["snapshots"]["disk"]["after"][str(tmp_path / "not" / "there")]
    assert 0 <= after["free"] <= after["total"]
    assert "" not in answer["snapshots"]["disk"]["after"]
    assert answer["snapshots"]["disk"]["before"] is not None
    assert call(monkeypatch, state="absent", run="r1") == {"changed": False, "running": False}
    again = call(monkeypatch, state="stopped", run="r1", name="spark1")
    assert (again["running"], again["snapshots"]) == (False, None)


def test_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    answer = call(monkeypatch, state="once", name="spark1")
    assert len(answer["snapshots"]["samples"]) == 1
    assert set(answer["snapshots"]["gpu_processes"]) == {"before", "after"}
    assert answer["env"]["kernel"]
    assert not (tmp_path / "jobs").exists()


def test_check_mode_starts_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    answer = call(monkeypatch, state="started", run="r1", _ansible_check_mode=True)
    assert answer == {"changed": False, "running": False}
    answer = call(monkeypatch, state="stopped", run="r1", _ansible_check_mode=True)
    assert (answer["running"], answer["snapshots"]) == (False, None)
    assert not (tmp_path / "jobs").exists()


def test_all_that_it_returns_is_documented(monkeypatch: pytest.MonkeyPatch) -> None:
    documented = set(yaml.safe_load(benchmark_sampler.RETURN))
    # The clock is what the action plugin of this name adds.
    assert set(call(monkeypatch, state="once")) - {"changed"} == documented - {"clock"}
