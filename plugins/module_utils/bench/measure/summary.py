# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From requests to the summary of a round, or of several rounds together.

Failures are counted and never timed. Tokens are those that the server counted. What is not known is null, with its
reason beside it.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.measure import (
    outcome,
    prefix_cache,
    rates,
    requests,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.measure.percentiles import (
    distribution,
    percentile,
    scalar,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.measure.rates import Part, part
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.measure.requests import Record
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.measure.validity import most_cached

TIMES = ("ttft_ms", "ttfo_ms", "ttfr_ms", "tpot_ms", "e2el_ms", "close_ms", "connect_ms")
# A gap this many times the median is a stall; one below a millisecond is no time that an engine needs for a token.
STALL = 5
MERGED_MS = 1.0
# A prompt of which more than this share was cached was not read anew.
MOST_CACHED = 0.01


def round_summary(
    spec: Mapping[str, Any],
    records: Sequence[Record],
    steady: Mapping[str, float] | None,
    goodput: Mapping[str, float | None] | None,
    server: Mapping[str, Any] | None = None,
    case: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """``summary``, ``errors`` and ``error_samples`` of one round.

    :param spec: the round as it was ordered
    :param records: its requests, those also that are not ``measured``
    :param steady: ``t0`` and ``t1``, seconds from the round's start; None without a steady time
    :param goodput: limits in milliseconds, None where there is none
    :param server: what the engines counted in the meantime; None when not known
    :param case: what was asked for, which tells whether its prompts may be cached; None when not known
    """
    return summarised([part(spec, records, steady, server, case)], goodput)


def summarised(parts: Sequence[Part], goodput: Mapping[str, float | None] | None) -> dict[str, Any]:
    """The same of several rounds of one point, their requests pooled."""
    records = [record for one in parts for record in one.records]
    good = [record for one in parts for record in one.good]
    errors, samples = outcome.failures(records)
    summary = {
        **_distributions(parts, good),
        **rates.rates(parts),
        **outcome.goodput(parts, goodput),
        "prefill_tps": _prefill(parts, good),
        "error_rate": scalar(1 - len(good) / len(records) if records else None, "no request was measured"),
        **_gap_shares(good),
        "cache_hit_rate": prefix_cache.hit_rate(parts),
        "dispatch_lag_p99_ms": _dispatch_lag(records),
    }
    return {"summary": summary, "errors": errors, "error_samples": samples}


def _distributions(parts: Sequence[Part], good: Sequence[Record]) -> dict[str, Any]:
    streamed = any(one.spec["stream"] for one in parts)
    why = "no request has it" if streamed else "the answers were not streamed"
    why = why if good else rates.NONE_SUCCEEDED
    found = {metric: [requests.time_ms(record, metric) for record in good] for metric in TIMES}
    tpot = _known(found["tpot_ms"])
    found["itl_ms"] = [gap for record in good for gap in record["gaps_ms"]]
    found["decode_tps"] = [1000 / value for value in tpot if value > 0]
    found["prompt_tokens"] = [record["tokens"]["prompt"] for record in good]
    found["completion_tokens"] = [record["tokens"]["completion"] for record in good]
    found["tokens_per_chunk"] = [requests.per_chunk(record) for record in good] if streamed else []
    summary = {metric: distribution(_known(values), why) for metric, values in found.items()}
    if any(record["t_sched"] is not None for record in good):
        for metric in requests.FROM_THE_SEND:
            summary[metric]["since"] = "schedule"
    return summary


def _known(values: Sequence[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _gap_shares(good: Sequence[Record]) -> dict[str, Any]:
    gaps = [gap for record in good for gap in record["gaps_ms"]]
    if not gaps:
        why = "no answer came in two pieces or more" if good else rates.NONE_SUCCEEDED
        return {"stall_share": scalar(None, why), "merged_share": scalar(None, why)}
    stalled = STALL * statistics.median(gaps)
    return {
        "stall_share": scalar(sum(gap > stalled for gap in gaps) / len(gaps), ""),
        "merged_share": scalar(sum(gap < MERGED_MS for gap in gaps) / len(gaps), ""),
    }


def _prefill(parts: Sequence[Part], good: Sequence[Record]) -> dict[str, Any]:
    """Only where one request has the engine for itself and its prompt is read anew, all of it."""
    if not good:
        return scalar(None, rates.NONE_SUCCEEDED)
    if any(one.spec["load"].get("n") != 1 for one in parts):
        return scalar(None, "more than one request at a time shares the engine")
    hit_rate = prefix_cache.hit_rate(parts)["value"]
    if hit_rate is not None and hit_rate > MOST_CACHED:
        return scalar(None, f"{hit_rate:.1%} of the prompts was in the prefix cache")
    if hit_rate is None and any(_may_be_cached(one.case) for one in parts):
        return scalar(None, "the case's prompts may be in the prefix cache, and nobody says how much of them was")
    counted = prefix_cache.prefilled(parts)
    time = math.fsum(time for _tokens, time in counted)
    computed = math.fsum(tokens for tokens, _time in counted)
    why = "the server did not say how many tokens the prompts have, or the answers were not streamed"
    return scalar(computed / time * 1000 if computed and time else None, why)


def _may_be_cached(case: Mapping[str, Any] | None) -> bool:
    """Whether a case wants more of its prompts in the cache than a speed of reading them bears."""
    most = most_cached(case)
    return case is not None and (most is None or most > MOST_CACHED)


def _dispatch_lag(records: Sequence[Record]) -> dict[str, Any]:
    lags = sorted(_known([requests.lag_ms(record) for record in records]))
    return scalar(percentile(lags, 0.99) if lags else None, "the load has no schedule")
