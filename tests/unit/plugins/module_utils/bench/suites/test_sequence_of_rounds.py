# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rounds in their sequence: warm-up first, A B B A, ladders, open loads and soaks."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.faults import ConfigurationError
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.bench.suites.ordered import made, plan, suite

SHORT = {"cases": ["short"], "targets": "both"}


def rounds(*parts: dict[str, Any], raw: dict[str, Any] | None = None, **more: Any) -> list[dict[str, Any]]:
    return made(suite(*parts, **more), raw)["order"]["rounds"]


def test_b_row_19_the_first_round_of_each_point_warms_up_its_shape() -> None:
    found = rounds({**SHORT, "concurrency": [1, 8]}, rounds=2, min_s=5)
    first: dict[str, dict[str, Any]] = {}
    for one in found:
        first.setdefault(one["point"], one)
    assert len(first) == 4
    assert all(one["warmup"] and one["round"] == 0 for one in first.values())
    assert [one["warmup"] for one in found] == [True] * 4 + [False] * 8
    assert first["short-en/chat/gateway/n8"]["load"] == {"model": "closed", "n": 8, "requests": 8, "min_s": 0.0}


def test_targets_alternate_as_a_b_b_a() -> None:
    found = rounds(SHORT, rounds=4, pairs=True)
    measured = [(one["target"], one["block"]) for one in found if not one["warmup"]]
    a, b = ("gateway", "A"), ("main-0", "B")
    assert measured == [a, b, b, a, a, b, b, a]


def test_each_number_of_users_comes_once_before_any_comes_again() -> None:
    found = rounds({**SHORT, "concurrency": [1, 4], "targets": "direct"}, rounds=2)
    assert [(one["load"]["n"], one["round"]) for one in found] == [(1, 0), (4, 0), (1, 1), (4, 1), (1, 2), (4, 2)]


def test_a_closed_round_has_its_requests_and_its_time() -> None:
    found = rounds({**SHORT, "concurrency": [4]}, rounds=1, requests_per_user=3, min_s=10)
    assert found[-1]["load"] == {"model": "closed", "n": 4, "requests": 12, "min_s": 10.0}


def test_ids_sort_in_the_sequence_and_points_say_what_they_are() -> None:
    found = rounds({**SHORT, "endpoints": ["completions"], "stream": False, "tag": "hosts"}, rounds=1)
    assert [one["id"] for one in found] == ["0001", "0002", "0003", "0004"]
    assert {one["point"] for one in found} == {
        "short-en/completions/gateway/n1/whole/hosts",
        "short-en/completions/direct:main-0/n1/whole/hosts",
    }


def test_every_turn_of_a_conversation_is_a_request() -> None:
    found = rounds({"cases": ["talk-en"], "targets": "entry", "concurrency": [2]}, rounds=1, requests_per_user=3)
    assert [one["load"]["requests"] for one in found] == [8, 24]


def test_a_ladder_goes_up_by_doubling_and_once() -> None:
    found = rounds({**SHORT, "targets": "entry", "load": "ladder", "to": 20}, rounds=5)
    assert [(one["load"]["n"], one["warmup"]) for one in found] == [
        (1, True),  # nothing has warmed it up
        (1, False),
        (2, True),
        (2, False),
        (4, True),
        (4, False),
        (8, True),
        (8, False),
        (16, True),
        (16, False),
    ]
    waves = [(one["load"]["requests"], one["load"]["min_s"], one["round"]) for one in found if one["warmup"]]
    assert waves == [(1, 0.0, 0), (2, 0.0, 0), (4, 0.0, 0), (8, 0.0, 0), (16, 0.0, 0)]
    assert {one["ladder"] for one in found} == {"short-en/chat/gateway"}
    assert found[-1]["point"] == "short-en/chat/gateway/n16/ladder"


def test_a_ladder_after_its_points_warms_up_for_the_rest_and_ends_with_the_users_most() -> None:
    ladder = {**SHORT, "targets": "entry", "load": "ladder"}
    found = rounds({**SHORT, "targets": "entry"}, ladder, rounds=1, raw={"concurrency": "2,4"})
    steps = [(one["load"]["n"], one["warmup"]) for one in found if one["ladder"]]
    assert steps == [(1, True), (1, False), (2, False), (4, False)]


def test_a_conversation_warms_up_a_step_with_all_its_turns() -> None:
    found = rounds({"cases": ["talk-en"], "targets": "entry", "load": "ladder", "to": 2}, rounds=1)
    assert [one["load"]["requests"] for one in found if one["warmup"]] == [4, 8]


def test_open_loads_name_their_ladder() -> None:
    entry = {**SHORT, "targets": "entry"}
    opened = {**entry, "load": "open", "shares": [0.5, 0.8], "requests": 40, "rounds": 1}
    found = [one for one in rounds({**entry, "load": "ladder", "to": 2}, opened) if one["load"]["model"] == "open"]
    assert [(one["point"], one["load"], one["ladder"]) for one in found] == [
        (
            f"short-en/chat/gateway/open{share}",
            {"model": "open", "rate": None, "share": share, "requests": 40},
            "short-en/chat/gateway",
        )
        for share in (0.5, 0.8)
    ]


def test_a_share_of_no_knee_is_a_fault() -> None:
    with pytest.raises(ConfigurationError, match="which has no ladder"):
        rounds({**SHORT, "load": "open"})


def test_a_series_is_one_after_the_other() -> None:
    found = rounds({"cases": ["short"], "targets": "each-host", "load": "series", "requests": 9}, rounds=1)
    assert [(one["target"], one["load"]["requests"], one["warmup"]) for one in found] == [
        ("main-0", 3, True),
        ("main-1", 3, True),
        ("main-0", 9, False),
        ("main-1", 9, False),
    ]
    assert {one["load"]["model"] for one in found} == {"series"}


def test_a_soak_lasts_its_minutes() -> None:
    part = {**SHORT, "targets": "entry", "load": "soak", "concurrency": [8], "slice_s": 120}
    found = [one for one in rounds(part, raw={"soak_minutes": 61, "rounds": 2}) if not one["warmup"]]
    assert len(found) == 31
    assert {one["load"]["min_s"] for one in found} == {120.0}


def test_a_point_of_two_parts_is_measured_once() -> None:
    found = rounds(SHORT, {**SHORT, "targets": "entry"}, rounds=1)
    assert len([one for one in found if one["target"] == "gateway"]) == 2


def test_pairs_are_gateway_against_direct_and_host_against_host() -> None:
    parts = ({**SHORT}, {**SHORT, "targets": "each-host", "tag": "hosts"})
    assert made(suite(*parts, pairs=True))["order"]["pairs"] == [
        {"name": "gateway / main-0", "a": "gateway", "b": "main-0"},
        {"name": "main-0 / main-1", "a": "main-0", "b": "main-1"},
    ]
    assert made(suite(*parts))["order"]["pairs"] == []


def test_without_a_gateway_both_is_direct_alone() -> None:
    order = made(suite(SHORT, pairs=True), plan=plan(gateway_enabled=False))["order"]
    assert [target["name"] for target in order["targets"]] == ["main-0"]
    assert order["pairs"] == []


@pytest.mark.parametrize(
    ("raw", "points"),
    [
        ({"concurrency": "2"}, ["short-en/chat/gateway/n2", "short-en/chat/direct:main-0/n2"]),
        ({"endpoints": "responses"}, ["short-en/responses/gateway/n1", "short-en/responses/direct:main-0/n1"]),
        ({"targets": "main-1"}, ["short-en/chat/direct:main-1/n1"]),
        ({"targets": "main-1,gateway"}, ["short-en/chat/gateway/n1", "short-en/chat/direct:main-1/n1"]),
        ({"languages": "zh", "targets": "entry"}, ["short-zh/chat/gateway/n1"]),
        ({"cases": "long", "targets": "entry"}, ["long-en/chat/gateway/n1"]),
    ],
)
def test_the_user_has_the_last_word(raw: dict[str, Any], points: list[str]) -> None:
    assert list(dict.fromkeys(one["point"] for one in rounds(SHORT, raw=raw))) == points


def test_the_users_sizes() -> None:
    raw = {"rounds": 1, "requests_per_user": 7, "min_seconds": 0, "output_tokens": 16, "prompt_tokens": 32}
    order = made(suite(SHORT, min_s=10), raw)["order"]
    assert [one["load"] for one in order["rounds"]][-1] == {"model": "closed", "n": 1, "requests": 7, "min_s": 0.0}
    (case,) = order["cases"]
    assert (case["prompt_tokens"], case["output"]["tokens"]) == (32, 16)


def test_in_a_block_every_point_is_measured_once() -> None:
    found = rounds({**SHORT, "concurrency": [1, 4]}, raw={"block": "tp1", "rounds": 5})
    assert [one["round"] for one in found] == [0] * 4 + [1] * 4
