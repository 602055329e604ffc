# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When the client's self-test is a warning, and in which words."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.judge.findings_client import of_self_test

GOOD: dict[str, Any] = {
    "host": "spark1",
    "ttft_err_pct": 2.9,
    "itl_p99_err_pct": 4.9,
    "tpot_err_pct": 0.1,
    "threads_tpot_diff_pct": 1.9,
    "error": None,
}


@pytest.mark.parametrize(
    "found",
    [
        None,
        {},
        GOOD,
        {**GOOD, "ttft_err_pct": -3.0, "itl_p99_err_pct": 5.0, "threads_tpot_diff_pct": -2.0},
        {**GOOD, "ttft_err_pct": None, "itl_p99_err_pct": None, "threads_tpot_diff_pct": None},
    ],
)
def test_a_client_that_is_good_enough_is_not_named(found: Any) -> None:
    assert of_self_test(found) == []


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("ttft_err_pct", 3.1, "TTFT +3.1 %"),
        ("itl_p99_err_pct", -5.2, "p99 of the gaps -5.2 %"),
        ("threads_tpot_diff_pct", 2.4, "TPOT +2.4 % from that of a second transport"),
    ],
)
def test_a_client_that_is_off_is_a_warning(key: str, value: float, words: str) -> None:
    assert of_self_test({**GOOD, key: value}) == [
        {
            "code": "client_self_test",
            "severity": "warning",
            "text": (
                f"Client on spark1: found {words} off in its self-test against a server of known truth, wanted at most "
                "3 % for TTFT, 5 % for the gaps and 2 % between transports. Take the figures for no better than that; "
                "give the client's host less to do meanwhile, or choose another one with benchmark_client."
            ),
        }
    ]


def test_all_that_is_off_is_one_warning() -> None:
    [one] = of_self_test({**GOOD, "ttft_err_pct": 8.0, "itl_p99_err_pct": 40.0})
    assert "found TTFT +8.0 %, p99 of the gaps +40.0 % off in" in one["text"]


def test_a_self_test_that_could_not_be_made_is_a_warning() -> None:
    [one] = of_self_test({"host": "spark1", "error": "OSError: [Errno 24] Too many open files"})
    assert (one["code"], one["severity"]) == ("client_self_test", "warning")
    assert one["text"] == (
        "Client on spark1: found that its self-test could not be made (OSError: [Errno 24] Too many open files), "
        "wanted one before the first round. Measure again, and look at how busy that host is if it stays so."
    )
