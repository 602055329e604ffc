# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What each layer of a model remembers of a sequence. Pure.

A model's layers fall into kinds, and each kind is a mapping (it goes from a host to the controller as JSON):

- ``full``: keys and values of every token; ``heads`` of ``per_head`` elements (both together) for each token
- ``sliding``: the same for the last ``window`` tokens only
- ``latent``: one vector of ``per_head`` elements for each token, which every rank holds whole (MLA)
- ``state``: ``bytes`` for a sequence, however long it is (linear attention, Mamba)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.models.config_keys import dtype, dtype_bytes, whole

_NAMES = {
    "full_attention": "full",
    "attention": "full",
    "global": "full",
    "sliding_attention": "sliding",
    "local": "sliding",
    "chunked_attention": "sliding",
    "linear_attention": "linear",
    "mamba": "mamba",
    "moe": "",
    "mlp": "",
}
_PATTERN_LETTERS = {"M": "mamba", "*": "full", "E": "", "-": ""}

# Attention whose memory is laid out in ways of its own (compressed, with an index beside it, layers with heads of their
# own), and state spaces that no list of layers tells apart.
_NOT_READ = (
    "attention_other_setting",
    "block_configs",
    "compress_ratios",
    "cross_attention_layers",
    "hybrid_layer_pattern",
    "index_head_dim",
    "index_topk",
    "is_encoder_decoder",
    "linear_attn_config",
    "mamba_d_ssm",
    "mamba_d_state",
    "state_size",
)

# Families whose config may leave out that every nth layer sees everything and the others a window.
_PATTERN_DEFAULTS = {"gemma2": 2, "gemma3": 6, "gemma3_text": 6, "cohere2": 4}


def kinds(settings: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """The kinds of layers and how many there are of each.

    :param settings: the language model's
    :returns: None when this attention is not known here
    """
    layers = _layers(settings)
    if layers is None or any(settings.get(name) for name in _NOT_READ):
        return None
    found = []
    for name, count in Counter(layer for layer in layers if layer).items():
        kind = _kind(name, settings)
        if kind is None:
            return None
        found.append({"layers": count, **kind})
    return found


def _layers(settings: Mapping[str, Any]) -> list[str] | None:
    """For each layer its kind, empty for one that remembers nothing; None when it cannot be told."""
    names = _listed(settings)
    if names is None:
        count = whole(settings, "num_hidden_layers", "n_layer", "num_layers")
        if count is None:
            return None
        names = _by_rule(settings, count)
    # The last layers of some models use the keys and values of earlier ones.
    shared = whole(settings, "num_kv_shared_layers") or 0
    return names[: len(names) - shared] if None not in names else None


def _listed(settings: Mapping[str, Any]) -> list[Any] | None:
    """The kinds by a list or a pattern in the config."""
    pattern = settings.get("hybrid_override_pattern")
    if isinstance(pattern, str):
        return [_PATTERN_LETTERS.get(letter) for letter in pattern]
    listed = settings.get("layer_types") or settings.get("layers_block_type")
    return [_NAMES.get(str(name)) for name in listed] if isinstance(listed, list) else None


def _by_rule(settings: Mapping[str, Any], count: int) -> list[Any]:
    interval = whole(settings, "full_attention_interval")
    if interval:
        return ["linear" if (number + 1) % interval else "full" for number in range(count)]
    listed = settings.get("attn_type_list")
    if isinstance(listed, list) and 0 in listed:
        return [None]
    window = whole(settings, "sliding_window")
    if not window or settings.get("use_sliding_window") is False:
        return ["full"] * count
    pattern = whole(settings, "sliding_window_pattern") or _PATTERN_DEFAULTS.get(settings.get("model_type", ""))
    if pattern:
        return ["sliding" if (number + 1) % pattern else "full" for number in range(count)]
    first = whole(settings, "max_window_layers") or 0
    return ["full"] * min(first, count) + ["sliding"] * max(0, count - first)


def heads(settings: Mapping[str, Any], kind: str) -> tuple[int, int, int] | None:
    """Query heads, key/value heads and the size of a head of one kind of attention."""
    queries = whole(settings, "num_attention_heads", "n_head")
    hidden = whole(settings, "hidden_size", "n_embd")
    if queries is None or hidden is None:
        return None
    if isinstance(settings.get("num_key_value_heads"), list):
        return None
    keys = whole(settings, "num_key_value_heads", "num_kv_heads") or queries
    size = whole(settings, "head_dim") or hidden // queries
    if kind == "full":
        # Gemma 4: layers that see everything have fewer and larger heads.
        keys = whole(settings, "num_global_key_value_heads") or keys
        size = whole(settings, "global_head_dim") or size
    return queries, keys, size


def _kind(name: str, settings: Mapping[str, Any]) -> dict[str, Any] | None:
    if name in ("linear", "mamba"):
        size = _linear_state(settings) if name == "linear" else _mamba_state(settings)
        return None if size is None else {"kind": "state", "bytes": size}
    rank = whole(settings, "kv_lora_rank")
    if rank:
        per_token = rank + (whole(settings, "qk_rope_head_dim") or 0)
        return {"kind": "latent", "heads": 1, "per_head": per_token}
    found = heads(settings, name)
    if found is None:
        return None
    size = whole(settings, "v_head_dim") or found[2]
    kind = {"kind": name, "heads": found[1], "per_head": found[2] + size}
    if name == "sliding":
        window = whole(settings, "sliding_window", "attention_chunk_size")
        if window is None:
            return None
        kind["window"] = window
    return kind


def _state_bytes(settings: Mapping[str, Any], convolution: int, recurrent: int) -> int:
    """The convolution's state has the model's dtype; the recurrent one has its own where the config says so."""
    model = dtype_bytes(dtype(settings))
    own = settings.get("mamba_ssm_dtype") or settings.get("mamba_ssm_cache_dtype")
    return convolution * model + recurrent * (dtype_bytes(own) if own else model)


def _linear_state(settings: Mapping[str, Any]) -> int | None:
    """Gated DeltaNet: a matrix for each value head, and the inputs that the convolution still needs."""
    names = ("linear_num_key_heads", "linear_num_value_heads", "linear_key_head_dim", "linear_value_head_dim")
    keys, values, key_size, value_size = (whole(settings, name) for name in names)
    kernel = whole(settings, "linear_conv_kernel_dim")
    if keys is None or values is None or key_size is None or value_size is None or kernel is None:
        return None
    channels = 2 * keys * key_size + values * value_size
    return _state_bytes(settings, (kernel - 1) * channels, values * key_size * value_size)


def _mamba_state(settings: Mapping[str, Any]) -> int | None:
    """Mamba 2."""
    names = ("mamba_num_heads", "mamba_head_dim", "ssm_state_size", "n_groups", "conv_kernel")
    count, size, state, groups, kernel = (whole(settings, name) for name in names)
    if count is None or size is None or state is None or groups is None or kernel is None:
        return None
    channels = count * size + 2 * groups * state
    return _state_bytes(settings, (kernel - 1) * channels, count * size * state)
