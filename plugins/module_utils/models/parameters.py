# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Parameters and bytes of a model, from the headers of its safetensors files. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.models.config_keys import text, whole
from ansible_collections.dgxspark.serving.plugins.module_utils.models.quantization import Quantization, parameters

_SENSES = re.compile(
    r"(^|\.)(visual|vision_\w+|vit|embed_vision|embed_audio|audio_\w+|multi_modal_projector|mm_projector)\."
)
_DRAFT = re.compile(r"(^|\.)mtp\w*\.")
_LAYER = re.compile(r"^(?:model\.|language_model\.)*layers\.(\d+)\.")
_EXPERT = re.compile(r"\.experts\.")
# Every rank of a tensor-parallel group holds these whole: norms, routers, and the way into MLA's latent vectors.
_WHOLE = re.compile(r"norm|\.gate\.|router|\.kv_a_proj|\.q_a_proj|\.fused_qkv_a")
_HEAD = "lm_head.weight"
_DIGITS = b"0123456789"

_BITS = {"BOOL": 8, "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "BF16": 16, "C64": 64}


@dataclass(frozen=True)
class Counts:
    """What a model is made of.

    :ivar parameters: all of them, those for images and for drafting included
    :ivar active: of the language model, what takes part in one token
    :ivar loaded_bytes: what an engine loads: all but the layers for drafting and a head that is the embedding again
    :ivar replicated_bytes: of these, what tensor parallelism does not divide
    """

    parameters: int
    active: int
    loaded_bytes: int
    replicated_bytes: int


@dataclass
class _Alike:
    """Tensors of one shape whose names differ in numbers only, which a mixture of experts has by the ten thousand.

    :ivar name: of one of them
    :ivar number: how many there are
    """

    name: str
    dtype: str
    elements: int
    number: int = 0


def count(headers: Mapping[str, Mapping[str, Any]], config: Mapping[str, Any], packing: Quantization) -> Counts | None:
    """Count what the headers name.

    :param headers: of each file, its tensors with ``dtype`` and ``shape``
    :returns: None without tensors
    """
    settings = text(config)
    share = active_share(settings)
    tied = bool(settings.get("tie_word_embeddings"))
    total = active = loaded = replicated = 0
    for (_plain, draft, *_shape), alike in _groups(headers, settings).items():
        if tied and alike.name.endswith(_HEAD):
            continue
        held = parameters(alike.name, alike.dtype, alike.elements, packing) * alike.number
        size = alike.elements * _bits(alike.dtype) // 8 * alike.number
        total += held
        if draft or _DRAFT.search(alike.name):
            continue
        loaded += size
        if _SENSES.search(alike.name):
            continue
        active += int(held * share) if _EXPERT.search(alike.name) else held
        replicated += size if _WHOLE.search(alike.name) else 0
    return Counts(total, active, loaded, replicated) if loaded else None


def active_share(settings: Mapping[str, Any]) -> float:
    """The share of the routed experts that one token uses."""
    used, experts = experts_per_token(settings), experts_of(settings)
    return min(1.0, used / experts) if used and experts else 1.0


def experts_of(settings: Mapping[str, Any]) -> int | None:
    """Routed experts of a layer; None for a dense model."""
    return whole(settings, "num_experts", "n_routed_experts", "num_local_experts", "moe_num_experts")


def experts_per_token(settings: Mapping[str, Any]) -> int | None:
    """Routed experts that one token uses."""
    return whole(settings, "num_experts_per_tok", "experts_per_token", "top_k_experts", "moe_topk", "moe_top_k")


def _groups(headers: Mapping[str, Mapping[str, Any]], settings: Mapping[str, Any]) -> dict[tuple[Any, ...], _Alike]:
    """Tensors that are counted alike, by name without digits, whether a layer is for drafting, dtype and shape."""
    # Engines leave layers beyond the last one out unless they are told to speculate.
    layers = whole(settings, "num_hidden_layers") if settings.get("num_nextn_predict_layers") else None
    groups: dict[tuple[Any, ...], _Alike] = {}
    for tensors in headers.values():
        for name, found in tensors.items():
            if name == "__metadata__":
                continue
            dtype, shape = found["dtype"], found["shape"]
            draft = layers is not None and _layer(name) >= layers
            key = (name.encode().translate(None, _DIGITS), draft, dtype, *shape)
            alike = groups.get(key)
            if alike is None:
                alike = groups[key] = _Alike(name, dtype, math.prod(shape))
            alike.number += 1
    return groups


def _bits(dtype: str) -> int:
    """Bits of an element: F8_E4M3 has 8, I32 has 32."""
    if dtype in _BITS:
        return _BITS[dtype]
    digits = re.match(r"[A-Z]+(\d+)", dtype)
    return int(digits.group(1)) if digits else 16


def _layer(name: str) -> int:
    """The number of the layer of the language model that a tensor is of; -1 when it is of none."""
    found = _LAYER.match(name)
    return int(found.group(1)) if found else -1
