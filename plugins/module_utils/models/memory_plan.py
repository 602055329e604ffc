# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a model fits into what an engine is given of a host's memory, and what would. Pure. Sizes are bytes.

An engine takes a share of all memory. Weights are in it, what the engine needs for itself, and the KV cache, which gets
the rest; an engine does not start when the rest does not hold one sequence of the longest length that is allowed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.models import kv_pages
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.memory import GIB, gib

FITS = "fits"
AFTER_DROPPING = "fits after dropping caches"
DOES_NOT_FIT = "does not fit"

# What an engine needs beside weights and KV cache, an estimate; docs/models.md says from what. In order: the driver's
# context and CUDA graphs; activations as a share of the weights, for the usual size of a batch; images; NCCL.
BASE = GIB
ACTIVATIONS = 0.03
SENSES = GIB // 2
NCCL = GIB // 2

_KV_BYTES = {"bfloat16": 2, "float16": 2, "half": 2, "float32": 4, "float": 4}


@dataclass(frozen=True)
class Plan:
    """What one rank needs, against what it may take.

    :ivar weights: of the rank
    :ivar kv_per_token: by which a long sequence grows with each token; None where the attention is not known
    :ivar kv_least: for one sequence of the longest length, without which the engine does not start
    :ivar kv_wanted: for as many sequences of that length as may run at once; None where their number is not known
    :ivar overhead: what the engine takes for itself, an estimate
    :ivar engine_share: what the engine is told to take
    :ivar verdict: :data:`FITS`, :data:`AFTER_DROPPING` or :data:`DOES_NOT_FIT`
    :ivar largest_context: tokens of the longest sequence that would fit; 0 when not even the weights do
    :ivar least_utilization: the least share of all memory that the model needs
    :ivar largest_utilization: the largest share that the host can give now
    :ivar max_model_len: tokens, as planned with
    """

    weights: int
    kv_per_token: int | None
    kv_least: int | None
    kv_wanted: int | None
    overhead: int
    engine_share: int
    total: int
    verdict: str
    largest_context: int | None
    least_utilization: float
    largest_utilization: float
    max_model_len: int | None
    max_num_seqs: int | None

    @property
    def certain(self) -> int:
        """What is needed in any case: the estimate is left out."""
        return self.weights + (self.kv_least or 0)

    @property
    def needed(self) -> int:
        """What is needed, as far as can be told."""
        return self.certain + self.overhead

    @property
    def sequences(self) -> float | None:
        """How many sequences of the longest length the KV cache holds."""
        if not self.kv_least:
            return None
        return max(0, self.engine_share - self.weights - self.overhead) / self.kv_least

    def sentences(self) -> list[str]:
        """The figures, in words."""
        share = self.engine_share / self.total
        words = f"weights {gib(self.weights)}"
        if self.kv_least is not None:
            words += f", one sequence of {self.max_model_len} tokens {gib(self.kv_least)}"
        words += f", about {gib(self.overhead)} for the engine itself: {gib(self.needed)}"
        said = [f"{words} of {gib(self.engine_share)} ({share:.2f} of {gib(self.total)})"]
        if self.kv_wanted is not None and self.sequences is not None:
            said.append(
                f"{self.max_num_seqs} sequences of that length take {gib(self.kv_wanted)}; there is room for"
                f" {self.sequences:.1f}, more wait"
            )
        return said


def plan(
    facts: Mapping[str, Any],
    tensor_parallel_size: int,
    pipeline_parallel_size: int,
    max_model_len: int | None,
    max_num_seqs: int | None,
    gpu_memory_utilization: float,
    kv_cache_dtype: str,
    total: int,
    available: int,
    free: int,
    cache: int,
    max_num_batched_tokens: int | None = None,
) -> Plan | None:
    """Plan the memory of one rank.

    :param facts: what :func:`config.facts` returns
    :param max_model_len: tokens; None for the model's own
    :param max_num_seqs: None for the engine's default
    :param kv_cache_dtype: ``auto`` for the checkpoint's
    :param total: of the host
    :param available: what can be had without swapping
    :param free: what nothing uses, not even the page ``cache``
    :param max_num_batched_tokens: None for the engine's default
    :returns: None when the size of the weights is not known
    """
    if not facts.get("weight_bytes"):
        return None
    kv = facts["kv"]
    shape = kv_pages.Shape(
        tensor_parallel_size, pipeline_parallel_size, _element_bytes(kv_cache_dtype, kv["element_bytes"])
    )
    if max_num_batched_tokens:
        shape = replace(shape, batched_tokens=max_num_batched_tokens)
    weights, overhead = rank_weights(facts, shape), engine_overhead(facts, shape)
    share, length = int(gpu_memory_utilization * total), max_model_len or facts["context_length"]
    least = wanted = per_token = context = None
    if kv["kinds"] is not None and length:
        per_token = kv_pages.bytes_per_token(kv["kinds"], shape)
        least = kv_pages.bytes_per_sequence(kv["kinds"], length, shape)
        wanted = least * max_num_seqs if max_num_seqs else None
        limit = max(length, facts["context_length"] or 0)
        context = kv_pages.longest(kv["kinds"], share - weights - overhead, limit, shape)
    needed = weights + overhead + (least or 0)
    return Plan(
        weights=weights,
        kv_per_token=per_token,
        kv_least=least,
        kv_wanted=wanted,
        overhead=overhead,
        engine_share=share,
        total=total,
        verdict=_verdict(needed, share, free, min(available, free + cache)),
        largest_context=context,
        least_utilization=math.ceil(needed / total * 100) / 100,
        largest_utilization=max(0, available * 100 // total) / 100,
        max_model_len=length,
        max_num_seqs=max_num_seqs,
    )


def rank_weights(facts: Mapping[str, Any], shape: kv_pages.Shape) -> int:
    """Weights of the rank that holds the most."""
    whole = facts["kv"]["replicated_bytes"]
    size = whole + -(-(facts["weight_bytes"] - whole) // shape.tensor_parallel_size)
    stages, layers = shape.pipeline_parallel_size, facts["layers"]
    return size if stages == 1 or not layers else size * -(-layers // stages) // layers


def engine_overhead(facts: Mapping[str, Any], shape: kv_pages.Shape) -> int:
    """What the engine takes beside weights and KV cache, on each rank."""
    several = shape.tensor_parallel_size * shape.pipeline_parallel_size > 1
    senses = SENSES if facts["vision"] else 0
    batch = shape.batched_tokens / kv_pages.BATCHED_TOKENS
    return BASE + int(ACTIVATIONS * batch * rank_weights(facts, shape)) + senses + (NCCL if several else 0)


def _element_bytes(kv_cache_dtype: str, auto: int) -> int:
    if kv_cache_dtype.startswith(("fp8", "int8")):
        return 1
    return _KV_BYTES.get(kv_cache_dtype, auto)


def _verdict(needed: int, share: int, free: int, free_after: int) -> str:
    """An engine counts page cache as used when it starts."""
    if needed > share or share > max(free, free_after):
        return DOES_NOT_FIT
    return FITS if share <= free else AFTER_DROPPING
