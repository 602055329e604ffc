# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The first third of a soak beside the last one."""

from __future__ import annotations

from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result import drift, html, markdown
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.bench.judge.bench_points import (
    point,
    result,
)

SOAK = "short-en/chat/gateway/n8/soak"


def soak(values: list[float | None], **more: Any) -> dict[str, Any]:
    stats = {"output_tps": values, "ttft_ms": [400.0] * len(values), "tpot_ms": [None] * len(values)}
    return result(point("gateway", 8, stats=stats, id=SOAK), point("gateway", 8), **more)


def cells(found: dict[str, Any]) -> list[list[str]]:
    return [[cell.text for cell in row] for row in drift.rows(found)]


def test_the_thirds_are_medians_in_the_order_of_time() -> None:
    found = soak([200.0, 100.0, 202.0, 150.0, 150.0, 160.0, None, 180.0, 181.0, 90.0])
    assert cells(found) == [
        ["short-en", "gateway", "8", "tok/s all", "9", "200", "180", "-10.0 %"],
        ["short-en", "gateway", "8", "TTFT p50 (ms)", "10", "400", "400", "+0.0 %"],
    ]
    line = "Medians of the slices of the first and of the last third, in the order in which they were measured."
    assert drift.line(found) == line
    assert f"## Drift\n\n{line}\n\n| case |" in markdown.text(found)
    page = html.page(found, ())
    assert '<section id="drift">' in page
    assert '<td class="number">-10.0 %</td>' in page


def test_two_slices_have_no_thirds() -> None:
    found = soak([200.0, 100.0])
    assert cells(found) == []
    assert "Fewer than 3 slices were measured" in markdown.text(found)
    assert "raise benchmark_soak_minutes" in html.page(found, ())


def test_a_run_without_a_soak_says_nothing_of_drift() -> None:
    found = result(point("gateway", 8))
    assert (drift.rows(found), drift.line(found)) == ([], "")
    assert "Drift" not in markdown.text(found) + html.page(found, ())


def test_a_first_third_of_nothing_has_no_ratio() -> None:
    assert cells(soak([0.0, 1.0, 2.0]))[0][-3:] == ["0", "2.00", "n/a"]
