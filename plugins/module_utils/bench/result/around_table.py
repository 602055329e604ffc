# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The load that was reached, what the engines say themselves, and what the client cost: one line for each point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.measure import around
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result import headline
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result.headline import Cell, words
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result.numbers import NOT_KNOWN, figure, share

TITLE = "Engines and client"
HEAD = (
    "case",
    "target",
    "load",
    "at once (peak)",
    "engine's TTFT (ms)",
    "client \u2212 engine (ms)",
    "queue (ms)",
    "KV cache at most",
    "client CPU (s/1,000 tok)",
    "client lag p99 (ms)",
    "address",
)
_SILENT = "the engine's /metrics does not say it"
_OWN = "not measured by this client"


def rows(points: Sequence[Mapping[str, Any]]) -> list[tuple[Cell, ...]]:
    """Cells of each point, in the order of :data:`HEAD`; none when nothing of it is known of any point."""
    found = [around.figures(point) for point in points]
    if all(value is None for one in found for value in one.values()):
        return []
    return [_row(point, one, points) for point, one in zip(points, found, strict=True)]


def _row(
    point: Mapping[str, Any], found: Mapping[tuple[str, str], float | None], everything: Sequence[Mapping[str, Any]]
) -> tuple[Cell, ...]:
    mean, peak = found["concurrency", "mean"], found["concurrency", "peak"]
    usage = found["server_kv_usage", "max"]
    return (
        words(headline.case_of(point)),
        words(headline.target_of(point, everything)),
        Cell(headline.tagged_load(point)),
        Cell(figure(mean), "" if mean is None or peak is None else figure(peak), "" if mean is not None else _OWN),
        _cell(found["server_ttft_ms", "mean"], _SILENT),
        _cell(found["client_minus_server_ttft_ms", "mean"], "not known of both, or others used the engine"),
        _cell(found["server_queue_ms", "mean"], _SILENT),
        Cell(NOT_KNOWN, why=_SILENT) if usage is None else Cell(share(usage)),
        _cell(found["client_cpu_s_per_1000_tokens", "mean"], "nobody counted the tokens"),
        _cell(found["client_lag_ms", "p99"], _OWN),
        words(", ".join(around.addresses(point)) or NOT_KNOWN),
    )


def _cell(value: float | None, why: str) -> Cell:
    return Cell(NOT_KNOWN, why=why) if value is None else Cell(figure(value))
