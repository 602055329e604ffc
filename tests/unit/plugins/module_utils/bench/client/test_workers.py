# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Work in several processes: shares, one start, results, and one that dies."""

from __future__ import annotations

import os
import time

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.workers import (
    Line,
    number_for,
    share_of,
    work_apart,
)


@pytest.mark.parametrize(("users", "number"), [(1, 1), (256, 1), (257, 2), (512, 2), (513, 3)])
def test_how_many(users: int, number: int) -> None:
    assert number_for(users) == number


@pytest.mark.parametrize(("total", "parts", "shares"), [(300, 2, [150, 150]), (7, 3, [3, 2, 2]), (0, 2, [0, 0])])
def test_shares(total: int, parts: int, shares: list[int]) -> None:
    assert share_of(total, parts) == shares


def test_all_get_the_same_start_and_their_results_come_back() -> None:
    def job(line: Line) -> tuple[int, int, float, bytes]:
        return line.number, os.getpid(), line.start(), b"x" * 300_000

    before = time.perf_counter()
    first, second = work_apart(2, job, on_progress=None, over=None)
    assert (first[0], second[0]) == (0, 1)
    assert len({first[1], second[1], os.getpid()}) == 3
    assert first[2] == second[2] > before
    assert first[3] == second[3] == b"x" * 300_000


def test_one_that_dies_is_told() -> None:
    def job(line: Line) -> int:
        line.start()
        if line.number:
            os._exit(3)
        while not line.over():
            time.sleep(0.01)
        return 1

    with pytest.raises(ChildProcessError, match="ended without its result"):
        work_apart(2, job, on_progress=None, over=None)


def test_one_that_fails_says_why() -> None:
    def job(line: Line) -> int:
        line.start()
        return 1 // line.number

    with pytest.raises(ChildProcessError, match="ZeroDivisionError: integer"):
        work_apart(2, job, on_progress=None, over=None)
