# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A result as CSV in long form: one figure a line, for spreadsheets and data frames."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.measure import around
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result import schema

HEAD = (
    "run",
    "case",
    "target",
    "n",
    "metric",
    "stat",
    "value",
    "unit",
    "point",
    "deployment",
    "endpoint",
    "load",
    "valid",
)


def text(result: Mapping[str, Any]) -> str:
    """The file; a figure that is not known has no line."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(HEAD)
    for point in result["points"]:
        load = point["load"]
        end = (point["id"], point["deployment"], point["endpoint"], load["model"], str(point["valid"]).lower())
        begin = (result["run"]["id"], point["case"], point["target"], _shown(load.get("n")))
        for metric, stat, value, unit in _figures(point):
            if value is not None:
                writer.writerow([*begin, metric, stat, _shown(value), unit, *end])
    return stream.getvalue()


def unit_of(metric: str) -> str:
    """What a metric is counted in, by its name."""
    if metric.endswith("_ms"):
        return "ms"
    if metric.endswith("_tps") or metric == "output_tps_steady":
        return "tokens/s"
    if metric in ("request_rate", "goodput_rate"):
        return "requests/s"
    if metric in ("prompt_tokens", "completion_tokens"):
        return "tokens"
    return "tokens/chunk" if metric == "tokens_per_chunk" else "1"


def _figures(point: Mapping[str, Any]) -> Iterator[tuple[str, str, Any, str]]:
    for metric in schema.DISTRIBUTIONS:
        found = point["summary"].get(metric)
        for stat in schema.DISTRIBUTION_PARTS if found else ():
            yield metric, stat, found.get(stat), _counted(metric) if stat == "n" else unit_of(metric)
    for metric in schema.SCALARS:
        if metric in point["summary"]:
            yield metric, "value", point["summary"][metric]["value"], unit_of(metric)
    for metric, found in sorted(point["stats"].items()):
        unit = unit_of(metric)
        for stat in schema.STATISTIC_PARTS:
            yield metric, f"rounds_{stat}", found.get(stat), "1" if stat == "cv" else unit
        low, high = found.get("ci95") or (None, None)
        yield metric, "rounds_ci95_lo", low, unit
        yield metric, "rounds_ci95_hi", high, unit
        for number, value in enumerate(found.get("rounds") or [], 1):
            yield metric, f"round_{number}", value, unit
    known = around.figures(point)
    for metric, unit, stat in around.FIGURES:
        yield metric, stat, known[metric, stat], unit
    for kind, count in sorted(point["errors"].items()):
        yield "errors", kind, count, "requests"


def _counted(metric: str) -> str:
    """What a metric has one value of: the gaps of all requests are taken together."""
    return "gaps" if metric == "itl_ms" else "requests"


def _shown(value: Any) -> str:
    if value is None:
        return ""
    return str(round(value, 6)) if isinstance(value, float) else str(value)
