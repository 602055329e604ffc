# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a model fits, and what would."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.models import memory_plan
from ansible_collections.dgxspark.serving.plugins.module_utils.models.memory_plan import Plan
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.memory import GIB
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.models.real_models import facts

SPARK = 119 * GIB
FP8, BF16, BIG, DENSE = "qwen3.6-35b-a3b-fp8", "qwen3.5-35b-a3b", "qwen3.5-122b-a10b-fp8", "gemma-4-31b-it"


def plan(name: str, **changes: Any) -> Plan:
    given = {
        "tensor_parallel_size": 1,
        "pipeline_parallel_size": 1,
        "max_model_len": None,
        "max_num_seqs": None,
        "gpu_memory_utilization": 0.7,
        "kv_cache_dtype": "auto",
        "total": SPARK,
        "available": SPARK,
        "free": SPARK,
        "cache": 0,
        **changes,
    }
    found = memory_plan.plan(facts(name), **given)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("name", "changes", "verdict"),
    [
        (FP8, {}, "fits"),
        (BF16, {}, "fits"),
        (BF16, {"gpu_memory_utilization": 0.6}, "does not fit"),
        (BIG, {"gpu_memory_utilization": 0.9}, "does not fit"),
        (BIG, {"tensor_parallel_size": 2}, "fits"),
        (BIG, {"pipeline_parallel_size": 2}, "fits"),
        (DENSE, {"max_model_len": 65536}, "fits"),
        (DENSE, {}, "does not fit"),
        (DENSE, {"kv_cache_dtype": "fp8"}, "fits"),
        (DENSE, {"max_model_len": 131072}, "fits"),
        (DENSE, {"max_model_len": 131072, "max_num_batched_tokens": 8192}, "does not fit"),
    ],
)
def test_verdict(name: str, changes: dict[str, Any], verdict: str) -> None:
    assert plan(name, **changes).verdict == verdict


@pytest.mark.parametrize(
    ("free", "cache", "available", "verdict"),
    [
        (90, 20, 110, "fits"),
        (60, 50, 105, "fits after dropping caches"),
        # Some of what is cached cannot be had.
        (60, 50, 80, "does not fit"),
        (60, 10, 110, "does not fit"),
    ],
)
def test_u01_page_cache_counts_as_used_until_it_is_dropped(free: int, cache: int, available: int, verdict: str) -> None:
    sizes = {"free": free * GIB, "cache": cache * GIB, "available": available * GIB}
    assert plan(FP8, **sizes).verdict == verdict


def test_figures() -> None:
    found = plan(BF16, max_model_len=131072, max_num_seqs=16)
    assert found.weights == 70213525504
    assert found.kv_per_token == 10 * 2 * 512 * 2
    assert found.kv_least is not None
    assert (found.kv_least, found.kv_wanted) == (131 * 21626880, 16 * found.kv_least)
    assert found.engine_share == int(0.7 * SPARK)
    assert found.needed == found.certain + found.overhead == found.weights + found.kv_least + found.overhead
    first, second = found.sentences()
    assert first.startswith(
        "weights 65.4 GiB, one sequence of 131072 tokens 2.6 GiB, about 3.5 GiB for the engine itself"
    )
    assert first.endswith(": 71.5 GiB of 83.3 GiB (0.70 of 119.0 GiB)")
    assert second == "16 sequences of that length take 42.2 GiB; there is room for 5.5, more wait"


def test_ranks_share_the_weights() -> None:
    whole, half = plan(BIG), plan(BIG, tensor_parallel_size=2)
    assert half.weights == -(-whole.weights // 2)
    assert half.kv_per_token == whole.kv_per_token // 2
    # Two heads for four ranks: each rank holds one of them.
    assert plan(BIG, tensor_parallel_size=4).kv_per_token == half.kv_per_token
    assert plan(BIG, pipeline_parallel_size=2).weights == half.weights
    # 48 layers in five stages: the largest has ten.
    assert plan(BIG, pipeline_parallel_size=5).weights == whole.weights * 10 // 48


def test_what_is_not_divided_is_held_by_each_rank() -> None:
    known = {**facts(FP8), "weight_bytes": 1000}
    known["kv"] = {**known["kv"], "replicated_bytes": 200}
    shape = memory_plan.kv_pages.Shape(tensor_parallel_size=2)
    assert memory_plan.rank_weights(known, shape) == 600


@pytest.mark.parametrize("name", [FP8, BF16, DENSE])
@pytest.mark.parametrize("share", [0.65, 0.7, 0.8])
def test_what_would_fit_fits_and_a_little_more_does_not(name: str, share: float) -> None:
    found = plan(name, gpu_memory_utilization=share)
    assert found.largest_context is not None
    if found.largest_context:
        assert plan(name, gpu_memory_utilization=share, max_model_len=found.largest_context).verdict == "fits"
    if found.largest_context != 262144:
        longer = plan(name, gpu_memory_utilization=share, max_model_len=found.largest_context + 1024)
        assert longer.verdict == "does not fit"
    least = found.least_utilization
    assert plan(name, gpu_memory_utilization=least).verdict == "fits"
    assert plan(name, gpu_memory_utilization=least - 0.011).verdict == "does not fit"


def test_what_the_host_can_give() -> None:
    assert plan(FP8, available=int(0.559 * SPARK)).largest_utilization == 0.55


def test_the_estimate_is_near_what_engines_left_unaccounted() -> None:
    # A Spark of 121.7 GiB with Qwen3.5-35B-A3B: at 0.50 it was 8.93 GiB short of a KV cache, at 0.70 it had 15.58 GiB.
    for share, cache in ((0.5, -8.93), (0.7, 15.58)):
        shown = (share * 121.7 - 65.53 - cache) * GIB
        assert plan(BF16).overhead == pytest.approx(shown, abs=GIB)
    # Qwen3-8B on a GPU of 32 GiB: 1.6 GB with CUDA graphs.
    assert plan("qwen3-8b").overhead == pytest.approx(1.6e9, abs=GIB // 4)


def test_larger_batches_need_more() -> None:
    usual, large = plan(BF16), plan(BF16, max_num_batched_tokens=8192)
    assert large.overhead - usual.overhead == pytest.approx(3 * 0.03 * usual.weights, rel=1e-6)
    assert large.kv_least == usual.kv_least
    # Layers with a window keep what is in the batches.
    assert plan(DENSE, max_num_batched_tokens=8192).kv_least > plan(DENSE).kv_least


def test_an_attention_that_is_not_known() -> None:
    known = facts(FP8)
    known["kv"] = {**known["kv"], "kinds": None}
    sizes = {"total": SPARK, "available": SPARK, "free": SPARK, "cache": 0}
    found = memory_plan.plan(known, 1, 1, None, 4, 0.7, "auto", **sizes)
    assert found is not None
    assert (found.kv_per_token, found.kv_least, found.kv_wanted, found.largest_context) == (None, None, None, None)
    assert found.verdict == "fits"
    assert len(found.sentences()) == 1


def test_without_the_size_of_the_weights_nothing_is_said() -> None:
    sizes = {"total": SPARK, "available": SPARK, "free": SPARK, "cache": 0}
    assert memory_plan.plan(facts("minimax-m2"), 1, 1, None, None, 0.7, "auto", **sizes) is None
