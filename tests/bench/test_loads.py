# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who asks when: closed with refill, open by schedule, conversations; progress and abort."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client import shelf
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.ask import Ask
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.body import body_of, path_of
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.played import play
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.reply import Reply
from tests.bench.truth import LIMITS, Mock


def test_a_closed_load_refills_at_once(mock: Mock) -> None:
    """B21: so many requests as were asked for, so many at a time, and no batch waits for its slowest."""
    played = mock.play({"itl": 0.01}, n=4, requests=12)
    assert sorted(one["id"] for one in played.records) == list(range(12))
    assert played.concurrency["peak"] == 4
    assert played.concurrency["mean"] > 3.0
    for user in range(4):
        own = [one for one in played.records if one["user"] == user]
        for earlier, later in itertools.pairwise(own):
            assert earlier["t_end"] <= later["t_write"]
    assert [one["t_end"] for one in played.records] == sorted(one["t_end"] for one in played.records)


def test_a_closed_load_goes_on_until_the_time_is_up(mock: Mock) -> None:
    played = mock.play({}, load={"model": "closed", "n": 2, "requests": 2, "min_s": 1.2})
    assert len(played.records) > 2
    assert played.seconds >= 1.2
    assert played.steady is not None
    assert all(one["t_write"] < 1.2 and one["error"] is None for one in played.records)


def test_a_series_is_one_user(mock: Mock) -> None:
    played = mock.play({}, load={"model": "series", "n": 1, "requests": 3})
    assert [one["id"] for one in played.records] == [0, 1, 2]
    assert played.concurrency["peak"] == 1


def test_b10_b11_an_open_load_keeps_its_schedule(mock: Mock) -> None:
    """Requests are sent when they are due even though the ones before them are not answered."""
    dues = [0.0, 0.0, 0.1, 0.15, 0.15, 0.2, 0.2, 0.2, 0.2, 0.25]
    played = mock.play({"ttft": 0.5}, load={"model": "open", "rate": None, "requests": 10}, dues=dues)
    by_id = sorted(played.records, key=lambda one: one["id"])
    assert [one["error"] for one in by_id] == [None] * 10
    assert [one["t_sched"] for one in by_id] == dues
    assert all(one["t_write"] >= one["t_sched"] for one in by_id)
    # All were sent before the first was answered.
    assert max(one["t_write"] for one in by_id) < min(one["t_first"] for one in by_id)
    assert (played.concurrency["peak"], played.steady) == (10, None)


def test_an_open_load_uses_idle_connections_again(mock: Mock) -> None:
    dues = [number * 0.1 for number in range(10)]
    played = mock.play({}, load={"model": "open", "requests": 10}, dues=dues)
    assert len(played.records) == 10
    assert len({row["peer"] for row in mock.book()["requests"]}) < 10
    assert [one["connect_ms"] for one in played.records] == [None] * 10


def test_an_open_load_ends_with_its_requests(mock: Mock) -> None:
    assert len(mock.play({}, load={"model": "open", "requests": 3}, dues=[0.0] * 9).records) == 3
    assert len(mock.play({}, load={"model": "open", "requests": 9}, dues=[0.0] * 3).records) == 3


def test_the_end_of_the_round_aborts_what_is_under_way(mock: Mock) -> None:
    told: list[tuple[int, int, int, float]] = []
    played = mock.play(
        {"itl": 0.1, "tokens": 1000},
        on_progress=lambda *values: told.append(values),
        over=lambda: len(told) >= 1,
    )
    assert [one["error"]["kind"] for one in played.records] == ["aborted"] * 2
    (first,) = told
    assert first[:3] == (0, 2, 0)
    assert first[3] >= 1.0
    assert all(one["chunks"] > 0 for one in played.records)


def test_progress_counts_what_failed(mock: Mock) -> None:
    told: list[tuple[int, int, int, float]] = []
    mock.play(
        {"status": 500},
        load={"model": "closed", "n": 1, "requests": 30, "min_s": 0.0},
        on_progress=lambda *values: told.append(values),
    )
    assert told
    assert told[0][0] == told[0][2] > 0


def test_asks_that_end_early(mock: Mock) -> None:
    asks = [Ask(7, path_of("chat"), body_of("chat", "mock", output={"mode": "natural", "tokens": 4}), "chat")]
    played = play(mock.target, {"model": "closed", "n": 4, "requests": 8, "min_s": 60.0}, iter(asks), LIMITS)
    assert [(one["id"], one["error"]) for one in played.records] == [(7, None)]


@pytest.mark.parametrize("users", [1, 3])
def test_conversations(mock: Mock, users: int) -> None:
    """The next turn of each user holds the answer to the one before."""
    history: dict[int, list[dict[str, str]]] = {user: [] for user in range(users)}
    whose: dict[int, int] = {}
    numbers = itertools.count()

    def asks(user: int) -> Ask | None:
        turns = history[user]
        if len(turns) >= 6:
            return None
        turns.append({"role": "user", "content": f"turn {len(turns)} of {user}"})
        number = next(numbers)
        whose[number] = user
        output: dict[str, Any] = {"mode": "fixed", "tokens": 2}
        extra = {"mock": {"id": number, "text": f"answer{user} "}}
        body = body_of("chat", "mock", messages=turns, output=output, extra=extra)
        return Ask(number, path_of("chat"), body, "chat", requested_tokens=2)

    def answered(ask: Ask, text: str) -> None:
        history[whose[ask.id]].append({"role": "assistant", "content": text})

    load = {"model": "closed", "n": users, "requests": 3 * users, "min_s": 0.0}
    played = play(mock.target, load, asks, LIMITS, on_answer=answered)
    assert [one["error"] for one in played.records] == [None] * 3 * users
    for user, turns in history.items():
        assert [turn["content"] for turn in turns[1::2]] == [f"answer{user} answer{user} "] * 3
    assert sorted(len(row["body"]["messages"]) for row in mock.book()["requests"]) == sorted([1, 3, 5] * users)


@pytest.mark.parametrize("framing", ["chunked", "close"])
def test_long_answers_are_put_aside_while_they_come(mock: Mock, monkeypatch: pytest.MonkeyPatch, framing: str) -> None:
    monkeypatch.setattr(shelf, "UNDER_WAY", 0)
    monkeypatch.setattr(shelf, "LEAST_PART", 300)
    put_part, parts = shelf.Shelf.put_part, []

    def counted(self: shelf.Shelf, reply: Reply) -> None:
        parts.append(reply.ask.id)
        put_part(self, reply)

    monkeypatch.setattr(shelf.Shelf, "put_part", counted)
    wishes = {"itl": 0.001, "framing": framing, "text": " Wörter"}
    played = mock.play(wishes, n=8, requests=16, tokens=40, keep_text=True)
    assert [one["error"] for one in played.records] == [None] * 16
    assert {one["text"] for one in played.records} == {" Wörter" * 40}
    assert set(parts) == set(range(16))
    assert len(parts) >= 10 * 16
    assert {len(one["gaps_ms"]) for one in played.records} == {39}
    assert all(gap >= 0.0 for one in played.records for gap in one["gaps_ms"])


def test_more_users_than_one_process_can_serve(mock: Mock) -> None:
    """Two processes, one clock: the records are those of one round."""
    played = mock.play({"itl": 0.05, "ttft": 0.6}, n=300, requests=420, tokens=4)
    assert sorted(one["id"] for one in played.records) == list(range(420))
    assert {one["user"] for one in played.records} == set(range(300))
    assert [one["error"] for one in played.records] == [None] * 420
    assert (played.client["connections"], played.concurrency["peak"]) == (300, 300)
    sent = mock.sent()
    for one in played.records:
        assert played.clock + one["t_write"] <= sent[one["id"]]["received"]


def test_two_processes_are_ended_together(mock: Mock) -> None:
    told: list[tuple[int, int, int, float]] = []
    played = mock.play(
        {"itl": 0.2, "tokens": 1000}, n=257, requests=257,
        on_progress=lambda *values: told.append(values), over=lambda: bool(told),
    )  # fmt: skip
    assert [one["error"]["kind"] for one in played.records] == ["aborted"] * 257
    assert told[0][:3] == (0, 257, 0)
