# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How much of the prompts the engine had in its prefix cache.

A chat template puts the same head before every prompt, and its whole blocks are in the cache for each request but the
first. Where the tokens of that head are known they are in no figure of this file: what is left is prompts seen before.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.measure import requests
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.measure.percentiles import scalar
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.measure.rates import Part


def hit_rate(parts: Sequence[Part]) -> dict[str, Any]:
    """By the engine's counters, which see every prompt; else by what it said of each answer."""
    counted = [_counters(one) for one in parts]
    known = [pair for pair in counted if pair is not None]
    if known and len(known) == len(counted):
        queries, hits = (math.fsum(column) for column in zip(*known, strict=True))
        if queries > 0:
            return scalar(hits / queries, "")
    pairs = [
        (record["tokens"]["cached"], record["tokens"]["prompt"], head(one)) for one in parts for record in one.good
    ]
    if not pairs or any(None in pair for pair in pairs):
        return scalar(None, "the engine tells neither counters of its prefix cache nor the cached tokens of an answer")
    total = sum(max(0, prompt - same) for _cached, prompt, same in pairs)
    hits = sum(max(0, cached - same) for cached, _prompt, same in pairs)
    return scalar(hits / total if total else None, "the prompts have no tokens")


def prefilled(part: Part) -> list[tuple[float, float]]:
    """Of each success the tokens of its prompt that were computed, and the time to its first token, where known."""
    cached = _cached_head(part)
    found = [(record["tokens"]["prompt"], requests.time_ms(record, "ttft_ms")) for record in part.good]
    return [(max(0.0, tokens - cached), time) for tokens, time in found if tokens is not None and time]


def head(part: Part) -> int:
    """Tokens before each prompt that are always the same; 0 when not known."""
    return int((part.server or {}).get("head_tokens") or 0)


def _queries_and_hits(part: Part) -> tuple[float, float] | None:
    queries, hits = ((part.server or {}).get(key) for key in ("prefix_queries", "prefix_hits"))
    return None if queries is None or hits is None else (float(queries), float(hits))


def _counters(part: Part) -> tuple[float, float] | None:
    """Without the heads. A cache that is off or was empty has fewer hits than those, which is no hit at all."""
    counted = _queries_and_hits(part)
    if counted is None:
        return None
    same = head(part) * part.taken
    return max(0.0, counted[0] - same), max(0.0, counted[1] - same)


def _cached_head(part: Part) -> float:
    """Tokens of the head that a request found in the cache, in the mean; its last block is not full and not cached."""
    counted = _queries_and_hits(part)
    return min(float(head(part)), counted[1] / part.taken) if counted is not None and part.taken else 0.0
