# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bytes that a sequence takes in the KV cache, counted in pages as vLLM 0.32 hands them out. Pure.

Layers of one kind form groups of equal size, and one block of memory serves all layers of a group for as many tokens as
fit on a page. Pages of all kinds are equally large: where a layer keeps a state, a page is at least that state.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# Tokens on a page of the kind of layer that needs the most for one token; a multiple of it where layers keep a state.
BLOCK = 16
# States that are kept of a sequence while prefixes are cached: where it is, and where it was at the end of a page.
STATES = 2
# Two batches are on their way at once, and a layer with a window keeps what they hold beside the window.
BATCHES = 2
# Tokens of a batch unless it is set: vLLM asks NVML for the memory, which a Spark does not answer, and takes what it
# takes for the smallest GPU.
BATCHED_TOKENS = 2048


@dataclass(frozen=True)
class Shape:
    """What decides the pages on one rank.

    :ivar tensor_parallel_size: heads and states are divided by it; what cannot be divided is held by each rank
    :ivar pipeline_parallel_size: layers are divided by it
    :ivar element_bytes: of the KV cache
    :ivar batched_tokens: tokens of one batch at most
    """

    tensor_parallel_size: int = 1
    pipeline_parallel_size: int = 1
    element_bytes: int = 2
    batched_tokens: int = BATCHED_TOKENS


def bytes_per_sequence(kinds: Sequence[Mapping[str, Any]], length: int, shape: Shape, states: int = STATES) -> int:
    """Bytes on one rank for a sequence of ``length`` tokens; an engine wants room for one of the longest to start.

    :param kinds: what :mod:`attention` reads
    :param states: that are kept of each sequence
    """
    counts = [_up(kind["layers"], shape.pipeline_parallel_size) for kind in kinds]
    if not counts:
        return 0
    size = max(counts) if max(counts) < min(counts) * 1.5 else min(counts)
    page = _page(kinds, shape)
    blocks = 0
    for kind, count in zip(kinds, counts, strict=True):
        blocks += _up(count, size) * _blocks(kind, length, page, shape, states)
    return blocks * size * page


def bytes_per_token(kinds: Sequence[Mapping[str, Any]], shape: Shape) -> int:
    """Bytes on one rank by which a long sequence grows with each token; windows and states do not grow."""
    return sum(
        _up(kind["layers"], shape.pipeline_parallel_size) * _per_token(kind, shape)
        for kind in kinds
        if kind["kind"] in ("full", "latent")
    )


def longest(kinds: Sequence[Mapping[str, Any]], room: int, limit: int, shape: Shape) -> int:
    """The longest sequence, in tokens, up to ``limit``, that has room; a multiple of 16 unless it is the limit."""
    if bytes_per_sequence(kinds, limit, shape) <= room:
        return limit
    low, high = 0, limit // BLOCK
    while low < high:
        middle = (low + high + 1) // 2
        fits = bytes_per_sequence(kinds, middle * BLOCK, shape) <= room
        low, high = (middle, high) if fits else (low, middle - 1)
    return low * BLOCK


def _up(number: int, unit: int) -> int:
    return -(-number // unit)


def _per_token(kind: Mapping[str, Any], shape: Shape) -> int:
    """Bytes of a token in one layer on one rank; fewer heads than ranks are held more than once."""
    divided = kind["heads"] if kind["kind"] == "latent" else _up(kind["heads"], shape.tensor_parallel_size)
    return divided * kind["per_head"] * shape.element_bytes


def _page(kinds: Sequence[Mapping[str, Any]], shape: Shape) -> int:
    """Bytes of a page."""
    state = max(
        (_up(kind["bytes"], shape.tensor_parallel_size) for kind in kinds if kind["kind"] == "state"), default=0
    )
    most = max((_per_token(kind, shape) for kind in kinds if kind["kind"] != "state"), default=0)
    if not most:
        return state
    return most * BLOCK * max(1, _up(_up(state, most), BLOCK))


def _blocks(kind: Mapping[str, Any], length: int, page: int, shape: Shape, states: int) -> int:
    if kind["kind"] == "state":
        return states
    tokens = page // _per_token(kind, shape)
    if kind["kind"] != "sliding":
        return _up(length, tokens)
    # One more: a window need not begin with a page.
    return _up(min(kind["window"] - 1 + BATCHES * shape.batched_tokens, length), tokens) + 1
