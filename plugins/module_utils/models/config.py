# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a model is, from its config.json and the headers of its weights. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.models import (
    arithmetic,
    attention,
    config_keys,
    parameters,
    quantization,
)


def facts(
    config: Mapping[str, Any],
    headers: Mapping[str, Mapping[str, Any]],
    hf_quant_config: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """What is known of a model; None where something is not.

    :param headers: of each safetensors file, its tensors with ``dtype`` and ``shape``; may be empty
    :param hf_quant_config: what ModelOpt writes beside the config
    :returns: among others ``weight_bytes``, what an engine loads (layers for drafting are not), and ``kv``, what
        :mod:`memory_plan` needs: ``kinds`` of layers (see :mod:`attention`; None for an attention that is not known),
        ``element_bytes`` of the KV cache unless the engine is told otherwise, ``replicated_bytes`` of the weights
    """
    settings = config_keys.text(config)
    named = config.get("architectures")
    packing = quantization.read(config, hf_quant_config)
    counts = parameters.count(headers, config, packing) or arithmetic.count(config, packing)
    heads = attention.heads(settings, "sliding")
    width = config_keys.dtype_bytes(config_keys.dtype(settings))
    return {
        "architecture": named[0] if isinstance(named, list) and named else None,
        "model_type": config.get("model_type"),
        "parameters": counts.parameters if counts else None,
        "active_parameters": counts.active if counts else None,
        "layers": config_keys.whole(settings, "num_hidden_layers", "n_layer", "num_layers"),
        "attention_heads": heads[0] if heads else None,
        "kv_heads": heads[1] if heads else None,
        "head_dim": heads[2] if heads else None,
        "dtype": config_keys.dtype(settings),
        "quantization": packing.name,
        "context_length": config_keys.context_length(settings),
        "vision": isinstance(config.get("vision_config"), Mapping),
        "weight_bytes": (counts.loaded_bytes or None) if counts else None,
        "kv": {
            "kinds": attention.kinds(settings),
            "element_bytes": 1 if packing.kv_fp8 else width,
            "replicated_bytes": counts.replicated_bytes if counts else 0,
        },
    }
