# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the golden files of the benchmark's report anew: `python -m tools.bench_golden`.

Look at the difference before it is committed: the tests only say that nothing changed by accident.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.judge import comparison, decision, findings, pairs
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.measure.notes import findings_of_points
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.measure.points import points_of
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result import (
    assemble,
    csv_long,
    html,
    junit,
    markdown,
    schema,
    written,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.second import comparison as with_second
from tools.bench_example import CASES, DEPLOYMENTS, ENVS, SECOND, SELF_TEST, Example, baseline, layouts

FOLDER = Path("tests/fixtures/bench/report")
SCHEMA = Path("docs/spark_bench_1.schema.json")
VERSION = "0.1.0"


def found() -> assemble.Found:
    """What the example's run has found."""
    example = Example()
    order = example.order()
    # One round more was asked for than ended.
    order["rounds"].append({**order["rounds"][-1], "id": "9999"})
    points = points_of(example.rounds, order)
    snapshots = example.snapshots()
    measured = assemble.Found(
        order=order,
        rounds=example.rounds,
        points=points,
        envs=ENVS,
        deployments=DEPLOYMENTS,
        snapshots=snapshots,
        self_test=SELF_TEST,
    )
    result = assemble.result(measured, VERSION)
    judged = {
        "pairs": pairs.pairs_of(points, order),
        "findings": [*findings.findings_of(order, example.rounds, snapshots), *findings_of_points(points)],
        "second_source": with_second.compared(SECOND, points),
        "decision": decision.decide(*layouts(points), snapshots, CASES),
        "comparison": comparison.compare(result, baseline(result), allow_differences=["engine_version", "client"]),
    }
    return dataclasses.replace(measured, judged=judged)


def outputs(result: Mapping[str, Any]) -> dict[str, str]:
    """Each file that is made from a result."""
    return {
        "report.md": markdown.text(result),
        "report.csv": csv_long.text(result),
        "report.html": html.page(result, ()),
        "junit.xml": junit.text(result),
    }


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    result = assemble.result(found(), VERSION)
    (FOLDER / "result.json").write_text(written.text(result), "utf-8")
    for name, text in outputs(result).items():
        (FOLDER / name).write_text(text, "utf-8")
    SCHEMA.write_text(json.dumps(schema.schema(), indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
