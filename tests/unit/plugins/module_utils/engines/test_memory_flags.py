# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an engine's flags say about its memory."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.engines.memory_flags import engine_memory

DEFAULTS = {
    "tensor_parallel_size": 2,
    "pipeline_parallel_size": 1,
    "max_model_len": None,
    "max_num_seqs": None,
    "gpu_memory_utilization": 0.7,
    "kv_cache_dtype": "auto",
    "max_num_batched_tokens": None,
}


def read(engine: str, arguments: dict[str, Any]) -> dict[str, Any]:
    settings = {
        "tensor_parallel_size": 2,
        "pipeline_parallel_size": 1,
        "gpu_memory_utilization": 0.7,
        "engine_args": arguments,
    }
    return engine_memory(engine, settings)


@pytest.mark.parametrize("engine", ["vllm", "sglang"])
def test_defaults(engine: str) -> None:
    assert read(engine, {"seed": 1}) == DEFAULTS


@pytest.mark.parametrize(
    ("arguments", "changes"),
    [
        ({"max-model-len": 65536}, {"max_model_len": 65536}),
        ({"--max_model_len": "65536"}, {"max_model_len": 65536}),
        ({"max-model-len": "32k"}, {"max_model_len": 32000}),
        ({"max-model-len": "32K"}, {"max_model_len": 32768}),
        ({"max-model-len": "1.5M"}, {"max_model_len": 1572864}),
        ({"max-model-len": "auto"}, {"max_model_len": 1}),
        ({"max-model-len": -1}, {"max_model_len": 1}),
        # The engine says what is wrong with these.
        ({"max-model-len": "many"}, {}),
        ({"max-model-len": ""}, {}),
        ({"max-model-len": None}, {}),
        ({"max-model-len": "inf"}, {}),
        ({"max-num-seqs": "16", "kv-cache-dtype": "fp8"}, {"max_num_seqs": 16, "kv_cache_dtype": "fp8"}),
        ({"max_num_batched_tokens": 2048}, {"max_num_batched_tokens": 2048}),
        ({"gpu-memory-utilization": "0.8"}, {"gpu_memory_utilization": 0.8}),
        # Flags of the other engine.
        ({"context-length": 4096, "max-running-requests": 4}, {}),
    ],
)
def test_vllm(arguments: dict[str, Any], changes: dict[str, Any]) -> None:
    assert read("vllm", arguments) == {**DEFAULTS, **changes}


@pytest.mark.parametrize(
    ("arguments", "changes"),
    [
        ({"context-length": 131072}, {"max_model_len": 131072}),
        ({"max-running-requests": 16}, {"max_num_seqs": 16}),
        ({"mem_fraction_static": 0.6}, {"gpu_memory_utilization": 0.6}),
        ({"kv-cache-dtype": "fp8_e4m3"}, {"kv_cache_dtype": "fp8_e4m3"}),
        ({"chunked-prefill-size": -1}, {}),
    ],
)
def test_sglang(arguments: dict[str, Any], changes: dict[str, Any]) -> None:
    assert read("sglang", arguments) == {**DEFAULTS, **changes}
