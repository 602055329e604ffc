# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests of clocks that differ between the client and the hosts."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.judge import clocks
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.judge.findings import findings_of
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.bench.judge import watched_run

NOW = 1_700_000_000.0


def clock(offset_s: float, error_s: float = 0.05) -> dict[str, float]:
    return {"offset_s": offset_s, "error_s": error_s}


def test_the_quickest_question_counts_and_the_middle_of_it() -> None:
    asked = [(NOW, f"{NOW + 95:.9f}", NOW + 2), (NOW + 3, f"{NOW + 93.1:.9f}", NOW + 3.2)]
    assert clocks.offset(asked) == {"offset_s": 90.0, "error_s": 0.1}


@pytest.mark.parametrize("said", ["", "1700000000.N", "Mon Nov 30", "1700000000", "sh: date: not found"])
def test_an_answer_that_is_no_time(said: str) -> None:
    assert clocks.offset([(NOW, said, NOW + 0.1)]) is None
    assert clocks.offset([(NOW, said, NOW + 0.1), (NOW + 1, f"{NOW + 1.05}", NOW + 1.1)]) == clock(0.0)


def test_a_controller_whose_clock_was_set_back_meanwhile_has_no_middle() -> None:
    assert clocks.offset([(NOW, f"{NOW}", NOW - 5)]) is None


def offsets(of_host: Any, of_client: Any, client: str = "spark2") -> tuple[float | None, float]:
    """What one sample has of a host with such a clock."""
    known = {"spark1": of_host, "spark2": of_client}
    given = {host: one for host, one in known.items() if one}
    seen = clocks.aligned({"spark1": {"samples": [{"t": NOW}], "errors": ["x"]}}, given, client)["spark1"]
    assert seen["errors"] == ["x"]
    return seen["clock_offset_s"], round(seen["samples"][0]["t"] - NOW, 3)


@pytest.mark.parametrize(
    ("host", "client", "found"),
    [
        (clock(90.0), clock(0.25), (89.75, -89.75)),
        (clock(-5.0), clock(0.0), (-5.0, 5.0)),
        # Both are off by the same: the controller is wrong, and it does not matter.
        (clock(-300.0), clock(-300.02), (0.0, 0.0)),
        # What is within a second shifts nothing.
        (clock(0.9), clock(0.0), (0.9, 0.0)),
        # Nor what a slow connection may have made.
        (clock(3.0, 2.0), clock(0.0, 2.0), (0.0, 0.0)),
        (None, clock(0.0), (None, 0.0)),
        (clock(90.0), None, (None, 0.0)),
    ],
)
def test_samples_are_moved_by_what_is_known_to_be_off(
    host: Any, client: Any, found: tuple[float | None, float]
) -> None:
    assert offsets(host, client) == found


def test_the_client_may_be_the_controller_or_the_host_itself() -> None:
    assert offsets(clock(90.0), None, "localhost") == (90.0, -90.0)
    assert offsets(clock(90.0), None, "spark1") == (0.0, 0.0)
    assert offsets(clock(90.0), None, "") == (None, 0.0)


@pytest.mark.parametrize(("ahead", "code"), [(95.0, "host_not_seen"), (-90.0, "host_not_seen"), (-4.0, "memory_short")])
def test_a_run_whose_hosts_have_another_time_is_judged_as_if_they_had_not(ahead: float, code: str) -> None:
    seen = watched_run.snapshots()
    for sample in (one for host in watched_run.HOSTS for one in seen[host]["samples"]):
        if sample["t"] > watched_run.BEGAN + watched_run.SECONDS + 1:
            # After the last round, when it does not matter any more.
            sample["mem"]["available"] = watched_run.GIB
        sample["t"] += ahead
    order, rounds = watched_run.order(), watched_run.rounds()
    unknown = findings_of(order, rounds, clocks.aligned(seen, {}, "localhost"))
    assert code in {one["code"] for one in unknown}
    known = {host: clock(ahead) for host in watched_run.HOSTS}
    assert findings_of(order, rounds, clocks.aligned(seen, known, "localhost")) == []


@pytest.mark.parametrize(
    ("ahead", "client", "text"),
    [
        (
            90.04,
            "spark1",
            (
                "spark2: found a clock 90.0 s ahead of that of the client spark1, wanted the same time on both to 1 s. "
                "Its samples were moved by that; set up time synchronisation on both (timedatectl set-ntp true)."
            ),
        ),
        (-2.5, "", "spark2: found a clock 2.5 s behind that of the client, wanted the same time on both to 1 s. "),
    ],
)
def test_a_clock_that_is_off_is_said(ahead: float, client: str, text: str) -> None:
    (found,) = clocks.findings({"spark2": {"clock_offset_s": ahead}, "spark1": {}}, client)
    assert (found["code"], found["severity"], found["text"][: len(text)]) == ("clock_skew", "warning", text)


@pytest.mark.parametrize("ahead", [None, 0.0, 1.0, -0.9])
def test_a_clock_that_is_right_or_not_known_is_not(ahead: float | None) -> None:
    assert clocks.findings({"spark2": {"clock_offset_s": ahead}}, "spark1") == []


def test_of_parts_of_a_run_the_farthest() -> None:
    assert clocks.farthest([{}, {"clock_offset_s": None}, {"clock_offset_s": -9.0}, {"clock_offset_s": 2.0}]) == -9.0
    assert clocks.farthest([{}]) is None
