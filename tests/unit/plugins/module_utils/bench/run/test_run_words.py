# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How far a run is, in words."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.run import words
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.bench.run.run_rounds import played, spec


@pytest.mark.parametrize(
    ("load", "expected"),
    [
        ({"model": "closed", "n": 4, "requests": 12}, "N=4"),
        ({"model": "open", "rate": 2.5, "share": None, "requests": 9}, "2.5 requests/s"),
        ({"model": "open", "rate": None, "share": 0.8, "requests": 9}, "80% of the knee"),
        ({"model": "series", "n": 1, "requests": 3}, "one after the other"),
    ],
)
def test_load(load: dict[str, Any], expected: str) -> None:
    assert words.load_words(load) == expected


def test_title() -> None:
    assert words.round_words(7, 42, spec()) == "round 7 of 42, short.en N=4 gateway"
    assert words.round_words(1, 42, spec(warmup=True)) == "round 1 of 42, short.en N=4 gateway (warm-up)"


@pytest.mark.parametrize(
    ("done", "failed", "tokens", "seconds", "expected"),
    [
        (9, 0, 41, 1.0, "9 of 12 requests, 0 failed, 41 tok/s so far, 1 s"),
        (0, 0, 0, 0.0, "0 of 12 requests, 0 failed, 0 s"),
        (3, 3, None, 4.0, "3 of 12 requests, 3 failed, 4 s"),
        (15, 1, 0, 4.0, "15 requests, 1 failed, 4 s"),
    ],
)
def test_under_way(done: int, failed: int, tokens: int | None, seconds: float, expected: str) -> None:
    assert words.under_way(spec(), done, failed, tokens, seconds) == expected


def test_ended() -> None:
    good = {**played(spec()), "requests": [1, 2], "invalid_reasons": []}
    assert words.ended(good) == "2 requests, 0 failed, 40.0 tok/s, first token 100 ms"
    bad = {**played(spec(), None, first=None, succeeded=0), "requests": [1, 2, 3], "invalid_reasons": ["Late."]}
    assert words.ended({**bad, "valid": False}) == "3 requests, 3 failed, connect: 3; not valid: Late."
    assert words.ended({**good, "skipped": "The ladder is at its end."}) == "skipped. The ladder is at its end."


def test_time_left_is_by_rounds_of_the_same_point_else_by_all() -> None:
    done = [played(spec(), seconds=10.0), played(spec(point="other"), seconds=30.0), played(spec(), skipped="no")]
    assert words.time_left([spec(), spec(point="new")], done) == 10.0 + 20.0
    assert words.time_left([], done) == 0
    assert words.time_left([spec()], []) is None


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (None, ""),
        (0.0, "about 5 s left"),
        (61.0, "about 60 s left"),
        (350.0, "about 6 min left"),
        (7200.0, "about 2.0 h left"),
    ],
)
def test_left(seconds: float | None, expected: str) -> None:
    assert words.left_words(seconds) == expected
