# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Parameters and bytes, from headers and by arithmetic."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.models import arithmetic, parameters
from ansible_collections.dgxspark.serving.plugins.module_utils.models.parameters import Counts
from ansible_collections.dgxspark.serving.plugins.module_utils.models.quantization import Quantization
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.models.real_models import facts, read

PLAIN = Quantization()
MOE = {"num_hidden_layers": 2, "num_experts": 8, "num_experts_per_tok": 2}


def headers(*tensors: tuple[str, str, list[int]]) -> dict[str, dict[str, Any]]:
    return {"a.safetensors": {name: {"dtype": dtype, "shape": shape} for name, dtype, shape in tensors}}


def count(*tensors: tuple[str, str, list[int]], packing: Quantization = PLAIN, **config: Any) -> Counts | None:
    return parameters.count(headers(*tensors), {**MOE, **config}, packing)


def test_what_one_token_uses() -> None:
    found = count(
        ("model.embed_tokens.weight", "BF16", [100, 10]),
        ("model.layers.0.mlp.experts.3.up_proj.weight", "BF16", [40, 10]),
        ("model.layers.0.mlp.shared_experts.up_proj.weight", "BF16", [4, 10]),
        ("model.layers.0.mlp.gate.weight", "BF16", [8, 10]),
        ("model.visual.blocks.0.attn.qkv.weight", "BF16", [3, 10]),
    )
    # A quarter of the experts; the part for images is loaded, and takes no part.
    assert found == Counts(parameters=1550, active=1000 + 100 + 40 + 80, loaded_bytes=3100, replicated_bytes=160)


@pytest.mark.parametrize(
    "name", ["mtp.layers.0.mlp.up_proj.weight", "model.mtp.fc.weight", "model.layers.2.mlp.up_proj.weight"]
)
def test_layers_for_drafting_are_not_loaded(name: str) -> None:
    found = count(("a", "F32", [10]), (name, "F32", [10]), num_nextn_predict_layers=1)
    assert found == Counts(20, 10, 40, 0)


def test_layers_of_an_encoder_are_no_draft() -> None:
    found = count(("model.visual.layers.26.mlp.fc1.weight", "BF16", [10]), num_nextn_predict_layers=1)
    assert found == Counts(10, 0, 20, 0)


def test_a_head_that_is_the_embedding_again_is_not_loaded() -> None:
    tensors = ("model.embed_tokens.weight", "BF16", [10]), ("lm_head.weight", "BF16", [10])
    assert count(*tensors, tie_word_embeddings=True) == Counts(10, 10, 20, 0)
    assert count(*tensors, tie_word_embeddings=False) == Counts(20, 20, 40, 0)


def test_packed_weights() -> None:
    found = count(
        ("model.layers.0.mlp.experts.0.up_proj.weight", "U8", [16, 8]),
        ("model.layers.0.mlp.experts.0.up_proj.weight_scale", "F8_E4M3", [16, 1]),
        ("model.layers.0.self_attn.o_proj.weight", "BF16", [16]),
        packing=Quantization("NVFP4", 4),
    )
    assert found == Counts(256 + 16, 64 + 16, 128 + 16 + 32, 0)


def test_tensors_that_differ_in_a_number_only() -> None:
    names = [
        f"model.layers.{layer}.mlp.experts.{expert}.w{part}" for layer in (0, 1) for expert in (0, 1) for part in (1, 2)
    ]
    found = count(*((name, "F8_E4M3", [10]) for name in names), packing=Quantization("FP8", 8))
    assert found == Counts(80, 20, 80, 0)
    scales = (f"model.layers.0.mlp.experts.{expert}.weight_scale_2" for expert in (0, 1))
    assert count(*((name, "F32", [1]) for name in scales), packing=Quantization("NVFP4", 4)) == Counts(0, 0, 8, 0)


def test_what_mla_does_not_divide() -> None:
    found = count(
        ("model.layers.0.self_attn.kv_a_proj_with_mqa.weight", "BF16", [100]),
        ("model.layers.0.self_attn.kv_b_proj.weight", "BF16", [100]),
        ("model.layers.0.input_layernorm.weight", "BF16", [10]),
    )
    assert found is not None and found.replicated_bytes == 220


def test_without_headers_nothing_is_counted() -> None:
    assert count() is None
    assert parameters.count({}, MOE, PLAIN) is None
    assert parameters.count({"a.safetensors": {"__metadata__": {"format": "pt"}}}, MOE, PLAIN) is None


@pytest.mark.parametrize("name", ["tiny-qwen3", "tiny-qwen3-moe"])
def test_arithmetic_agrees_with_the_headers_of_the_labs_models(name: str) -> None:
    found = read(name)
    by_headers = parameters.count(found["headers"], found["config"], PLAIN)
    by_arithmetic = arithmetic.count(found["config"], PLAIN)
    assert by_headers is not None and by_arithmetic is not None
    assert by_headers.loaded_bytes == found["published"]["total_bytes"]
    assert by_arithmetic.loaded_bytes == pytest.approx(by_headers.loaded_bytes, rel=1e-3)
    assert by_arithmetic.active == pytest.approx(by_headers.active, rel=1e-3)


@pytest.mark.parametrize(
    "name",
    ["qwen3-8b", "qwen3.6-35b-a3b-fp8", "qwen3.8-27b", "gemma-4-31b-it", "deepseek-v2-lite", "glm-4.7-flash"],
)
def test_arithmetic_agrees_with_published_headers(name: str) -> None:
    published = read(name)["published"]
    wanted = published["total_bytes"] - published["draft_bytes"]
    assert facts(name)["weight_bytes"] == pytest.approx(wanted, rel=3e-4)


def test_arithmetic_agrees_with_model_cards() -> None:
    assert facts("qwen3.5-35b-a3b")["parameters"] == pytest.approx(35.95e9, rel=1e-4)
    parts = arithmetic.parts(read("qwen3.5-122b-a10b-fp8")["config"])
    assert parts is not None
    # The card counts the language model.
    assert parts.outer + parts.inner + parts.experts == pytest.approx(122.1e9, rel=1e-3)
    assert facts("qwen3.5-122b-a10b-fp8")["active_parameters"] == pytest.approx(10e9, rel=0.05)


@pytest.mark.parametrize(
    "change",
    [
        {"vision_config": {"hidden_size": 8}},
        {"vision_config": {"hidden_size": 8, "intermediate_size": 8, "depth": 1, "patch_size": 2}},
        {"hybrid_override_pattern": "M*"},
        {"index_topk": 2048},
        {"vocab_size": None},
        {"intermediate_size": None},
    ],
)
def test_a_family_that_is_not_known_is_not_guessed(change: dict[str, Any]) -> None:
    assert arithmetic.count({**read("qwen3-8b")["config"], **change}, PLAIN) is None


def test_bytes_are_not_guessed_where_it_is_not_known_what_is_packed() -> None:
    found = arithmetic.count(read("qwen3-8b")["config"], Quantization("AWQ", 4))
    assert found is not None
    assert (found.parameters, found.loaded_bytes) == (8190722048, 0)
