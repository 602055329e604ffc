# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What drifted in a soak: the first third of its slices beside the last one, for a report without pictures. Pure."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.judge.matching import tag_of
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result import headline
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result.headline import Cell, words
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result.numbers import NOT_KNOWN, figure

TITLE = "Drift"
HEAD = ("case", "target", "load", "metric", "slices", "first third", "last third", "change")
METRICS = (("output_tps", "tok/s all"), ("ttft_ms", "TTFT p50 (ms)"), ("tpot_ms", "TPOT (ms)"))
TAG = "soak"
# Fewer slices have no thirds.
FEWEST = 3

Result = Mapping[str, Any]


def rows(result: Result) -> list[tuple[Cell, ...]]:
    """Cells of each metric of each soak, in the order of :data:`HEAD`; none when there was no soak."""
    return [row for point in _soaks(result) for row in _of_point(point, result["points"])]


def line(result: Result) -> str:
    """What the table shows, or why there is none; empty when there was no soak."""
    if not _soaks(result):
        return ""
    if any(len(_known(point, metric)) >= FEWEST for point in _soaks(result) for metric, _name in METRICS):
        return "Medians of the slices of the first and of the last third, in the order in which they were measured."
    return f"Fewer than {FEWEST} slices were measured, so that no drift can be seen: raise benchmark_soak_minutes."


def _soaks(result: Result) -> list[Mapping[str, Any]]:
    return [point for point in result["points"] if TAG in tag_of(point).split()]


def _of_point(point: Mapping[str, Any], points: Sequence[Mapping[str, Any]]) -> Iterator[tuple[Cell, ...]]:
    for metric, name in METRICS:
        values = _known(point, metric)
        if len(values) < FEWEST:
            continue
        third = len(values) // 3
        first, last = statistics.median(values[:third]), statistics.median(values[-third:])
        yield (
            words(headline.case_of(point)),
            words(headline.target_of(point, points)),
            Cell(headline.load_of(point)),
            words(name),
            Cell(str(len(values))),
            Cell(figure(first)),
            Cell(figure(last)),
            Cell(f"{100 * (last / first - 1):+.1f} %") if first else Cell(NOT_KNOWN, why="the first third has 0"),
        )


def _known(point: Mapping[str, Any], metric: str) -> list[float]:
    """The figure of each slice that has one, in the order of time."""
    return [value for value in (point["stats"].get(metric) or {}).get("rounds") or [] if value is not None]
