# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pages of the KV cache, against what vLLM reserves and logs."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.models import kv_pages, memory_plan
from ansible_collections.dgxspark.serving.plugins.module_utils.models.kv_pages import Shape
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.memory import GIB
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.models.real_models import facts, kinds

LOGS = Path(__file__).parents[4] / "fixtures" / "logs"
STARTS = json.loads((LOGS / "vllm-sizes.json").read_text("utf-8"))
LONGEST = 262144


@pytest.mark.parametrize(
    ("name", "shape", "states", "wanted"),
    [
        ("qwen3.8-27b", Shape(), 2, 17520656384),
        ("qwen3.8-27b", Shape(), 1, 17366515712),
        ("qwen3.6-35b-a3b-fp8", Shape(), 2, 5514854400),
        ("nemotron-3-nano-30b-a3b", Shape(), 2, 1725628416),
        ("gemma-4-31b-it", Shape(batched_tokens=8192), 2, 13637 * 2621440),
        ("gemma-4-31b-it", Shape(), 2, 9797 * 2621440),
    ],
)
def test_what_vllm_reserves_to_the_byte(name: str, shape: Shape, states: int, wanted: int) -> None:
    # Traced by github.com/mondegreens/apron, tests, through the source of vLLM 0.29.
    assert kv_pages.bytes_per_sequence(kinds(name), LONGEST, shape, states) == wanted


def test_what_vllm_logs_in_the_lab() -> None:
    text = (LOGS / "vllm-cpu-sizes.txt").read_text("utf-8")
    given = re.search(r"Explicitly set \(([\d.]+)/", text)
    tokens = re.search(r"KV cache size: ([\d,]+) tokens", text)
    held = re.search(r"concurrency for ([\d,]+) tokens per request: ([\d.]+)x", text)
    assert given and tokens and held
    cache, layers = float(given[1]) * GIB, kinds("tiny-qwen3")
    assert cache / kv_pages.bytes_per_token(layers, Shape()) == _number(tokens[1])
    assert cache / kv_pages.bytes_per_sequence(layers, _number(held[1]), Shape()) == float(held[2])


@pytest.mark.parametrize("start", STARTS, ids=[start["source"] for start in STARTS])
def test_what_vllm_logs_of_real_models(start: dict[str, Any]) -> None:
    known, text = facts(start["model"]), "\n".join(start["lines"])
    shape = Shape(start.get("tensor_parallel_size", 1), 1, start.get("element_bytes", 2))
    loaded = re.search(r"Model loading took ([\d.]+) GiB", text)
    if loaded:
        assert memory_plan.rank_weights(known, shape) == pytest.approx(float(loaded[1]) * GIB, rel=0.005)
    cache = re.search(r"Available KV cache memory: ([\d.]+) GiB", text)
    tokens = re.search(r"GPU KV cache size: ([\d,]+) tokens", text)
    held = re.search(r"concurrency for ([\d,]+) tokens per request: ([\d.]+)x", text)
    assert loaded or (cache and (tokens or held))
    if cache and tokens:
        each = kv_pages.bytes_per_token(known["kv"]["kinds"], shape)
        assert float(cache[1]) * GIB / each == pytest.approx(_number(tokens[1]), rel=0.001)
    if cache and held:
        states = start.get("states", kv_pages.STATES)
        each = kv_pages.bytes_per_sequence(known["kv"]["kinds"], _number(held[1]), shape, states)
        assert float(cache[1]) * GIB / each == pytest.approx(float(held[2]), rel=0.005)


def _number(text: str) -> int:
    return int(text.replace(",", ""))


FULL = {"layers": 4, "kind": "full", "heads": 2, "per_head": 64}
LATENT = {"layers": 4, "kind": "latent", "heads": 1, "per_head": 64}
STATE = {"layers": 4, "kind": "state", "bytes": 8000}
SLIDING = {"layers": 4, "kind": "sliding", "heads": 2, "per_head": 64, "window": 100}


@pytest.mark.parametrize(
    ("layers", "shape", "wanted"),
    [
        ([FULL], Shape(), 4 * 2 * 64 * 2),
        ([FULL], Shape(element_bytes=1), 4 * 2 * 64),
        ([FULL], Shape(tensor_parallel_size=2), 4 * 64 * 2),
        # Fewer heads than ranks: each rank holds one.
        ([FULL], Shape(tensor_parallel_size=4), 4 * 64 * 2),
        ([LATENT], Shape(tensor_parallel_size=4), 4 * 64 * 2),
        ([FULL], Shape(pipeline_parallel_size=2), 2 * 2 * 64 * 2),
        ([FULL, STATE, SLIDING], Shape(), 4 * 2 * 64 * 2),
        ([], Shape(), 0),
    ],
)
def test_growth_with_each_token(layers: list[dict[str, Any]], shape: Shape, wanted: int) -> None:
    assert kv_pages.bytes_per_token(layers, shape) == wanted


@pytest.mark.parametrize(
    ("layers", "length", "shape", "wanted"),
    [
        ([FULL], 16, Shape(), 16 * 1024),
        ([FULL], 17, Shape(), 32 * 1024),
        # A page of 32 tokens holds the state of 8000 bytes; two states are kept.
        ([FULL, STATE], 32, Shape(), 3 * 4 * 8192),
        ([FULL, STATE], 33, Shape(), 4 * 4 * 8192),
        ([FULL, STATE], 33, Shape(tensor_parallel_size=2), 4 * 4 * 4096),
        ([STATE], 1000, Shape(), 2 * 4 * 8000),
        # Five layers and four: groups of five, the smaller kind is filled up; six and four: groups of four.
        ([{**FULL, "layers": 5}, SLIDING], 16, Shape(), (1 + 2) * 5 * 4096),
        ([{**FULL, "layers": 6}, SLIDING], 16, Shape(), (2 + 2) * 4 * 4096),
        # The window is bounded: 99 tokens and two batches of 8.
        ([FULL, SLIDING], 1600, Shape(batched_tokens=8), (100 + 9) * 4 * 4096),
        ([], 16, Shape(), 0),
    ],
)
def test_pages(layers: list[dict[str, Any]], length: int, shape: Shape, wanted: int) -> None:
    assert kv_pages.bytes_per_sequence(layers, length, shape) == wanted


@pytest.mark.parametrize(
    ("room", "limit", "wanted"),
    [(160 * 1024, 1000, 160), (160 * 1024 - 1, 1000, 144), (1024, 1000, 0), (-1, 1000, 0), (10**9, 1000, 1000)],
)
def test_longest(room: int, limit: int, wanted: int) -> None:
    assert kv_pages.longest([FULL], room, limit, Shape()) == wanted
