# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What layers remember."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.models import attention
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.models.real_models import kinds, read

PLAIN = {"num_hidden_layers": 6, "num_attention_heads": 8, "num_key_value_heads": 2, "hidden_size": 512}
FULL = {"layers": 6, "kind": "full", "heads": 2, "per_head": 128}
WINDOW = {"sliding_window": 1024}


def sliding(layers: int) -> dict[str, Any]:
    return {"layers": layers, "kind": "sliding", "heads": 2, "per_head": 128, "window": 1024}


def full(layers: int) -> dict[str, Any]:
    return {**FULL, "layers": layers}


@pytest.mark.parametrize(
    ("settings", "wanted"),
    [
        ({}, [full(6)]),
        ({"num_key_value_heads": None}, [{**FULL, "heads": 8}]),
        ({"head_dim": 128}, [{**FULL, "per_head": 256}]),
        (WINDOW, [sliding(6)]),
        ({**WINDOW, "use_sliding_window": False}, [full(6)]),
        ({**WINDOW, "use_sliding_window": True, "max_window_layers": 4}, [full(4), sliding(2)]),
        ({**WINDOW, "use_sliding_window": True, "max_window_layers": 28}, [full(6)]),
        ({**WINDOW, "sliding_window_pattern": 3}, [sliding(4), full(2)]),
        ({**WINDOW, "model_type": "gemma2"}, [sliding(3), full(3)]),
        ({**WINDOW, "model_type": "gemma3_text"}, [sliding(5), full(1)]),
        ({**WINDOW, "layer_types": ["full_attention", "sliding_attention"] * 3}, [full(3), sliding(3)]),
        ({"attention_chunk_size": 1024, "layer_types": ["chunked_attention"] * 6}, [sliding(6)]),
        ({**WINDOW, "num_kv_shared_layers": 2, "layer_types": ["sliding_attention"] * 6}, [sliding(4)]),
        ({"attn_type_list": [1] * 6}, [full(6)]),
        ({"layers_block_type": ["attention", "moe"] * 3}, [full(3)]),
    ],
)
def test_kinds(settings: dict[str, Any], wanted: list[dict[str, Any]]) -> None:
    assert attention.kinds({**PLAIN, **settings}) == wanted


@pytest.mark.parametrize(
    "settings",
    [
        {"layer_types": ["full_attention", "retention"]},
        {"hybrid_override_pattern": "M?"},
        {"attn_type_list": [0, 1]},
        {"index_topk": 2048},
        {"compress_ratios": [0, 4]},
        {"state_size": 16},
        {"block_configs": [{}]},
        {"num_key_value_heads": [2, 4]},
        {"layer_types": ["sliding_attention"]},
        {"layer_types": ["linear_attention"]},
        {"layer_types": ["mamba"]},
        {"num_hidden_layers": None},
        {"num_attention_heads": None},
    ],
)
def test_an_attention_that_is_not_known_is_not_guessed(settings: dict[str, Any]) -> None:
    assert attention.kinds({**PLAIN, **settings}) is None


def test_latent_vectors() -> None:
    assert kinds("deepseek-v2-lite") == [{"layers": 27, "kind": "latent", "heads": 1, "per_head": 576}]


def test_gated_delta_net() -> None:
    wanted = [
        # 32 heads of 128 by 128 in float32, and three inputs of 8192 channels in bfloat16.
        {"layers": 30, "kind": "state", "bytes": 2097152 + 49152},
        {"layers": 10, "kind": "full", "heads": 2, "per_head": 512},
    ]
    assert kinds("qwen3.6-35b-a3b-fp8") == wanted
    settings = dict(read("qwen3.6-35b-a3b-fp8")["config"]["text_config"])
    # The same from the interval alone.
    del settings["layer_types"]
    assert attention.kinds(settings) == wanted
    # Qwen3-Next does not name the state's dtype: it is the model's.
    del settings["mamba_ssm_dtype"]
    assert attention.kinds(settings)[0]["bytes"] == 1048576 + 49152


def test_mamba() -> None:
    assert kinds("nemotron-3-nano-30b-a3b")[0] == {"layers": 23, "kind": "state", "bytes": 2097152 + 36864}


def test_gemma_4_has_fewer_and_larger_heads_where_it_sees_everything() -> None:
    assert kinds("gemma-4-31b-it") == [
        {"layers": 50, "kind": "sliding", "heads": 16, "per_head": 512, "window": 1024},
        {"layers": 10, "kind": "full", "heads": 4, "per_head": 1024},
    ]
