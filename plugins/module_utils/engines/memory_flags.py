# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an engine's flags say about its memory. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.engines import sglang, vllm

ENGINES: dict[str, ModuleType] = {"vllm": vllm, "sglang": sglang}

# For each engine its flags: the longest sequence, sequences at once, dtype of the KV cache, tokens of a batch.
_FLAGS = {
    "vllm": ("max-model-len", "max-num-seqs", "kv-cache-dtype", "max-num-batched-tokens"),
    "sglang": ("context-length", "max-running-requests", "kv-cache-dtype", "chunked-prefill-size"),
}
# vLLM reads 32k as 32000 and 32K as 32768.
_UNITS = {"k": 10**3, "m": 10**6, "g": 10**9, "K": 2**10, "M": 2**20, "G": 2**30}
# The engine takes as long a context as fits.
_WHATEVER_FITS = ("auto", "-1")


def engine_memory(engine: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The flags that :mod:`memory_plan` needs, None where the engine or the model decides.

    :param settings: a deployment's values by their keys, as :mod:`plan` reads them
    """
    named = ENGINES[engine].dashed
    chosen = {named(flag): value for flag, value in settings["engine_args"].items()}
    length, sequences, dtype, batched = (chosen.get(flag) for flag in _FLAGS[engine])
    return {
        "tensor_parallel_size": settings["tensor_parallel_size"],
        "pipeline_parallel_size": settings["pipeline_parallel_size"],
        "max_model_len": 1 if str(length) in _WHATEVER_FITS else _number(length),
        "max_num_seqs": _number(sequences),
        "gpu_memory_utilization": ENGINES[engine].memory_share(settings),
        "kv_cache_dtype": str(dtype or "auto"),
        "max_num_batched_tokens": _number(batched),
    }


def _number(value: Any) -> int | None:
    """A whole number above zero, also with a unit; None for anything else, which the engine will judge."""
    text = str(value)
    unit = _UNITS.get(text[-1:], 1)
    digits = text if unit == 1 else text[:-1]
    try:
        number = int(float(digits) * unit)
    except (ValueError, OverflowError):
        return None
    return number if number > 0 else None
