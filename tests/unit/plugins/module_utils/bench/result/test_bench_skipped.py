# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What was not measured is said with its reason."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result import skipped


def left_out(users: int, why: str, kind: str) -> dict[str, Any]:
    load = {"model": "closed", "n": users}
    return {"case": "short", "target": "gateway", "load": load, "skipped": why, "skip_kind": kind}


@pytest.mark.parametrize(
    ("kind", "severity"),
    [("ladder", "info"), ("no_knee", "warning"), ("dead", "error"), ("refused", "error"), ("", "warning")],
)
def test_rounds_of_one_reason_are_one_finding(kind: str, severity: str) -> None:
    (finding,) = skipped.findings([left_out(users, "It is so.", kind) for users in (16, 16, 32)])
    assert finding["severity"] == severity
    assert finding["text"] == "short on gateway: not measured with load 16, 32 (3 rounds). It is so."


def test_what_was_measured_is_no_finding() -> None:
    assert skipped.findings([left_out(4, "", "")]) == []


def test_a_target_that_no_longer_answers_stops_the_pipeline_and_a_ladders_end_does_not() -> None:
    dead = left_out(4, "gateway answered no request of 3 rounds in a row.", "dead")
    assert skipped.failure([dead, left_out(8, "The end.", "ladder")]) == f"1 round not measured. {dead['skipped']}"
    assert skipped.failure([left_out(8, "The end.", "ladder")]) == ""
    assert (
        skipped.failure([dead], "go on with x") == f"1 round not measured. {dead['skipped']} Mend it, and go on with x"
    )
    assert skipped.failure([left_out(8, "The end.", "ladder")], "go on with x") == ""
