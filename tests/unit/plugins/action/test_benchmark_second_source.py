# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The edge of the second source: what it hands to the host, what it keeps, and that it never fails a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest
from ansible.errors import AnsibleConnectionFailure

from ansible_collections.dgxspark.serving.plugins.action import benchmark_second_source

FIXTURES = Path(__file__).resolve().parents[3] / "fixtures" / "bench"
POINT = "short.en/chat/direct:main-0/n1"
WANTED = {
    "host": "spark1",
    "container": "dgxspark-main-0-rank0",
    "url": "http://127.0.0.1:8000",
    "points": [{"point": POINT, "n": 1, "requests": 8, "prompt_tokens": 64}],
    "notes": [],
}
WOULD = (
    "vllm-rs bench serve would ask http://127.0.0.1:8000 from within dgxspark-main-0-rank0 on spark1: "
    f"{POINT} (8 requests)"
)
NOTHING = {"host": "", "points": [], "notes": ["vllm-rs was not asked: it is so."]}


class Task:
    """The plugin with answers that are given, for a run of which one point was measured."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path, **more: Any) -> None:
        self.calls: list[dict[str, Any]] = []
        self.shown: list[str] = []
        self.answers: list[Any] = []
        self.folder = folder
        arguments = {"wanted": WANTED, "order": {"cases": [], "targets": []}, "results": str(folder), **more}
        task = MagicMock(args=arguments, check_mode=False, async_val=0)
        make = benchmark_second_source.ActionModule
        self.plugin = make(task, *(MagicMock() for _argument in range(5)))
        monkeypatch.setattr(self.plugin, "_execute_module", self.execute)
        monkeypatch.setattr(
            benchmark_second_source.Display, "display", lambda display, text, **_more: self.shown.append(text)
        )
        point = {"id": POINT, "summary": {"prompt_tokens": {"p50": 141}}}
        monkeypatch.setattr(benchmark_second_source, "points_of", lambda rounds, order: [point])

    def execute(self, module_name: str, module_args: dict[str, Any], task_vars: Any) -> dict[str, Any]:
        assert module_name == "dgxspark.serving.benchmark_second_source"
        self.calls.append(module_args)
        found = self.answers.pop(0)
        if isinstance(found, BaseException):
            raise found
        assert isinstance(found, dict)
        return found

    def run(self, *answers: Any) -> dict[str, Any]:
        self.answers = list(answers)
        result: dict[str, Any] = self.plugin.run(task_vars={"inventory_hostname": "spark2"})
        assert self.answers == []
        return result


def answer(document: Any, *notes: str) -> dict[str, Any]:
    asked = [{"point": POINT, "document": document}]
    found = {"program": "/x/vllm-rs", "version": "0.33.0", "asked": asked, "notes": list(notes)}
    return {"second_source": found, "job": {"state": "done"}}


def document() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FIXTURES / "imports" / "vllm_rust_detailed.json").read_text("utf-8"))
    return found


def test_its_json_is_kept_and_its_figures_are_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    task = Task(monkeypatch, tmp_path)
    running = {"job": {"state": "running", "text": "point 1 of 1", "seconds": 10.0, "total": 0, "done": 0}}
    result = task.run(running, answer(document()))
    assert [call.get("job_stage", "start") for call in task.calls] == ["start", "poll"]
    assert [one["prompt_tokens"] for one in task.calls[0]["wanted"]["points"]] == [141]
    assert set(task.calls[0]) == {"wanted", "job_id"}
    assert task.shown == ["spark2: vllm-rs bench serve on spark1: point 1 of 1, 10 s"]
    found = result["second_source"]
    [one] = found["asked"]
    assert (found["host"], found["version"], found["notes"]) == ("spark1", "0.33.0", [])
    assert one["file"] == "second_source/short.en-chat-direct-main-0-n1.json"
    assert json.loads((tmp_path / one["file"]).read_text("utf-8")) == document()
    assert one["figures"]["requests"] == 8
    assert "failed" not in result


@pytest.mark.parametrize(
    ("given", "note"),
    [
        ({"failed": True, "msg": "Failed to find docker"}, "vllm-rs gave no result on spark1: Failed to find docker"),
        (AnsibleConnectionFailure("no\nroute"), "vllm-rs gave no result on spark1: no route"),
        ({"job": {"state": "done"}}, "vllm-rs gave no result on spark1: it ended without an answer"),
        (answer({"odd": 1}), f"The result of vllm-rs for {POINT} cannot be used: KeyError: 'num_prompts'"),
    ],
)
def test_whatever_goes_wrong_is_a_note(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, given: Any, note: str) -> None:
    task = Task(monkeypatch, tmp_path)
    result = task.run(given)
    assert result["second_source"]["notes"] == [note]
    assert result["second_source"]["asked"] == []
    assert "failed" not in result
    assert note in task.shown


def test_what_is_not_asked_is_said_and_no_host_is_troubled(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    task = Task(monkeypatch, tmp_path, wanted=NOTHING)
    result = task.run()
    assert result["second_source"]["notes"] == task.shown == NOTHING["notes"]
    assert task.calls == []


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (WANTED, WOULD),
        (NOTHING, "vllm-rs was not asked: it is so."),
    ],
)
def test_check_mode_says_what_it_would_ask(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, wanted: dict[str, Any], words: str
) -> None:
    task = Task(monkeypatch, tmp_path, wanted=wanted)
    task.plugin._task.check_mode = True
    assert task.run() == {"changed": False, "skipped": True, "msg": words}
    assert task.shown == [words]
    assert list(tmp_path.iterdir()) == []
