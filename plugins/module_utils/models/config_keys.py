# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A config.json read with the names that different families use. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

TEXT_PARTS = ("text_config", "llm_config", "language_config")

DTYPE_BYTES = {"float32": 4, "float16": 2, "bfloat16": 2, "half": 2, "float": 4}


def text(config: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of the language model, which a multimodal one has in a part of their own.

    What only the outer level says (the dtype, the quantization) is kept.
    """
    if isinstance(config.get("thinker_config"), Mapping):
        config = config["thinker_config"]
    for name in TEXT_PARTS:
        if isinstance(config.get(name), Mapping):
            return {**config, **config[name]}
    return dict(config)


def whole(settings: Mapping[str, Any], *names: str) -> int | None:
    """The first of these that is a number above zero, as a whole number."""
    for name in names:
        value = settings.get(name)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0:
            return int(value)
    return None


def dtype(settings: Mapping[str, Any]) -> str | None:
    """The dtype of what is not quantized: ``bfloat16`` and the like."""
    value = settings.get("dtype") or settings.get("torch_dtype")
    return value.removeprefix("torch.") if isinstance(value, str) else None


def dtype_bytes(name: Any) -> int:
    """Bytes of one element; two where the dtype is not known, as engines then choose a half."""
    return DTYPE_BYTES.get(str(name).removeprefix("torch."), 2)


def context_length(settings: Mapping[str, Any]) -> int | None:
    """The longest sequence in tokens, a stretched rotary embedding counted."""
    length = whole(settings, "max_position_embeddings", "max_seq_len", "seq_length", "n_positions")
    scaling = settings.get("rope_scaling") or settings.get("rope_parameters")
    if length is None or not isinstance(scaling, Mapping):
        return length
    kind, factor = scaling.get("rope_type", scaling.get("type")), scaling.get("factor")
    if not isinstance(factor, (int, float)) or kind not in ("yarn", "linear", "dynamic"):
        return length
    return int((whole(scaling, "original_max_position_embeddings") or length) * factor)
