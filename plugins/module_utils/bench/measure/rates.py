# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rates: how much came in how much time. Null where there is no time, no success or no count (field fault B08)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.measure import requests
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.measure.percentiles import scalar
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.measure.requests import Record

NONE_SUCCEEDED = "no request succeeded"
NOT_COUNTED = "the server did not say how many tokens it sent"
NO_TIME = "no time passed between the first request and the last token"


@dataclass(frozen=True)
class Part:
    """One round, or one of several that are read together; times are from its own start.

    :ivar records: its measured requests
    :ivar good: those of them that succeeded
    :ivar all_good: also successes outside of the measurement, whose tokens the server sent all the same
    :ivar steady: ``t0`` and ``t1`` of the time in which the load was as wanted; None without one
    :ivar server: counters of the engines over the round; None when they were not read
    :ivar taken: requests that the server took, whatever became of them and whether they are measured or not
    :ivar case: what was asked for; None when not known
    """

    spec: Mapping[str, Any]
    records: Sequence[Record]
    good: Sequence[Record]
    all_good: Sequence[Record]
    steady: Mapping[str, float] | None
    server: Mapping[str, Any] | None
    taken: int
    case: Mapping[str, Any] | None = None


def part(
    spec: Mapping[str, Any],
    records: Sequence[Record],
    steady: Mapping[str, float] | None,
    server: Mapping[str, Any] | None,
    case: Mapping[str, Any] | None = None,
) -> Part:
    """Sort the requests of a round."""
    counted = requests.measured(records)
    good = [record for record in counted if requests.succeeded(record)]
    all_good = [record for record in records if requests.succeeded(record)]
    taken = sum(record.get("status") == 200 for record in records)
    return Part(spec, counted, good, all_good, steady, server, taken, case)


def seconds(parts: Sequence[Part]) -> float | None:
    """From the first request written to the last token, of each round; of a dead round to its last failure."""
    spans = []
    for one in parts:
        if one.records:
            end = max(map(requests.ended, one.good)) if one.good else max(record["t_end"] for record in one.records)
            spans.append(end - min(record["t_write"] for record in one.records))
    total = math.fsum(spans)
    return total if total > 0 else None


def rates(parts: Sequence[Part]) -> dict[str, Any]:
    """Tokens and requests per second."""
    good = [record for one in parts for record in one.good]
    elapsed = seconds(parts)
    out = _total(good, "completion")
    into = _total(good, "prompt")
    whole = None if out is None or into is None else out + into
    tokens_reason = _why(good, elapsed, NOT_COUNTED)
    return {
        "output_tps": scalar(_per(out, elapsed), tokens_reason),
        "output_tps_steady": _steady(parts),
        "total_tps": scalar(_per(whole, elapsed), tokens_reason),
        "request_rate": scalar(_per(float(len(good)) if good else None, elapsed), _why(good, elapsed, "")),
    }


def _total(records: Sequence[Record], which: str) -> float | None:
    """Their tokens; None when there is no request or one of them has no count, as the rest would be too few."""
    counts = [record["tokens"][which] for record in records]
    return None if not counts or None in counts else float(sum(counts))


def _per(amount: float | None, elapsed: float | None) -> float | None:
    return None if amount is None or not elapsed else amount / elapsed


def _why(good: Sequence[Record], elapsed: float | None, otherwise: str) -> str:
    if not good:
        return NONE_SUCCEEDED
    return NO_TIME if elapsed is None else otherwise


def _steady(parts: Sequence[Part]) -> dict[str, Any]:
    tokens, time = [], []
    for one in parts:
        if one.steady is None or not one.good:
            continue
        start, end = one.steady["t0"], one.steady["t1"]
        tokens += [requests.tokens_within(record, start, end) for record in one.all_good]
        time.append(end - start)
    elapsed = math.fsum(time)
    if not tokens:
        anyone = any(one.good for one in parts)
        return scalar(None, "the load was never steady" if anyone else NONE_SUCCEEDED)
    counted = [count for count in tokens if count is not None]
    if len(counted) < len(tokens) or elapsed <= 0:
        return scalar(None, NOT_COUNTED if elapsed > 0 else "the load was never steady")
    return scalar(math.fsum(counted) / elapsed, "")
