# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The edge of the imports: which files it writes, that twice changes nothing, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest

from ansible_collections.dgxspark.serving.plugins.action import benchmark_import

FIXTURES = Path(__file__).resolve().parents[3] / "fixtures" / "bench" / "imports"


def run(src: str, dest: Path, check_mode: bool = False, **arguments: Any) -> dict[str, Any]:
    given = {"src": src, "dest": str(dest), "pictures": False, **arguments}
    task = MagicMock(args=given, check_mode=check_mode, async_val=0)
    make = benchmark_import.ActionModule
    found: dict[str, Any] = make(task, *(MagicMock() for _argument in range(5))).run(task_vars={})
    return found


@pytest.mark.parametrize("name", sorted(path.name for path in FIXTURES.glob("*.json")))
def test_result_and_reports_are_written_once(tmp_path: Path, name: str) -> None:
    before = run(str(FIXTURES / name), tmp_path, check_mode=True, label="forum")
    assert (before["changed"], list(tmp_path.iterdir())) == (True, [])
    found = run(str(FIXTURES / name), tmp_path, label="forum")
    assert found["changed"]
    folder = Path(found["folder"])
    assert sorted(path.name for path in folder.iterdir()) == [
        *("junit.xml", "report.csv", "report.html", "report.md", "result.json"),
    ]
    result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    assert len(result["points"]) == found["points"]
    assert found["tool"] in (folder / "report.md").read_text(encoding="utf-8")
    assert not run(str(FIXTURES / name), tmp_path, label="forum")["changed"]


def test_what_cannot_be_read_is_refused(tmp_path: Path) -> None:
    binary = tmp_path / "result.json"
    binary.write_bytes(b"\x89PNG\xff")
    for src, words in (
        (str(binary), "no text"),
        (str(tmp_path / "none.json"), "No such file"),
        (str(tmp_path), "directory"),
    ):
        said = run(src, tmp_path / "out")
        assert said["failed"]
        assert words in said["msg"]
    assert not (tmp_path / "out").exists()


def test_a_label_must_do_as_part_of_a_name(tmp_path: Path) -> None:
    said = run(str(FIXTURES / "vllm_rust_detailed.json"), tmp_path, label="../x")
    assert "label: found '../x'" in said["msg"]
