# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How weights are packed."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.models import quantization
from ansible_collections.dgxspark.serving.plugins.module_utils.models.quantization import Quantization


def compressed(**groups: dict[str, Any]) -> dict[str, Any]:
    return {
        "quant_method": "compressed-tensors",
        "config_groups": {name: {"weights": weights} for name, weights in groups.items()},
    }


FLOAT8 = {"num_bits": 8, "type": "float"}
FLOAT4 = {"num_bits": 4, "type": "float", "group_size": 16}
MIXED = {"a": {"quant_algo": "NVFP4"}, "b": {"quant_algo": "FP8"}}
INT4 = {"num_bits": 4, "type": "int", "group_size": 32}


@pytest.mark.parametrize(
    ("config", "wanted"),
    [
        ({"quant_method": "fp8", "weight_block_size": [128, 128]}, Quantization("FP8", 8)),
        ({"quant_method": "awq", "bits": 4}, Quantization("AWQ", 4)),
        ({"quant_method": "gptq", "bits": 8}, Quantization("GPTQ", 8)),
        ({"quant_method": "auto-round", "bits": 4}, Quantization("AutoRound", 4)),
        ({"quant_method": "mxfp4"}, Quantization("MXFP4", 4)),
        ({"quant_method": "bitsandbytes", "load_in_4bit": True}, Quantization("bitsandbytes", 4)),
        ({"quant_method": "bitsandbytes", "load_in_8bit": True}, Quantization("bitsandbytes", 8)),
        (compressed(a=INT4), Quantization("compressed-tensors int4", 4)),
        (compressed(a=FLOAT8), Quantization("compressed-tensors fp8", 8)),
        (compressed(a=FLOAT4), Quantization("compressed-tensors nvfp4", 4)),
        (compressed(a={**FLOAT4, "group_size": 32}), Quantization("compressed-tensors mxfp4", 4)),
        (compressed(a=FLOAT4, b=FLOAT8), Quantization("compressed-tensors fp8/nvfp4", 4)),
        ({**compressed(a=INT4), "kv_cache_scheme": FLOAT8}, Quantization("compressed-tensors int4", 4, True)),
        ({"quant_method": "modelopt", "quant_algo": "FP8"}, Quantization("FP8", 8)),
        (
            {"quant_method": "modelopt", "quant_algo": "NVFP4", "kv_cache_scheme": FLOAT8},
            Quantization("NVFP4", 4, True),
        ),
        ({"quant_method": "quark"}, Quantization("quark", 8)),
    ],
)
def test_config(config: dict[str, Any], wanted: Quantization) -> None:
    assert quantization.read({"quantization_config": config}) == wanted
    assert quantization.read({"text_config": {"quantization_config": config}}) == wanted


@pytest.mark.parametrize(
    ("separate", "wanted"),
    [
        ({"quant_algo": "NVFP4", "kv_cache_quant_algo": "FP8"}, Quantization("NVFP4", 4, True)),
        ({"quant_algo": "W4A16_AWQ", "kv_cache_quant_algo": None}, Quantization("AWQ", 4)),
        ({"quant_algo": "W4A16_NVFP4"}, Quantization("NVFP4", 4)),
        ({"quant_algo": "MIXED_PRECISION", "quantized_layers": MIXED}, Quantization("FP8/NVFP4", 4)),
    ],
)
def test_modelopt_has_a_file_of_its_own(separate: dict[str, Any], wanted: Quantization) -> None:
    assert quantization.read({}, {"quantization": separate}) == wanted


def test_no_packing() -> None:
    assert quantization.read({}, {}) == Quantization("none", 16)


@pytest.mark.parametrize(
    ("name", "dtype", "packing", "each"),
    [
        ("a.weight", "BF16", Quantization(), 1),
        ("a.weight", "F8_E4M3", Quantization("FP8", 8), 1),
        ("a.weight_scale_inv", "BF16", Quantization("FP8", 8), 0),
        ("a.qweight", "I32", Quantization("AWQ", 4), 8),
        ("a.qweight", "I32", Quantization("GPTQ", 8), 4),
        ("a.qzeros", "I32", Quantization("AWQ", 4), 0),
        ("a.scales", "F16", Quantization("AWQ", 4), 0),
        ("a.g_idx", "I32", Quantization("GPTQ", 4), 0),
        ("a.weight_packed", "I32", Quantization("compressed-tensors int4", 4), 8),
        ("a.weight_packed", "U8", Quantization("compressed-tensors nvfp4", 4), 2),
        ("a.weight_shape", "I64", Quantization("compressed-tensors int4", 4), 0),
        ("a.weight_global_scale", "F32", Quantization("compressed-tensors nvfp4", 4), 0),
        ("a.weight", "U8", Quantization("NVFP4", 4), 2),
        ("a.weight_scale", "F8_E4M3", Quantization("NVFP4", 4), 0),
        ("a.weight_scale_2", "F32", Quantization("NVFP4", 4), 0),
        ("a.input_scale", "F32", Quantization("NVFP4", 4), 0),
        ("mlp.experts.gate_up_proj_blocks", "U8", Quantization("MXFP4", 4), 2),
        ("mlp.experts.gate_up_proj_scales", "U8", Quantization("MXFP4", 4), 0),
        ("a.weight", "U8", Quantization("bitsandbytes", 4), 2),
        ("a.weight.absmax", "U8", Quantization("bitsandbytes", 4), 0),
        ("a.weight.quant_state.bitsandbytes__nf4", "U8", Quantization("bitsandbytes", 4), 0),
        ("a.norm.weight", "BF16", Quantization("AWQ", 4), 1),
        # A model without packing may call a parameter what it likes.
        ("a.logit_scale", "BF16", Quantization(), 1),
    ],
)
def test_parameters_of_a_tensor(name: str, dtype: str, packing: Quantization, each: int) -> None:
    assert quantization.parameters(name, dtype, 1000, packing) == 1000 * each
