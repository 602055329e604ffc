# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The folder of a run: what lies in it is read or named, and a report is written whole or not at all."""

from __future__ import annotations

import errno
import gzip
import json
import os
import re
from pathlib import Path

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.faults import ConfigurationError
from ansible_collections.dgxspark.serving.plugins.plugin_utils import bench_files


def put(folder: Path, identity: str) -> Path:
    path = folder / f"{identity}.json.gz"
    path.write_bytes(gzip.compress(json.dumps({"id": identity, "point": "p"}).encode()))
    return path


def test_rounds_come_in_their_order_and_nothing_else_is_read(tmp_path: Path) -> None:
    for identity in ("0002", "0001"):
        put(tmp_path, identity)
    (tmp_path / ".0003.part").write_bytes(b"half")
    assert [one["id"] for one in bench_files.rounds_in(tmp_path)] == ["0001", "0002"]


def test_no_folder_is_no_round(tmp_path: Path) -> None:
    assert bench_files.rounds_in(tmp_path / "rounds") == []


@pytest.mark.parametrize(
    "content",
    [b"", b"no gzip", gzip.compress(b"{"), gzip.compress(b"[]"), gzip.compress(b"{}"), gzip.compress(b"x" * 99)[:-9]],
)
def test_each_damaged_round_is_named(tmp_path: Path, content: bytes) -> None:
    put(tmp_path, "0001")
    for name in ("0002.json.gz", "0003.json.gz"):
        (tmp_path / name).write_bytes(content)
    with pytest.raises(ConfigurationError, match="Remove the file and run the benchmark again") as raised:
        bench_files.rounds_in(tmp_path)
    assert [Path(fault.variable).name for fault in raised.value.faults] == ["0002.json.gz", "0003.json.gz"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "No such file"),
        (b"\xff\xfe", "not a text file"),
        (b"{", "no JSON"),
        (b'{"schema": "spark_bench/9"}', "spark_bench/9"),
    ],
)
def test_a_baseline_that_is_none_is_refused(tmp_path: Path, content: bytes | None, words: str) -> None:
    path = tmp_path / "result.json"
    if content is not None:
        path.write_bytes(content)
    for given in (path, tmp_path):
        with pytest.raises(ConfigurationError, match=words) as raised:
            bench_files.result_in(given)
        assert str(path) in str(raised.value)


def test_all_files_are_written_over_the_old_ones(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    for content in (b"1", b"2"):
        bench_files.write_all(folder, {"a": content, "b": content})
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {"a": b"2", "b": b"2"}


def test_a_full_disk_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bench_files.write_all(tmp_path, {"a": b"old", "b": b"old"})
    calls: list[int] = []

    def fsync(number: int) -> None:
        calls.append(number)
        if len(calls) == 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(ConfigurationError, match="No space left on device") as raised:
        bench_files.write_all(tmp_path, {"a": b"new", "b": b"new", "c": b"new"})
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"a": b"old", "b": b"old"}
    (fault,) = raised.value.faults
    assert fault.variable == str(tmp_path / "b")
    assert "free" in fault.found


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    with pytest.raises(ConfigurationError, match="file/run"):
        bench_files.write_all(tmp_path / "file" / "run", {"a": b"1"})


def test_the_version_is_the_collections() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+.*", bench_files.collection_version())
