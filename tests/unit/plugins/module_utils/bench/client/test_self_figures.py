# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a self-test says, from stamps that are made up."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.self_figures import NOTHING, figures

USERS, TOKENS = 16, 33


def sent(ttft: float = 0.05, gap: float = 0.01, tokens: int = TOKENS) -> dict[int, dict[str, Any]]:
    """What a server sent, in seconds; each request came a second after the one before."""
    return {
        user: {"arrived": 7.0 + user, "sends": [7.0 + user + ttft + gap * number for number in range(tokens)]}
        for user in range(USERS)
    }


def records(ttft_ms: float = 50.0, gap_ms: float = 10.0, **more: Any) -> list[dict[str, Any]]:
    """What a client made of it."""
    one = {"ttft_ms": ttft_ms, "tpot_ms": gap_ms, "gaps_ms": [gap_ms] * (TOKENS - 1), "error": None}
    return [{"id": user, **one, "tokens": {"completion": TOKENS}, **more} for user in range(USERS)]


def test_a_client_that_is_right_is_off_by_nothing() -> None:
    assert figures(records(), sent(), records(), sent()) == {
        "tokens": USERS * TOKENS,
        "ttft_err_pct": 0.0,
        "itl_p99_err_pct": 0.0,
        "tpot_err_pct": 0.0,
        "threads_tpot_diff_pct": 0.0,
    }


def test_each_error_is_of_its_own_figure() -> None:
    found = figures(records(52.0, 10.1), sent(), records(90.0, 9.9), sent())
    assert (found["ttft_err_pct"], found["itl_p99_err_pct"], found["tpot_err_pct"]) == (4.0, 1.0, 1.0)
    assert found["threads_tpot_diff_pct"] == 2.02


def test_late_gaps_show_in_the_p99_alone() -> None:
    late = records()
    for one in late[:8]:
        one["gaps_ms"] = [15.0, 5.0, *one["gaps_ms"][2:]]
    found = figures(late, sent(), records(), sent())
    assert found["itl_p99_err_pct"] == 50.0
    assert (found["tpot_err_pct"], found["ttft_err_pct"]) == (0.0, 0.0)


def test_a_server_that_was_held_up_between_the_two_says_nothing_of_either() -> None:
    found = figures(records(50.0, 10.0), sent(), records(60.0, 20.0), sent(0.06, 0.02))
    assert found["threads_tpot_diff_pct"] == 0.0


@pytest.mark.parametrize(
    ("ours", "what_was_sent", "nothing"),
    [
        (records(ttft_ms=None), sent(), {"ttft_err_pct"}),  # type: ignore[arg-type]
        # A p99 of fewer than 500 gaps is none.
        (records()[:8], sent(), {"itl_p99_err_pct"}),
        (records(), {}, {"ttft_err_pct", "itl_p99_err_pct", "tpot_err_pct", "threads_tpot_diff_pct"}),
        (records(), sent(tokens=1), {"itl_p99_err_pct", "tpot_err_pct", "threads_tpot_diff_pct"}),
        ([], sent(), {"ttft_err_pct", "itl_p99_err_pct", "tpot_err_pct", "threads_tpot_diff_pct"}),
    ],
    ids=["no-ttft", "few-gaps", "nothing-sent", "one-token", "no-request"],
)
def test_what_there_is_not_is_null(ours: Any, what_was_sent: Any, nothing: set[str]) -> None:
    found = figures(ours, what_was_sent, records(), sent())
    assert {key for key, value in found.items() if value is None} == nothing


def test_a_request_that_failed_is_told_and_no_figure_is_made() -> None:
    failed = records()
    failed[3]["error"] = {"kind": "connect", "status": None, "message": "no connection"}
    assert figures(records(), sent(), failed, sent()) == {
        "error": "1 of 32 requests failed: connect (no connection)",
    }


def test_every_figure_has_its_place() -> None:
    assert set(figures(records(), sent(), records(), sent())) <= set(NOTHING)
    assert set(NOTHING.values()) == {None}
