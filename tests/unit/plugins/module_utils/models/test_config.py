# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a model is, from its config and headers."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.models import config, config_keys
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.models.real_models import MODELS, facts, read

KEYS = {
    "architecture",
    "model_type",
    "parameters",
    "active_parameters",
    "layers",
    "attention_heads",
    "kv_heads",
    "head_dim",
    "dtype",
    "quantization",
    "context_length",
    "vision",
    "weight_bytes",
    "kv",
}


def test_a_mixture_of_experts_that_sees() -> None:
    found = facts("qwen3.6-35b-a3b-fp8")
    assert {name: value for name, value in found.items() if name != "kv"} == {
        "architecture": "Qwen3_5MoeForConditionalGeneration",
        "model_type": "qwen3_5_moe",
        "parameters": 35950868480,
        "active_parameters": 3454976000,
        "layers": 40,
        "attention_heads": 16,
        "kv_heads": 2,
        "head_dim": 256,
        "dtype": "bfloat16",
        "quantization": "FP8",
        "context_length": 262144,
        "vision": True,
        "weight_bytes": 36595286114,
    }
    assert (found["kv"]["element_bytes"], found["kv"]["replicated_bytes"]) == (2, 0)


def test_headers_go_before_arithmetic() -> None:
    found = facts("tiny-qwen3-moe")
    assert found["weight_bytes"] == read("tiny-qwen3-moe")["published"]["total_bytes"]
    assert found["parameters"] * 2 == found["weight_bytes"]
    assert found["kv"]["replicated_bytes"] > 0


@pytest.mark.parametrize("given", [{}, {"architectures": []}, {"quantization_config": None, "text_config": None}])
def test_nothing_is_invented(given: dict[str, Any]) -> None:
    found = config.facts(given, {})
    assert set(found) == KEYS
    assert {name for name, value in found.items() if value} == {"quantization", "kv"}
    assert found["kv"]["kinds"] is None


def test_modelopt_says_it_in_a_file_of_its_own() -> None:
    separate = {"quantization": {"quant_algo": "NVFP4", "kv_cache_quant_algo": "FP8"}}
    found = config.facts(read("qwen3-8b")["config"], {}, separate)
    assert (found["quantization"], found["kv"]["element_bytes"]) == ("NVFP4", 1)
    # What is packed is not in the config: without headers nothing is said of the size.
    assert found["weight_bytes"] is None


@pytest.mark.parametrize("name", sorted(path.stem for path in MODELS.glob("*.json")))
@pytest.mark.parametrize("value", [None, "x", "", -1, 0, 1.5, True, [], [None], ["x"], {}, {"x": None}], ids=repr)
def test_a_strange_value_stops_nothing(name: str, value: Any) -> None:
    whole = read(name)["config"]
    for part in (whole, *(inner for inner in whole.values() if isinstance(inner, dict))):
        for key, kept in list(part.items()):
            part[key] = value
            assert set(config.facts(whole, {})) == KEYS, key
            part[key] = kept


@pytest.mark.parametrize(
    "packing",
    [
        {
            "quant_method": "compressed-tensors",
            "config_groups": {"a": None, "b": {"weights": None}, "c": {"weights": 4}},
        },
        {"quant_method": "compressed-tensors", "config_groups": [], "format": None},
        {"quant_method": "awq", "bits": "four"},
        {"quant_method": None},
        {"quant_algo": "MIXED_PRECISION", "quantized_layers": {"a": None}},
        {"quant_algo": "MIXED_PRECISION", "quantized_layers": []},
    ],
)
def test_a_strange_packing_stops_nothing(packing: dict[str, Any]) -> None:
    assert set(config.facts({"quantization_config": packing}, {})) == KEYS


@pytest.mark.parametrize(
    ("settings", "tokens"),
    [
        ({"max_position_embeddings": 40960, "rope_scaling": None}, 40960),
        (
            {
                "max_position_embeddings": 32768,
                "rope_scaling": {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768},
            },
            131072,
        ),
        (
            {
                "max_position_embeddings": 163840,
                "rope_scaling": {"type": "yarn", "factor": 40, "original_max_position_embeddings": 4096},
            },
            163840,
        ),
        ({"max_position_embeddings": 131072, "rope_scaling": {"rope_type": "llama3", "factor": 8.0}}, 131072),
        ({"max_position_embeddings": 262144, "rope_parameters": {"rope_type": "default"}}, 262144),
        ({"max_position_embeddings": 4096, "rope_scaling": {"rope_type": "linear", "factor": 2}}, 8192),
        ({}, None),
    ],
)
def test_context_length(settings: dict[str, Any], tokens: int | None) -> None:
    assert config_keys.context_length(settings) == tokens


@pytest.mark.parametrize(
    ("config_json", "hidden"),
    [
        ({"hidden_size": 8}, 8),
        ({"hidden_size": 4, "text_config": {"hidden_size": 8}}, 8),
        ({"llm_config": {"hidden_size": 8}}, 8),
        ({"thinker_config": {"text_config": {"hidden_size": 8}}}, 8),
    ],
)
def test_settings_of_the_language_model(config_json: dict[str, Any], hidden: int) -> None:
    assert config_keys.text(config_json)["hidden_size"] == hidden
