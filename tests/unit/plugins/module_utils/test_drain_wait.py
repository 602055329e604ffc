# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a drain and its end wait for."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.drain_wait import (
    Look,
    Since,
    requests,
    until_back,
    until_drained,
)

TOLD = {"drain": ["a"], "waiting": [], "listening": 60.0}


def look(now: float = 100.0, told: dict[str, Any] | None = None, door: bool = True, **changes: Any) -> Look:
    content = {"phase": "serving", "reason": "", "told": {**TOLD, **(told or {})}, **changes.pop("says", {})}
    values = {"status": 200, "door": content if door else None, "running": 0, "waiting": 0, **changes}
    return Look(now, **values)


@pytest.mark.parametrize(
    ("seen", "words"),
    [
        (look(told={"waiting": ["a", "b"]}), "the gateway at a, b does not know of it yet"),
        (look(told={"listening": 4.9}), "gateways may not have asked yet"),
        (look(door=False), "its supervisor does not answer"),
        (look(door=False, closed="TCP x cannot be used"), "TCP x cannot be used"),
        (look(running=3), "3 requests running"),
        (look(running=1, waiting=2), "1 request running, 2 waiting"),
        # One request may be on its way.
        (look(), "0 requests running"),
        (look(running=None, waiting=None), "the engine does not say how many requests run, so 30 s are waited"),
        (look(engine_answers=False), ""),
        # Nobody is there to be told.
        (look(door=False, supervised=False, engine_answers=False), ""),
        (look(door=False, supervised=False, running=2), "2 requests running"),
    ],
)
def test_the_first_look_of_a_drain(seen: Look, words: str) -> None:
    assert until_drained(seen, Since(), 30)[0] == words


@pytest.mark.parametrize(
    ("told", "if_asked", "words"),
    [
        ({"drain": []}, True, ""),
        ({"drain": []}, False, "3 requests running"),
        ({"drain": ["a"]}, True, "3 requests running"),
        ({"drain": [], "waiting": ["a"]}, True, "the gateway at a does not know of it yet"),
    ],
)
def test_where_no_gateway_asks_the_last_request_may_never_come(
    told: dict[str, Any], if_asked: bool, words: str
) -> None:
    assert until_drained(look(told=told, running=3), Since(), 30, if_asked)[0] == words


def follow(looks: list[Look], settle: float = 30) -> list[str]:
    since, found = Since(), []
    for seen in looks:
        words, since = until_drained(seen, since, settle)
        found.append(words)
    return found


def test_idle_is_seen_twice_a_second_apart() -> None:
    looks = [look(100), look(100.9), look(101, running=1), look(101.2), look(102.1), look(102.2)]
    assert [words == "" for words in follow(looks)] == [False] * 5 + [True]


def test_idle_before_all_are_told_does_not_count() -> None:
    looks = [look(100), look(100.9, told={"waiting": ["a"]}), look(101.5), look(102.4), look(102.5)]
    assert [words == "" for words in follow(looks)] == [False] * 4 + [True]


def test_an_engine_that_does_not_say_gets_its_time_once_all_are_told() -> None:
    unknown = {"running": None, "waiting": None}
    looks = [look(100, told={"waiting": ["a"]}, **unknown), look(101, **unknown), look(130.9, **unknown)]
    assert [words == "" for words in follow([*looks, look(131, **unknown)])] == [False] * 3 + [True]


@pytest.mark.parametrize(
    ("seen", "words"),
    [
        (look(), ""),
        (
            look(status=503, says={"reason": "the first generation is under way"}),
            "not ready: the first generation is under way",
        ),
        (look(status=503, says={"phase": "loading"}), "not ready: loading"),
        (look(told={"waiting": ["a"]}), "the gateway at a does not know of it yet"),
        (look(door=False), "its supervisor does not answer"),
        # No engine is going to run.
        (look(status=503, says={"phase": "down"}, told={"waiting": ["a"]}), ""),
        (look(status=503, says={"phase": "stopped"}), ""),
        (look(door=False, supervised=False), ""),
    ],
)
def test_the_end_of_a_drain(seen: Look, words: str) -> None:
    assert until_back(seen) == words


@pytest.mark.parametrize(
    ("running", "waiting", "words"),
    [(0, 0, "0 requests running"), (1, 0, "1 request running"), (2, 3, "2 requests running, 3 waiting")],
)
def test_requests(running: int, waiting: int, words: str) -> None:
    assert requests(running, waiting) == words
