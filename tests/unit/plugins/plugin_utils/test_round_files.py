# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files of rounds on the controller: whole or not there, and what a resumed run makes of them."""

from __future__ import annotations

import base64
import errno
import os
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.run.kept import packed, self_test_in
from ansible_collections.dgxspark.serving.plugins.plugin_utils import round_files
from ansible_collections.dgxspark.serving.plugins.plugin_utils.round_files import CannotWrite, RoundFiles, again
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.bench.run.run_rounds import played, spec


def one(round_id: str, succeeded: int = 2, failed: int = 0, **more: Any) -> dict[str, Any]:
    requests = [{"error": None}] * succeeded + [{"error": {"kind": "connect"}}] * failed
    whole = {
        **played(spec(round_id)), "requests": requests, "errors": {"connect": failed} if failed else {},
        "began": 1764490000.0, **more,
    }  # fmt: skip
    del whole["succeeded"]
    return whole


def sent(document: dict[str, Any]) -> str:
    return base64.b64encode(packed(document)).decode()


def opened(folder: Path, resume: bool = False) -> RoundFiles:
    files = RoundFiles(str(folder))
    files.open(resume)
    return files


def test_a_round_is_a_file_at_once_and_the_state_of_a_resumed_run(tmp_path: Path) -> None:
    files = opened(tmp_path / "results" / "x")
    assert files.ids == files.known == []
    assert files.write("0001", sent(one("0001"))) == one("0001")
    assert [file.name for file in files.path.iterdir()] == ["0001.json.gz"]
    again = opened(files.folder, resume=True)
    assert again.ids == ["0001"]
    assert again.known == files.known
    assert (again.known[0]["id"], again.known[0]["succeeded"]) == ("0001", 2)
    assert again.totals() == files.totals()


def test_rounds_that_a_dead_target_missed_are_played_again(tmp_path: Path) -> None:
    files = opened(tmp_path)
    files.write("0001", sent(one("0001")))
    files.write("0002", sent(one("0002", 0, skipped="It is dead.", skip_kind="dead")))
    assert (files.ids, files.held) == (["0001", "0002"], ["0001"])
    assert [known["id"] for known in files.known] == ["0001"]
    # A resumed run has not got them: its host is to send what it plays in their place.
    again = opened(tmp_path, resume=True)
    assert (again.ids, again.totals()["rounds"]) == (["0001"], 1)
    assert (files.path / "0002.json.gz").exists()
    again.write("0002", sent(one("0002")))
    assert opened(tmp_path, resume=True).held == ["0001", "0002"]


def test_an_earlier_run_is_not_written_over(tmp_path: Path) -> None:
    opened(tmp_path).write("0001", sent(one("0001")))
    with pytest.raises(CannotWrite, match=r"holds 1 rounds of an earlier run.*benchmark_resume"):
        opened(tmp_path)


def test_a_damaged_file_is_played_again(tmp_path: Path) -> None:
    files = opened(tmp_path)
    files.write("0001", sent(one("0001")))
    whole = (files.path / "0001.json.gz").read_bytes()
    (files.path / "0001.json.gz").write_bytes(whole[:-20])
    assert opened(tmp_path, resume=True).ids == []


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("0001", "no base64!"),
        ("0001", base64.b64encode(b"no gzip").decode()),
        ("0001", sent(one("0002"))),
        ("../0001", sent(one("../0001"))),
    ],
)
def test_what_is_no_round_of_that_name_is_refused(tmp_path: Path, name: str, content: str) -> None:
    files = opened(tmp_path / "x")
    with pytest.raises(CannotWrite, match=r"from its host"):
        files.write(name, content)
    assert list(tmp_path.rglob("*.gz")) == []


def test_a_full_disk_is_named_and_leaves_nothing_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = opened(tmp_path)
    files.write("0001", sent(one("0001")))

    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(round_files.os, "fsync", full)
    with pytest.raises(CannotWrite) as error:
        files.write("0002", sent(one("0002")))
    assert str(error.value) == (
        f"Round 0002 cannot be written into {files.path}: No space left on device. The 1 rounds before it are there. "
        f"Make room there, then run again with benchmark_resume={tmp_path}."
    )
    assert [file.name for file in files.path.iterdir()] == ["0001.json.gz"]
    assert files.ids == ["0001"]


def test_the_first_self_test_stays_and_is_no_round(tmp_path: Path) -> None:
    files = opened(tmp_path)
    assert files.self_test is None
    files.keep_self_test(None)
    assert files.self_test is None
    files.keep_self_test({"ttft_err_pct": 0.2})
    # What came after it is of a resumed run.
    files.keep_self_test({"ttft_err_pct": 9.9})
    again = opened(tmp_path)
    assert (again.self_test, again.ids) == ({"ttft_err_pct": 0.2}, [])
    assert self_test_in(tmp_path / "rounds") == {"ttft_err_pct": 0.2}
    assert self_test_in(tmp_path / "none") is None


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(CannotWrite, match=r"file/x/rounds cannot be made: Not a directory\."):
        opened(tmp_path / "file" / "x")


def test_totals(tmp_path: Path) -> None:
    files = opened(tmp_path)
    assert files.totals() == {
        "rounds": 0, "skipped_rounds": 0, "requests": 0, "failed_requests": 0, "errors": {}, "nothing_worked": True,
        "started": None, "ended": None,
    }  # fmt: skip
    files.write("0001", sent(one("0001", 0, 3)))
    assert files.totals()["nothing_worked"] is True
    files.write("0002", sent(one("0002", 2, 1, began=1764490020.0)))
    files.write("0003", sent(one("0003", 0, began=1764499999.0, skipped="The ladder is at its end.")))
    assert files.totals() == {
        "rounds": 3, "skipped_rounds": 1, "requests": 6, "failed_requests": 4, "errors": {"connect": 4},
        "nothing_worked": False, "started": "2025-11-30T08:06:40Z", "ended": "2025-11-30T08:07:10Z",
    }  # fmt: skip


def test_a_run_goes_on_with_its_folder_and_a_block_with_the_whole_run(tmp_path: Path) -> None:
    assert again(tmp_path) == f"go on with the same command and -e benchmark_resume={tmp_path}"
    assert again(tmp_path / "blocks" / "02" / "20261130T101500Z-layout-tp1") == ""
