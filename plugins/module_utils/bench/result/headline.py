# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table that a reader sees first: one line for each point, the same in Markdown and in the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.judge.matching import tag_of
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result.numbers import (
    NOT_KNOWN,
    figure,
    interval,
    share,
)


@dataclass(frozen=True)
class Cell:
    """What stands in a table.

    :ivar text: the figure
    :ivar more: its confidence interval, or nothing
    :ivar why: why there is no figure
    :ivar is_number: it is aligned to the right
    """

    text: str
    more: str = ""
    why: str = ""
    is_number: bool = True


HEAD = (
    "case",
    "target",
    "load",
    "TTFT p50 (ms)",
    "TTFT p95 (ms)",
    "TPOT (ms)",
    "tok/s per user",
    "tok/s all (95 % CI)",
    "failed",
    "cache hits",
    "valid",
)


def rows(points: Sequence[Mapping[str, Any]]) -> list[tuple[Cell, ...]]:
    """Cells of each point, in the order of :data:`HEAD`."""
    return [
        (
            words(case_of(point)),
            words(target_of(point, points)),
            Cell(tagged_load(point)),
            part(point, "ttft_ms", "p50"),
            part(point, "ttft_ms", "p95"),
            median(point, "tpot_ms"),
            median(point, "decode_tps"),
            median(point, "output_tps", with_interval=True),
            failed(point),
            scalar(point, "cache_hit_rate", share),
            validity(point),
        )
        for point in points
    ]


def words(text: str) -> Cell:
    """A cell that is no figure."""
    return Cell(text, is_number=False)


def case_of(point: Mapping[str, Any]) -> str:
    """The case, with what is unusual about how it was asked."""
    unusual = [] if point.get("endpoint") in ("chat", None) else [str(point["endpoint"])]
    unusual += [] if point.get("stream", True) else ["not streamed"]
    return " ".join([str(point["case"]), *(f"({word})" for word in unusual)])


def target_of(point: Mapping[str, Any], points: Sequence[Mapping[str, Any]]) -> str:
    """The target, with its deployment where the report has several."""
    several = len({one.get("deployment") for one in points}) > 1
    target = str(point["target"])
    named = target.startswith(f"{point['deployment']}: ")  # as those of blocks are
    return f"{target} of {point['deployment']}" if several and not named else target


def of_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of a comparison or of a pair as far as it is its point: what :func:`tagged_load` takes."""
    return {**row, "id": row["point"]}


def load_of(point: Mapping[str, Any]) -> str:
    """``8`` users, ``2.5/s`` requests, or ``1 in series``."""
    load = point["load"]
    if load["model"] == "open":
        rate = load.get("rate")
        return f"{figure(rate)}/s" if rate is not None else f"{share(load.get('share'))} of the knee"
    return f"{load['n']} in series" if load["model"] == "series" else str(load["n"])


def tagged_load(point: Mapping[str, Any]) -> str:
    """The load, and what the point is part of: ``4 (ladder)``."""
    tag = tag_of(point)
    # That it was not streamed stands with the case, and that requests came at random with the load.
    told = not point.get("stream", True) or point["load"]["model"] != "closed"
    return f"{load_of(point)} ({tag})" if tag and not told else load_of(point)


def part(point: Mapping[str, Any], metric: str, name: str) -> Cell:
    """A percentile or the mean of a metric over the requests of all measured rounds."""
    found = point["summary"].get(metric) or {}
    return _cell(found.get(name), found.get("null_reason", ""))


def median(point: Mapping[str, Any], metric: str, with_interval: bool = False) -> Cell:
    """The median over rounds."""
    found = point["stats"].get(metric) or {}
    reason = (point["summary"].get(metric) or {}).get("null_reason", "")
    cell = _cell(found.get("median"), reason)
    return Cell(cell.text, interval(found.get("ci95")), cell.why) if with_interval else cell


def scalar(point: Mapping[str, Any], metric: str, shown: Any = figure) -> Cell:
    """One of the metrics that are one number for a point."""
    found = point["summary"].get(metric) or {}
    return _cell(found.get("value"), found.get("null_reason", ""), shown)


def failed(point: Mapping[str, Any]) -> Cell:
    """How many requests failed, and their share."""
    count = sum(point["errors"].values())
    rate = (point["summary"].get("error_rate") or {}).get("value")
    kinds = ", ".join(f"{kind} {number}" for kind, number in sorted(point["errors"].items()))
    return Cell(str(count), share(rate) if count and rate is not None else "", kinds)


def validity(point: Mapping[str, Any]) -> Cell:
    """``yes``, or ``NO`` with the reasons beside it."""
    if point["valid"]:
        return words("yes")
    return Cell("NO", why=" ".join(point["invalid_reasons"]), is_number=False)


def _cell(value: Any, reason: Any, shown: Any = figure) -> Cell:
    if value is None:
        return Cell(NOT_KNOWN, why=str(reason or "not measured"))
    return Cell(shown(value))
