# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finished rounds on their host: whole or not there, and fetched in portions."""

from __future__ import annotations

import base64
import errno
import os
import stat
import time
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.background import folder as folders
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.run import kept as kept_module
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.run.kept import Kept, NotKept, packed, unpacked
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.bench.run.run_rounds import played, spec


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Kept:
    monkeypatch.setattr(folders, "jobs_root", lambda: tmp_path / "jobs")
    made = Kept("benchmark-x")
    made.make()
    return made


def one(round_id: str, **more: Any) -> dict[str, Any]:
    return {**played(spec(round_id)), "requests": [], **more}


def test_a_round_is_read_as_it_was_written(kept: Kept) -> None:
    kept.write(one("0002", note="河"))
    kept.write(one("0001"))
    assert kept.ids() == ["0001", "0002"]
    assert [found["id"] for found in kept.read()] == ["0001", "0002"]
    assert next(found for found in kept.read() if found["id"] == "0002") == one("0002", note="河")
    assert stat.S_IMODE(kept.path.stat().st_mode) == 0o700


def test_the_same_round_is_the_same_bytes() -> None:
    assert packed(one("0001")) == packed(one("0001"))


@pytest.mark.parametrize("content", [b"", b"no gzip", packed(one("1"))[:-9], packed({"x": 1}), packed([])])  # type: ignore[arg-type]
def test_what_is_no_round_is_refused(content: bytes) -> None:
    with pytest.raises(ValueError):
        unpacked(content)


def test_the_controller_gets_what_it_has_not(kept: Kept) -> None:
    for round_id in ("0001", "0002", "0003"):
        kept.write(one(round_id))
    answer = kept.answer(["0002"])
    assert (sorted(answer["rounds"]), answer["left"]) == (["0001", "0003"], 0)
    assert unpacked(base64.b64decode(answer["rounds"]["0003"])) == one("0003")
    assert kept.answer(["0001", "0002", "0003"]) == {"rounds": {}, "left": 0, "self_test": None}


def test_an_answer_is_bounded_and_never_empty_while_something_is_left(
    kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        kept.write(one(f"{number:04}"))
    size = len(kept.answer([])["rounds"]["0000"])
    monkeypatch.setattr(kept_module, "MOST", 2 * size + 5)
    first = kept.answer([])
    assert (sorted(first["rounds"]), first["left"]) == (["0000", "0001"], 3)
    monkeypatch.setattr(kept_module, "MOST", 1)
    assert (sorted(kept.answer(["0000"])["rounds"]), kept.answer(["0000"])["left"]) == (["0001"], 3)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EIO])
def test_a_full_disk_is_named_and_leaves_nothing_half_written(
    kept: Kept, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    kept.write(one("0001"))

    def full(_descriptor: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(kept_module.os, "fsync", full)
    with pytest.raises(NotKept) as error:
        kept.write(one("0002"))
    words = str(error.value)
    assert words.startswith(f"Round 0002 (short.en/chat/gateway/n4) is lost: {kept.path} does not take it: ")
    assert os.strerror(number) in words
    assert "benchmark_resume" in words
    # The ballast is gone too: its room is needed to say this.
    assert sorted(file.name for file in kept.path.iterdir()) == ["0001.json.gz", "asked"]


def test_a_round_to_be_played_anew_is_dropped(kept: Kept) -> None:
    kept.write(one("0001"))
    kept.drop(["0001", "0007"])
    assert kept.ids() == []


def test_rounds_stay_when_the_folder_is_made_again_and_go_in_the_end(kept: Kept) -> None:
    kept.write(one("0001"))
    kept.make()
    assert kept.ids() == ["0001"]
    kept.end()
    assert not kept.path.exists()
    assert kept.answer([]) == {"rounds": {}, "left": 0, "self_test": None}


def test_the_self_test_comes_with_each_answer_and_is_no_round(kept: Kept) -> None:
    kept.keep_self_test({"ttft_err_pct": 0.2})
    assert (kept.ids(), list(kept.read())) == ([], [])
    assert kept.answer([]) == kept.answer([]) == {"rounds": {}, "left": 0, "self_test": {"ttft_err_pct": 0.2}}
    assert Kept("benchmark-x").self_test() == {"ttft_err_pct": 0.2}


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff"])
def test_a_damaged_self_test_is_none(kept: Kept, content: bytes) -> None:
    (kept.path / kept_module.SELF_TEST).write_bytes(content)
    assert kept.self_test() is None


def test_a_self_test_that_cannot_be_written_fails_nothing(kept: Kept) -> None:
    kept.end()
    kept.keep_self_test({"ttft_err_pct": 0.2})
    assert kept.self_test() is None


def test_rounds_that_nobody_fetched_are_removed_after_a_day(kept: Kept) -> None:
    kept.write(one("0001"))
    folders.forget_old()
    assert kept.ids() == ["0001"]
    old = time.time() - folders.OLD - 5
    os.utime(kept.path / "asked", (old, old))
    folders.forget_old()
    assert not kept.path.exists()
