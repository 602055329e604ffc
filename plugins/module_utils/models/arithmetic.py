# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Parameters and bytes of a model, by arithmetic on its config.json, for when no weights are there to be read. Pure.

What is left out (biases, norms of heads) is under one in a thousand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.models import attention
from ansible_collections.dgxspark.serving.plugins.module_utils.models.config_keys import (
    dtype,
    dtype_bytes,
    text,
    whole,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.models.parameters import (
    Counts,
    active_share,
    experts_of,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.models.quantization import NONE, Quantization

# FP8 checkpoints scale blocks of 128 by 128, each with a factor of two bytes.
_FP8_SCALES = 1 + 2 / 128**2


@dataclass(frozen=True)
class Parts:
    """Parameters by what is done with them.

    :ivar outer: embedding, head, router, norms: never packed
    :ivar inner: attention, dense and shared MLPs: packed by FP8
    :ivar experts: the routed ones
    :ivar senses: for images
    :ivar draft: layers for drafting
    """

    outer: int
    inner: int
    experts: int
    senses: int
    draft: int

    @property
    def total(self) -> int:
        return self.outer + self.inner + self.experts + self.senses + self.draft


def count(config: Mapping[str, Any], packing: Quantization) -> Counts | None:
    """Count by arithmetic; ``loaded_bytes`` is 0 where the packing does not tell what is packed.

    :returns: None for a family that is not known here
    """
    found = parts(config)
    if found is None:
        return None
    settings = text(config)
    active = found.outer + found.inner + int(found.experts * active_share(settings))
    return Counts(found.total, active, loaded_bytes(found, packing, dtype_bytes(dtype(settings))), 0)


def loaded_bytes(found: Parts, packing: Quantization, width: int) -> int:
    """Bytes that an engine loads.

    :param width: bytes of a parameter that is not packed
    """
    plain = (found.outer + found.senses) * width
    if packing.name == NONE:
        return plain + (found.inner + found.experts) * width
    return plain + int((found.inner + found.experts) * _FP8_SCALES) if packing.name == "FP8" else 0


def parts(config: Mapping[str, Any]) -> Parts | None:
    """Parameters of each part; None for a family that is not known here."""
    settings = text(config)
    hidden, words = whole(settings, "hidden_size"), whole(settings, "vocab_size")
    kinds, senses = attention.kinds(settings), _senses(config)
    if hidden is None or words is None or kinds is None or senses is None or "hybrid_override_pattern" in settings:
        return None
    layers = whole(settings, "num_hidden_layers") or 0
    sparse = _sparse_layers(settings, layers)
    each = [_attention(kind, settings, hidden) for kind in kinds]
    dense, shared, experts = _feed_forward(settings, hidden)
    if None in each or (dense is None and sparse < layers):
        return None
    inner = sum(kind["layers"] * size for kind, size in zip(kinds, each, strict=True) if size is not None)
    both = layers if settings.get("enable_moe_block") else layers - sparse
    inner += both * (dense or 0) + sparse * shared
    outer = words * hidden * (1 if settings.get("tie_word_embeddings") else 2)
    outer += layers * 2 * hidden + sparse * hidden * (experts_of(settings) or 0)
    draft = 0
    if whole(settings, "mtp_num_hidden_layers"):
        # A layer that sees everything, and what joins it to the model.
        full = _attention({"kind": "full"}, settings, hidden)
        draft = (full or 0) + (shared + experts if experts else dense or 0) + 2 * hidden * hidden
        draft *= whole(settings, "mtp_num_hidden_layers") or 0
    return Parts(outer, inner, sparse * experts, senses, draft)


def _sparse_layers(settings: Mapping[str, Any], layers: int) -> int:
    """How many layers route to experts."""
    if not experts_of(settings):
        return 0
    if isinstance(settings.get("mlp_layer_types"), list):
        return settings["mlp_layer_types"].count("sparse")
    step = whole(settings, "decoder_sparse_step", "moe_layer_freq", "interleave_moe_layer_step") or 1
    dense = settings.get("mlp_only_layers")
    first = (whole(settings, "first_k_dense_replace") or 0) + (len(dense) if isinstance(dense, list) else 0)
    return (layers - first) // step


def _feed_forward(settings: Mapping[str, Any], hidden: int) -> tuple[int | None, int, int]:
    """Of one layer: a dense MLP, what all tokens share beside the experts, all experts."""
    inner = whole(settings, "intermediate_size")
    dense = 3 * hidden * inner if inner else None
    count_of, size = experts_of(settings), whole(settings, "moe_intermediate_size", "intermediate_size")
    if not count_of or not size:
        return dense, 0, 0
    shared = whole(settings, "shared_expert_intermediate_size") or size * (whole(settings, "n_shared_experts") or 0)
    return dense, 3 * hidden * shared + (hidden if shared else 0), count_of * 3 * hidden * size


def _attention(kind: Mapping[str, Any], settings: Mapping[str, Any], hidden: int) -> int | None:
    """Of one layer of a kind."""
    if kind["kind"] == "state":
        return _linear(settings, hidden)
    found = attention.heads(settings, kind["kind"])
    if found is None:
        return None
    queries, keys, size = found
    if kind["kind"] == "latent":
        return _latent(settings, hidden, queries)
    gated = 2 if settings.get("attn_output_gate") or settings.get("model_type") == "qwen3_next" else 1
    # Where keys are values there is one matrix for both, in layers that see everything.
    both = 1 if kind["kind"] == "full" and settings.get("attention_k_eq_v") else 2
    return hidden * size * (queries * gated + keys * both + queries)


def _latent(settings: Mapping[str, Any], hidden: int, queries: int) -> int | None:
    rank, rope = whole(settings, "kv_lora_rank"), whole(settings, "qk_rope_head_dim") or 0
    plain, value = whole(settings, "qk_nope_head_dim"), whole(settings, "v_head_dim")
    if rank is None or plain is None or value is None:
        return None
    low = whole(settings, "q_lora_rank")
    query = queries * (plain + rope)
    into = low * (hidden + query) if low else hidden * query
    return into + hidden * (rank + rope) + rank * queries * (plain + value) + queries * value * hidden


def _linear(settings: Mapping[str, Any], hidden: int) -> int | None:
    """Gated DeltaNet."""
    names = ("linear_num_key_heads", "linear_num_value_heads", "linear_key_head_dim", "linear_value_head_dim")
    keys, values, key_size, value_size = (whole(settings, name) for name in names)
    if keys is None or values is None or key_size is None or value_size is None:
        return None
    channels = 2 * keys * key_size + values * value_size
    kernel = whole(settings, "linear_conv_kernel_dim") or 0
    return hidden * (channels + 2 * values * value_size + 2 * values) + channels * kernel


def _senses(config: Mapping[str, Any]) -> int | None:
    """Of what turns images into tokens; 0 for a model of text, None for an encoder that is not known here."""
    vision = config.get("vision_config")
    if not isinstance(vision, Mapping):
        return 0
    hidden, inner = whole(vision, "hidden_size"), whole(vision, "intermediate_size")
    layers, patch = whole(vision, "depth", "num_hidden_layers"), whole(vision, "patch_size")
    if hidden is None or inner is None or layers is None or patch is None:
        return None
    pixels = 3 * patch * patch
    if vision.get("model_type") == "gemma4_vision":
        own = layers * (4 * hidden * hidden + 3 * hidden * inner) + pixels * hidden
        out = whole(text(config), "hidden_size") or 0
        return own + 2 * hidden * (whole(vision, "position_embedding_size") or 0) + hidden * out
    merge, out = whole(vision, "spatial_merge_size"), whole(vision, "out_hidden_size")
    if merge is None or out is None or vision.get("deepstack_visual_indexes"):
        return None
    frames = whole(vision, "temporal_patch_size") or 1
    own = layers * (4 * hidden * hidden + 2 * hidden * inner) + pixels * frames * hidden
    joined = hidden * merge * merge
    return own + hidden * (whole(vision, "num_position_embeddings") or 0) + joined * (joined + out)
