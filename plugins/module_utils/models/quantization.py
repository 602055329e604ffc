# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a model's weights are packed. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.models.config_keys import text, whole

NONE = "none"

# What belongs to packed weights without being a parameter: scales, zero points, orders of columns, shapes.
_BESIDE = re.compile(
    r"(_scale(_inv|_2)?|[._]scales|_global_scale|_zero_point|\.qzeros|[._]g_idx|_shape|[._]absmax|quant_map"
    r"|\.nested_\w+|\.quant_state\.\w+|\.SCB)$"
)
_WORDS = re.compile(r"\.(qweight|weight_packed)$")


@dataclass(frozen=True)
class Quantization:
    """How weights are packed.

    :ivar name: for people: ``FP8``, ``NVFP4``, ``MXFP4``, ``AWQ``, ``compressed-tensors int4`` ... or ``none``
    :ivar bits: of one packed weight; 16 when there is no packing
    :ivar kv_fp8: whether the checkpoint wants its KV cache in FP8
    """

    name: str = NONE
    bits: int = 16
    kv_fp8: bool = False


def read(config: Mapping[str, Any], separate: Mapping[str, Any] | None = None) -> Quantization:
    """Read what the config says, or ModelOpt's file of its own.

    :param separate: ``hf_quant_config.json``
    """
    found = text(config).get("quantization_config") or config.get("compression_config")
    if isinstance(found, Mapping):
        return _of(found)
    if separate and isinstance(separate.get("quantization"), Mapping):
        return _modelopt(separate["quantization"])
    return Quantization()


def _of(found: Mapping[str, Any]) -> Quantization:
    method = str(found.get("quant_method", "")).lower()
    bits = whole(found, "bits", "w_bit")
    if method.startswith("modelopt") or "quant_algo" in found:
        return _modelopt(found)
    if method == "compressed-tensors":
        return _compressed(found)
    if method in ("awq", "gptq", "auto-round", "auto_round"):
        name = {"awq": "AWQ", "gptq": "GPTQ"}.get(method, "AutoRound")
        return Quantization(name, bits or 4)
    if method == "bitsandbytes":
        return Quantization("bitsandbytes", 4 if found.get("load_in_4bit") else 8)
    if method in ("fp8", "fbgemm_fp8"):
        return Quantization("FP8", 8)
    if method in ("mxfp4", "nvfp4"):
        return Quantization(method.upper(), 4)
    return Quantization(method or "unknown", bits or 8)


def _modelopt(found: Mapping[str, Any]) -> Quantization:
    algorithm = str(found.get("quant_algo") or "").upper()
    wanted = found.get("kv_cache_quant_algo") or found.get("kv_cache_scheme")
    kv_fp8 = _is_fp8(wanted)
    if algorithm == "MIXED_PRECISION":
        layers = _mappings(found.get("quantized_layers"))
        each = {str(layer.get("quant_algo", "")).upper() for layer in layers}
        return Quantization("/".join(sorted(filter(None, each))) or "mixed", 4 if "NVFP4" in each else 8, kv_fp8)
    if "NVFP4" in algorithm:
        return Quantization("NVFP4", 4, kv_fp8)
    if "MXFP4" in algorithm:
        return Quantization("MXFP4", 4, kv_fp8)
    if "AWQ" in algorithm:
        return Quantization("AWQ", 4, kv_fp8)
    return Quantization(algorithm or "unknown", 8, kv_fp8)


def _mappings(found: Any) -> list[Mapping[str, Any]]:
    """The mappings in a list, or in another mapping."""
    values = found.values() if isinstance(found, Mapping) else found
    return [one for one in values if isinstance(one, Mapping)] if isinstance(found, (Mapping, list)) else []


def _is_fp8(wanted: Any) -> bool:
    if isinstance(wanted, Mapping):
        return wanted.get("type") == "float" and wanted.get("num_bits") == 8
    return str(wanted or "").upper() == "FP8"


def _compressed(found: Mapping[str, Any]) -> Quantization:
    """The format says it for one group of layers; each group's weights say it otherwise."""
    names, bits = set(), []
    for one in _mappings([group.get("weights") for group in _mappings(found.get("config_groups"))]):
        size, kind = whole(one, "num_bits") or 8, one.get("type", "int")
        bits.append(size)
        if kind != "float":
            names.add(f"int{size}")
        elif size == 4:
            names.add("mxfp4" if one.get("group_size") == 32 else "nvfp4")
        else:
            names.add(f"fp{size}")
    name = "/".join(sorted(names)) or str(found.get("format", "unknown"))
    return Quantization(f"compressed-tensors {name}", min(bits, default=8), _is_fp8(found.get("kv_cache_scheme")))


def parameters(name: str, dtype: str, elements: int, packing: Quantization) -> int:
    """Parameters that a tensor holds.

    :param name: the tensor's
    :param dtype: as the header spells it: ``BF16``, ``F8_E4M3``, ``I32``, ``U8`` ...
    :param elements: of the tensor as it is stored
    """
    if packing.name == NONE:
        return elements
    if _BESIDE.search(name):
        return 0
    if dtype == "I32" and _WORDS.search(name):
        return elements * 32 // packing.bits
    if dtype in ("U8", "I8") and packing.bits == 4:
        return elements * 2
    return elements
