# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How much of the prompts the engine had in its prefix cache.

A chat template puts the same head before every prompt, and its whole blocks are in the cache for each request but the
first. Where the tokens of that head are known they are in no figure of this file: what is left is prompts seen before.
Where the server does not tell them and the case is a cold one, each of whose prompts begins anew behind the head, they
are what every answer of the point had in the cache.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.measure import requests
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.measure.percentiles import scalar
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.measure.rates import Part

# A head is short: where the cache held more than this share of every prompt, the prompts themselves had been seen.
MOST_HEAD = 0.5


def hit_rate(parts: Sequence[Part]) -> dict[str, Any]:
    """By the engine's counters, which see every prompt; else by what it said of each answer."""
    heads = _heads(parts)
    counted = [_counters(one, same) for one, same in zip(parts, heads, strict=True)]
    known = [pair for pair in counted if pair is not None]
    if known and len(known) == len(counted):
        queries, hits = (math.fsum(column) for column in zip(*known, strict=True))
        if queries > 0:
            return scalar(hits / queries, "")
    told = [
        (record["tokens"]["cached"], record["tokens"]["prompt"], same)
        for one, same in zip(parts, heads, strict=True)
        for record in one.good
    ]
    if not told or any(None in of_one for of_one in told):
        return scalar(None, "the engine tells neither counters of its prefix cache nor the cached tokens of an answer")
    total = sum(max(0, prompt - same) for _cached, prompt, same in told)
    hits = sum(max(0, cached - same) for cached, _prompt, same in told)
    return scalar(hits / total if total else None, "the prompts have no tokens")


def prefilled(parts: Sequence[Part]) -> list[tuple[float, float]]:
    """Of each success the tokens of its prompt that were computed, and the time to its first token, where known."""
    return [
        (max(0.0, record["tokens"]["prompt"] - _cached_head(one, record, same)), time)
        for one, same in zip(parts, _heads(parts), strict=True)
        for record in one.good
        if record["tokens"]["prompt"] is not None and (time := requests.time_ms(record, "ttft_ms"))
    ]


def _heads(parts: Sequence[Part]) -> list[int]:
    """Of each part the tokens before its prompts that are always the same; 0 when not known."""
    told = [(one.server or {}).get("head_tokens") for one in parts]
    return [_always_cached(parts) if tokens is None else int(tokens) for tokens in told]


def _always_cached(parts: Sequence[Part]) -> int:
    """What all prompts of a cold case had in the cache; 0 where nobody says so, or where it is too much for a head."""
    told = [(record["tokens"]["cached"], record["tokens"]["prompt"]) for one in parts for record in one.good]
    cold = all(one.case is not None and one.case.get("cache") == "cold" for one in parts)
    if not cold or not told or any(None in pair for pair in told):
        return 0
    least, shortest = (min(column) for column in zip(*told, strict=True))
    return int(least) if least < MOST_HEAD * shortest else 0


def _queries_and_hits(part: Part) -> tuple[float, float] | None:
    queries, hits = ((part.server or {}).get(key) for key in ("prefix_queries", "prefix_hits"))
    return None if queries is None or hits is None else (float(queries), float(hits))


def _counters(part: Part, head: int) -> tuple[float, float] | None:
    """Without the heads. A cache that is off or was empty has fewer hits than those, which is no hit at all."""
    counted = _queries_and_hits(part)
    if counted is None:
        return None
    same = head * part.taken
    return max(0.0, counted[0] - same), max(0.0, counted[1] - same)


def _cached_head(part: Part, record: requests.Record, head: int) -> float:
    """Tokens of the head that a request found in the cache: by the counters in the mean, else as its answer says.

    Its last block is not full and not cached.
    """
    counted = _queries_and_hits(part)
    if counted is not None:
        return min(float(head), counted[1] / part.taken) if part.taken else 0.0
    return min(float(head), record["tokens"]["cached"] or 0.0)
