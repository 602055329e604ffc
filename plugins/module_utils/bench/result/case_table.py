# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of one case: all that was measured of each of its points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result import headline
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result.headline import Cell
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result.numbers import NOT_KNOWN, figure, share

HEAD = (
    "target",
    "load",
    "succeeded",
    "rounds",
    "TTFT p50 (ms)",
    "TTFT p90",
    "TTFT p95",
    "TTFT p99",
    "TTFO p50 (ms)",
    "TPOT (ms)",
    "ITL p50 (ms)",
    "ITL p99",
    "stalls",
    "E2EL p50 (ms)",
    "tok/s per user",
    "tok/s all (95 % CI)",
    "spread of rounds",
    "tok/s all, steady",
    "requests/s",
    "goodput/s",
    "prefill tok/s",
    "tokens in",
    "tokens out",
    "tokens per event",
    "preempted",
    "drafts accepted",
    "client lag p99 (ms)",
    "valid",
)


def rows(points: Sequence[Mapping[str, Any]], everything: Sequence[Mapping[str, Any]]) -> list[tuple[Cell, ...]]:
    """Cells of the points of a case, in the order of :data:`HEAD`.

    :param everything: the points of the run
    """
    return [_row(point, everything) for point in points]


def names(points: Sequence[Mapping[str, Any]]) -> list[str]:
    """The cases, each once, as they were measured."""
    return list(dict.fromkeys(headline.case_of(point) for point in points))


def measured(point: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The rounds that count: neither the warm-up nor one that a ladder left out."""
    return [one for one in point["rounds"] if not one.get("warmup") and not one.get("skipped")]


def _row(point: Mapping[str, Any], everything: Sequence[Mapping[str, Any]]) -> tuple[Cell, ...]:
    part, median, scalar = headline.part, headline.median, headline.scalar
    return (
        headline.words(headline.target_of(point, everything)),
        Cell(headline.tagged_load(point)),
        part(point, "e2el_ms", "n"),
        Cell(str(len(measured(point)))),
        *(part(point, "ttft_ms", name) for name in ("p50", "p90", "p95", "p99")),
        part(point, "ttfo_ms", "p50"),
        median(point, "tpot_ms"),
        part(point, "itl_ms", "p50"),
        part(point, "itl_ms", "p99"),
        scalar(point, "stall_share", share),
        part(point, "e2el_ms", "p50"),
        median(point, "decode_tps"),
        median(point, "output_tps", with_interval=True),
        _spread(point),
        scalar(point, "output_tps_steady"),
        scalar(point, "request_rate"),
        scalar(point, "goodput_rate"),
        scalar(point, "prefill_tps"),
        part(point, "prompt_tokens", "mean"),
        part(point, "completion_tokens", "mean"),
        part(point, "tokens_per_chunk", "mean"),
        _preempted(point),
        _accepted(point),
        _lag(point),
        headline.validity(point),
    )


def _spread(point: Mapping[str, Any]) -> Cell:
    value = (point["stats"].get("output_tps") or {}).get("cv")
    return Cell(NOT_KNOWN, why="one round has no spread") if value is None else Cell(share(value))


def _server(point: Mapping[str, Any], key: str) -> float | None:
    """The sum over the rounds; None where an engine did not say it of a round."""
    values = [(one.get("server") or {}).get(key) for one in measured(point)]
    known = [value for value in values if value is not None]
    return sum(known) if known and len(known) == len(values) else None


def _preempted(point: Mapping[str, Any]) -> Cell:
    value = _server(point, "preemptions")
    return Cell(NOT_KNOWN, why="the engine's /metrics does not say") if value is None else Cell(figure(value))


def _accepted(point: Mapping[str, Any]) -> Cell:
    drafted, accepted = _server(point, "spec_drafted"), _server(point, "spec_accepted")
    if not drafted or accepted is None:
        return Cell(NOT_KNOWN, why="no speculative decoding, or /metrics does not say")
    return Cell(share(accepted / drafted))


def _lag(point: Mapping[str, Any]) -> Cell:
    lags = [((one.get("client") or {}).get("lag_ms") or {}).get("p99") for one in measured(point)]
    known = [lag for lag in lags if lag is not None]
    return Cell(figure(max(known))) if known else Cell(NOT_KNOWN, why="the client did not say")
