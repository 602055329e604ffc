# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests of which host a stream asks next, and of the page cache."""

from __future__ import annotations

import ctypes
import errno
import os
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils import page_cache
from ansible_collections.dgxspark.serving.plugins.module_utils.fanout import routes
from ansible_collections.dgxspark.serving.plugins.module_utils.fanout.board import Board
from ansible_collections.dgxspark.serving.plugins.module_utils.fanout.routes import NobodyLeft, Routes

NEAR, FAR = ["192.0.2.2", "198.51.100.2"], ["192.0.2.1", "198.51.100.1"]


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    made: list[float] = []
    monkeypatch.setattr(routes.time, "sleep", made.append)
    return made


def test_streams_begin_at_different_addresses_of_the_nearest_host() -> None:
    assert [Routes([NEAR, FAR], stream, 0).current.address for stream in range(3)] == [NEAR[0], NEAR[1], NEAR[0]]


def test_after_a_failure_the_next_one_is_asked_and_the_nearest_after_a_pause_only(pauses: list[float]) -> None:
    way = Routes([NEAR, FAR], 1, 0)
    asked = []
    for _time in range(4):
        asked.append(way.current.address)
        assert not pauses
        way.failed("ends")
    assert asked == [NEAR[1], NEAR[0], FAR[1], FAR[0]]
    assert (way.current.address, len(pauses)) == (NEAR[1], 1)


def test_when_all_have_failed_again_and_again_all_are_named() -> None:
    way = Routes([["192.0.2.2"], ["192.0.2.1"]], 0, 0)
    for cause in ("is reset", "is refused", "is reset"):
        way.failed(cause)
    with pytest.raises(NobodyLeft, match="^192.0.2.1 is refused; 192.0.2.2 is reset$"):
        way.failed("is refused")


def test_bytes_in_between_begin_the_count_anew() -> None:
    way = Routes([["192.0.2.2"]], 0, 0)
    for _time in range(10):
        way.failed("ends")
        way.gave()


def test_a_host_that_may_still_be_starting_is_asked_again(pauses: list[float]) -> None:
    way = Routes([NEAR, FAR], 0, 3600)
    for _time in range(20):
        way.failed("refuses")
        assert way.current.host == 0
    way.answered()
    way.failed("ends")
    way.failed("ends")
    assert way.current.host == 1
    assert len(pauses) == 20


def test_wrong_content_sends_to_another_host() -> None:
    way = Routes([NEAR, FAR], 0, 0)
    way.other_host()
    assert way.current.host == 1
    way.other_host()
    assert way.current.host == 0
    alone = Routes([NEAR], 0, 0)
    alone.other_host()
    assert alone.current.address == NEAR[0]


def test_the_board_knows_bytes_files_and_movement() -> None:
    board = Board(3, 2)
    board.add(0, 10)
    board.add(1, 5)
    board.add(1, -5)
    board.set_whole(2)
    assert (board.brought, board.moved) == (10, 20)
    assert [board.is_whole(number) for number in range(3)] == [False, False, True]


@pytest.mark.parametrize("streams", [1, 4, 8, 64])
def test_all_streams_together_stay_within_the_budget(streams: int) -> None:
    assert 4 * streams * page_cache.window_of(streams) <= page_cache.BUDGET


def test_a_preallocated_file_has_the_size_of_what_was_written(tmp_path: Path) -> None:
    with open(tmp_path / "x", "wb") as file:
        page_cache.preallocate(file.fileno(), 8 << 20)
        assert os.fstat(file.fileno()).st_size == 0
        file.write(b"abc")
    assert (tmp_path / "x").stat().st_size == 3


@pytest.mark.parametrize(("number", "raised"), [(errno.ENOSPC, True), (errno.EDQUOT, True), (errno.EOPNOTSUPP, False)])
def test_a_disk_without_room_says_so_and_one_that_cannot_reserve_does_not(
    monkeypatch: pytest.MonkeyPatch, number: int, raised: bool
) -> None:
    def fallocate64(*_arguments: object) -> int:
        ctypes.set_errno(number)
        return -1

    monkeypatch.setattr(page_cache, "_LIBC", SimpleNamespace(fallocate64=fallocate64))
    with pytest.raises(OSError) if raised else nullcontext():
        page_cache.preallocate(0, 9)


def test_windows_are_written_and_dropped_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dropped: list[tuple[int, int]] = []
    monkeypatch.setattr(page_cache, "drop", lambda file, offset, length: dropped.append((offset, length)))
    with open(tmp_path / "x", "wb") as file:
        behind = page_cache.Behind(file.fileno(), 0, 100)
        for end in range(50, 501, 50):
            file.write(b"x" * 50)
            behind.wrote(end)
    assert dropped == [(0, 100), (0, 100), (100, 100), (200, 100)]
