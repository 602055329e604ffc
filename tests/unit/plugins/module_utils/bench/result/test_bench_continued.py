# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The samples of a run that was interrupted and went on."""

from __future__ import annotations

from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result import split


def samples(*times: float) -> list[dict[str, Any]]:
    return [{"t": time} for time in times]


BEFORE = {
    "before": {"t": 1.0},
    "during": samples(2.0, 3.0),
    "after": {"t": 4.0},
    "interval_s": 1.0,
    "cost": {"cpu_s": 0.5, "seconds": 60.0},
    "errors": ["old", "both"],
}
NOW = {
    "host": "spark1",
    "interval_s": 1.0,
    "samples": samples(100.0, 101.0),
    "cost": {"cpu_s": 0.25, "seconds": 30.0},
    "errors": ["both", "new"],
}


def times(found: dict[str, Any]) -> list[float]:
    return [sample["t"] for sample in found["samples"]]


def test_the_first_part_stands_before_the_second_one() -> None:
    found = split.continued(BEFORE, NOW)
    assert times(found) == [1.0, 2.0, 3.0, 4.0, 100.0, 101.0]
    assert found["cost"] == {"cpu_s": 0.75, "seconds": 90.0}
    assert found["errors"] == ["old", "both", "new"]
    assert split.snapshots(found, (2.0, 100.5))["during"] == samples(2.0, 3.0, 4.0, 100.0)


def test_a_report_that_is_made_again_has_each_sample_once() -> None:
    kept = split.snapshots(NOW, (100.5, 200.0))
    found = split.continued(kept, NOW)
    assert times(found) == [100.0, 101.0]
    assert found["cost"] == NOW["cost"]


def test_a_part_that_nobody_watched_leaves_the_other_one() -> None:
    assert NOW.items() <= split.continued(None, NOW).items()
    kept = split.continued(BEFORE, None)
    assert times(kept) == [1.0, 2.0, 3.0, 4.0]
    assert (kept["cost"], kept["interval_s"]) == (BEFORE["cost"], 1.0)
    assert times(split.continued({"before": None, "during": [], "after": None}, None)) == []


def test_a_cost_that_one_part_did_not_say_is_that_of_the_other() -> None:
    assert split.continued({**BEFORE, "cost": None}, NOW)["cost"] == NOW["cost"]
    assert split.continued(BEFORE, {**NOW, "cost": {"cpu_s": None, "seconds": 3.0}})["cost"] == BEFORE["cost"]
    assert split.continued({**BEFORE, "cost": None}, {**NOW, "cost": None})["cost"] is None
