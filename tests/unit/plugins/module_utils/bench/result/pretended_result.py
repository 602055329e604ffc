# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The example of tests/fixtures/bench/report, and results without a figure in them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[5] / "fixtures" / "bench" / "report"


def golden(name: str) -> str:
    return (FOLDER / name).read_text("utf-8")


def example() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(golden("result.json"))
    return found


def point(found: dict[str, Any], number: int) -> dict[str, Any]:
    one: dict[str, Any] = found["points"][number]
    return one


def all_failed() -> dict[str, Any]:
    """Every request of every point failed: nothing is known but the failures (field fault B08)."""
    found = example()
    for one in found["points"]:
        for metric, summary in one["summary"].items():
            part = "value" if "value" in summary else None
            one["summary"][metric] = {
                **dict.fromkeys(summary, None),
                **({} if part else {"n": 0}),
                "null_reason": "no request succeeded",
            }
        one["summary"]["error_rate"] = {"value": 1.0, "null_reason": ""}
        for metric in one["stats"]:
            one["stats"][metric] = {**dict.fromkeys(one["stats"][metric], None), "rounds": [None, None, None]}
        one["errors"] = {"empty_output": 24}
        one["error_samples"] = [{"kind": "empty_output", "message": "HTTP 200 without a token", "ids": [1, 2]}]
    return found


def nothing_measured() -> dict[str, Any]:
    empty: dict[str, Any] = {"points": [], "pairs": [], "findings": [], "snapshots": {}, "hosts": {}, "deployments": []}
    return {**example(), **empty, "decision": None, "comparison": None}


def nothing_known() -> dict[str, Any]:
    """A result that another tool's file gave: no host, no server's counters, no client's lag, no interval."""
    found = {**example(), "snapshots": {}, "hosts": {}, "deployments": [{"id": "main"}], "decision": None}
    found["tool"]["self_test"] = None
    found["run"].update(started=None, ended=None, seed=None)
    for one in found["points"]:
        one["rounds"] = [{"id": "1", "valid": True}]
        for stats in one["stats"].values():
            stats.update(ci95=None, cv=None)
    return found
