# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Requests that kept their limits (goodput), and what was lost: failures by kind with their first message."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.measure import rates, requests
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.measure.percentiles import scalar
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.measure.requests import Record

# Of one kind so many ids are named; the file of requests has them all.
MOST_IDS = 20
# What a limit is of.
WHAT = {"ttft_ms": "a time to the first token", "tpot_ms": "a time per token", "e2el_ms": "a time to the last token"}


def goodput(parts: Sequence[rates.Part], limits: Mapping[str, float | None] | None) -> dict[str, Any]:
    """Share and rate of the requests that succeeded within every limit; a failed request keeps none."""
    wanted = {metric: limit for metric, limit in (limits or {}).items() if limit is not None}
    records = [record for one in parts for record in one.records]
    if not wanted or not records:
        why = "no limits were given" if records else "no request was measured"
        return {"goodput_rate": scalar(None, why), "goodput_share": scalar(None, why)}
    verdicts = [_within(record, wanted) if requests.succeeded(record) else False for record in records]
    unknown = [verdict for verdict in verdicts if isinstance(verdict, str)]
    if unknown:
        return {"goodput_rate": scalar(None, unknown[0]), "goodput_share": scalar(None, unknown[0])}
    kept = sum(map(bool, verdicts))
    elapsed = rates.seconds(parts)
    return {
        "goodput_rate": scalar(kept / elapsed if elapsed else None, rates.NO_TIME),
        "goodput_share": scalar(kept / len(records), ""),
    }


def _within(record: Record, wanted: Mapping[str, float]) -> bool | str:
    """Why it cannot be said, where it cannot. An answer of one token has no time per token and breaks no limit of it.

    A limit that is broken is broken, whatever is not known of the others.
    """
    unknown = ""
    for metric, limit in wanted.items():
        time = requests.time_ms(record, metric)
        if time is None:
            tokens = requests.completion_tokens(record)
            if metric == "tpot_ms" and tokens is not None and tokens < 2:
                continue
            unknown = unknown or _why_no_time(record, metric)
        elif time > limit:
            return False
    return unknown or True


def _why_no_time(record: Record, metric: str) -> str:
    """Why a success lacks a time."""
    what = WHAT.get(metric, f"the time {metric}")
    if record["t_first"] is None:
        return f"requests without {what}, as their answers were not streamed"
    if metric == "tpot_ms" and requests.completion_tokens(record) is None:
        return f"requests without {what}, as the server did not count their tokens"
    if metric == "tpot_ms":
        return f"requests without {what}, as all their tokens came at once"
    return f"requests without {what}"


def failures(records: Sequence[Record]) -> tuple[dict[str, int], list[dict[str, Any]]]:
    """How many of each kind, the most frequent first, and of each kind its first message and the requests' ids."""
    kinds: dict[str, list[Record]] = {}
    for record in records:
        if not requests.succeeded(record):
            kinds.setdefault(record["error"]["kind"], []).append(record)
    ordered = sorted(kinds.items(), key=lambda item: (-len(item[1]), item[0]))
    samples = [
        {"kind": kind, "message": failed[0]["error"]["message"], "ids": [one["id"] for one in failed[:MOST_IDS]]}
        for kind, failed in ordered
    ]
    return {kind: len(failed) for kind, failed in ordered}, samples
