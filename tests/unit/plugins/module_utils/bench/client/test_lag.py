# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How late stamps are, and how many requests are under way."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.in_flight import concurrency, steady
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.lag import (
    Lag,
    late_by,
    tokens_in,
    validity,
)


def test_each_stamp_counts_and_the_worse_of_both_measures_is_told() -> None:
    lag = Lag()
    lag.wake(0.0, 980)
    lag.wake(0.004, 20)
    for late in (0.001, 0.001, -0.5):
        lag.waited(late)
    assert lag.summary() == {"p50": 1.0, "p99": 4.0, "max": 4.0}


@pytest.mark.parametrize(
    ("slept", "since_last", "late"),
    [
        pytest.param(0.015, 0.020, 0.0, id="slept"),
        pytest.param(0.000005, 0.004, 0.004, id="was-busy"),
    ],
)
def test_how_late_a_wake_is(slept: float, since_last: float, late: float) -> None:
    assert late_by(slept, since_last) == late


def test_b13_a_processor_that_we_did_not_get_makes_stamps_late() -> None:
    """B13: although epoll slept. Which wake stood in the queue nobody knows, so each since the last look counts."""
    lag = Lag()
    lag.wake(0.0, 100)
    lag.queued(0.000_04)
    lag.wake(0.0, 500)
    lag.wake(0.005, 100)
    lag.queued(0.003)
    lag.wake(0.0, 300)
    lag.queued(0.0)
    assert lag.summary() == {"p50": 3.0, "p99": 5.0, "max": 5.0}
    assert validity(lag.summary(), None)[0] is False


def test_b13_whole_answers_in_one_late_wake_weigh_as_their_tokens() -> None:
    """B13: one wake of a thousand, but 128 tokens of each of 8 answers: the round is not to be believed."""
    answer = b"data: {}\n\n" * 128
    lag = Lag()
    for _token in range(1000):
        lag.wake(0.0001, 8)
    assert validity(lag.summary(), 20.0) == (True, [])
    lag.wake(0.360, tokens_in(answer) * 8)
    assert validity(lag.summary(), 20.0)[0] is False


@pytest.mark.parametrize(("piece", "tokens"), [(b"data: {}\n\ndata: {}\n\n", 2), (b"data: [", 1), (b"", 1)])
def test_tokens_of_a_piece(piece: bytes, tokens: int) -> None:
    assert tokens_in(piece) == tokens


def test_one_late_wait_does_not_speak_for_a_hundred() -> None:
    """B18: the percentile of a small sample is not its maximum."""
    lag = Lag()
    for late in [0.0001] * 99 + [0.02]:
        lag.waited(late)
    assert lag.summary() == {"p50": 0.1, "p99": 0.1, "max": 20.0}


def test_no_sample_no_figure() -> None:
    assert Lag().summary() == {"p50": None, "p99": None, "max": None}
    assert validity(Lag().summary(), 20.0) == (True, [])


def test_samples_of_two_processes() -> None:
    one, other = Lag(), Lag()
    one.wake(0.001, 1)
    other.wake(0.003, 1)
    other.waited(0.002)
    one.merge(other)
    assert one.summary()["max"] == 3.0


@pytest.mark.parametrize(
    ("p99", "itl", "words"),
    [
        (0.9, 20.0, ()),
        (1.9, None, ()),
        (1.1, 20.0, ("1.10 ms", "1.00 ms", "5%", "20.00 ms")),
        (2.1, 200.0, ("2.10 ms", "2 ms")),
        (2.1, None, ("2.10 ms", "2 ms")),
        (30.0, 20.0, ("30.00 ms", "2 ms")),
        pytest.param(0.1, 0.05, (), id="a gateway that buffers"),
        pytest.param(2.1, 0.05, ("2.10 ms", "2 ms"), id="and a slow client"),
        pytest.param(0.06, 1.0, ("0.06 ms", "0.05 ms"), id="the quickest engine"),
    ],
)
def test_b13_validity(p99: float, itl: float | None, words: tuple[str, ...]) -> None:
    """B13: beyond 2 ms, or 5 % of the median gap, the round says why it is not to be believed."""
    valid, reasons = validity({"p50": 0.1, "p99": p99, "max": p99}, itl)
    assert valid is not bool(words)
    assert len(reasons) == bool(words)
    assert all(word in reasons[0] for word in words)


def record(begin: float, end: float) -> dict[str, Any]:
    return {"t_write": begin, "t_end": end}


def test_b21_concurrency_that_was_reached() -> None:
    """B21: mean over time and peak."""
    assert concurrency([record(0, 4), record(0, 2), record(2, 3)], 5.0) == {"mean": 1.4, "peak": 2}
    assert concurrency([], 0.0) == {"mean": None, "peak": 0}


@pytest.mark.parametrize(
    ("records", "users", "window"),
    [
        pytest.param([record(0, 2), record(0, 3)], 2, {"t0": 0, "t1": 2}, id="until-the-first-ends"),
        pytest.param(
            [record(0, 2), record(0, 3), record(2.001, 4), record(3.01, 5)], 2, {"t0": 0, "t1": 4}, id="refill"
        ),
        pytest.param(
            [record(0, 2), record(0, 3), record(2.5, 6), record(3.0, 6)], 2, {"t0": 2.5, "t1": 6}, id="longest"
        ),
        pytest.param([record(0, 0.5), record(0, 0.5)], 2, None, id="short"),
        pytest.param([record(0, 9)], 2, None, id="never"),
        pytest.param([], 1, None, id="nothing"),
        pytest.param([record(0, 2)] * 19 + [record(1, 2)], 20, {"t0": 0, "t1": 2}, id="nineteen-of-twenty"),
    ],
)
def test_steady_windows(records: list[dict[str, Any]], users: int, window: dict[str, float] | None) -> None:
    assert steady(records, users) == window


def test_what_is_allowed_can_be_said() -> None:
    late = {"p50": 0.1, "p99": 3.0, "max": 4.0}
    assert validity(late, 20.0)[0] is False
    assert validity(late, 20.0, {"p99_ms": 5.0})[0] is False  # 3 ms are more than 5 % of 20 ms
    assert validity(late, 20.0, {"p99_ms": 5.0, "share": 0.2}) == (True, [])
    assert "the limit is 1 ms" in validity(late, 20.0, {"p99_ms": 1.0})[1][0]
