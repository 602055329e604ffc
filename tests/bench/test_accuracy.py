# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The gate: our gaps and times against the mock's own send times, in the same run, so that a slow machine moves both.

What a busy machine does to the client only adds error: of some tries one must hold.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.played import Played
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.run_queue import RunQueue
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.threads import play_threads
from tests.bench.truth import LIMITS, Mock, asks_of

TRIES = 6


def p99(values: list[float]) -> float:
    return sorted(values)[int(len(values) * 0.99)]


def errors(played: Played, sent: dict[int, dict[str, Any]]) -> tuple[float, float, float]:
    """By what share p99 of the gaps, the mean time per token, and the median time to the first token are off."""
    rows = [(one, sent[one["id"]]) for one in played.records]
    ours = [gap for one, _row in rows for gap in one["gaps_ms"]]
    real = [(later - earlier) * 1000.0 for _one, row in rows for earlier, later in pairwise(row["sent"])]
    tpot = [(row["sent"][-1] - row["sent"][0]) * 1000.0 / (len(row["sent"]) - 1) for _one, row in rows]
    first = [(row["sent"][0] - row["received"]) * 1000.0 for _one, row in rows]
    return (
        abs(p99(ours) / p99(real) - 1.0),
        abs(statistics.mean(one["tpot_ms"] for one, _row in rows) / statistics.mean(tpot) - 1.0),
        abs(statistics.median(one["ttft_ms"] for one, _row in rows) / statistics.median(first) - 1.0),
    )


@pytest.mark.parametrize("batch", [False, True], ids=["each-by-itself", "all-in-one-step"])
@pytest.mark.parametrize("users", [1, 8, 32])
def test_figures_are_true(mock: Mock, users: int, batch: bool) -> None:
    """p99 of the gaps within 5 %, time per token within 1 %, time to the first token within 3 %."""
    found = []
    for _try in range(TRIES):
        mock.reset()
        played = mock.play({"ttft": 0.2, "itl": 0.02, "batch": batch}, n=users, requests=users, tokens=28)
        assert [one["error"] for one in played.records] == [None] * users
        found.append(errors(played, mock.sent()))
        if found[-1][0] < 0.05 and found[-1][1] < 0.01 and found[-1][2] < 0.03:
            return
    pytest.fail(f"in {TRIES} tries never within the bounds: {found}")


def test_a_client_that_is_held_up_says_so(mock: Mock) -> None:
    """B13: work in the loop makes stamps late, and the round is not to be believed."""

    def work(*_values: Any) -> bool:
        sum(range(1_000_000))
        return False

    played = mock.play({"itl": 0.005}, n=8, requests=8, tokens=60, over=work)
    valid, reasons = played.valid(5.0)
    assert (valid, len(reasons)) == (False, 1)


@contextlib.contextmanager
def hog(cpu: int) -> Iterator[None]:
    """Something else that wants all of one processor."""
    program = f"import os\nos.sched_setaffinity(0, {{{cpu}}})\nprint(flush=True)\nwhile True: pass"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()
            yield
        finally:
            process.kill()


def starve(cpu: int) -> None:
    """Have this process take what others leave of that processor."""
    os.sched_setaffinity(0, {cpu})
    os.nice(19)


def starved_round(url: str) -> tuple[bool, list[str], dict[str, Any]]:
    played = Mock(int(url.rpartition(":")[2])).play({"itl": 0.01}, n=4, requests=4, tokens=60)
    return (*played.valid(10.0), played.client["lag_ms"])


@pytest.mark.skipif(not RunQueue().known, reason="the kernel keeps no account of waits for a processor")
def test_a_client_that_gets_no_processor_says_so(mock: Mock) -> None:
    """B13: epoll slept, and what woke us came while we stood in the queue behind somebody else."""
    cpu = max(os.sched_getaffinity(0))
    fork = multiprocessing.get_context("fork")
    with hog(cpu), ProcessPoolExecutor(1, fork, initializer=starve, initargs=(cpu,)) as pool:
        valid, reasons, lag = pool.submit(starved_round, mock.url).result(timeout=60)
    assert (valid, len(reasons)) == (False, 1), lag


@pytest.mark.parametrize(
    ("wishes", "kind"),
    [({}, None), ({"status": 429}, "http_429"), ({"truncate_after": 8}, "truncated"), ({"tokens": 8}, "short_output"),
     ({"error_after": 8}, "stream_error"), ({"framing": "close"}, None)],
)  # fmt: skip
def test_both_ways_see_the_same_faults(mock: Mock, wishes: dict[str, Any], kind: str | None) -> None:
    load = {"model": "closed", "n": 2, "requests": 4}
    played = play_threads(mock.target, load, asks_of(wishes), LIMITS)
    assert [one["error"] and one["error"]["kind"] for one in played.records] == [kind] * 4
