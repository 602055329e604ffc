# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the files of a model folder are all there. Rules: field faults M01 and M06, and what vLLM needs to start."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

INDEX = "model.safetensors.index.json"
# Mistral's own layout has params.json in place of config.json.
CONFIGS = ("config.json", "params.json")
TOKENIZERS = ("tokenizer.json", "tokenizer.model", "tekken.json", "vocab.json", "tiktoken.model")
# So many file names are given in one problem.
MOST_NAMES = 3


def shards(index: Mapping[str, Any]) -> list[str]:
    """File names that a weights index asks for, sorted."""
    return sorted(set((index.get("weight_map") or {}).values()))


def problems(sizes: Mapping[str, int | None], wanted_shards: Iterable[str] | None) -> list[str]:
    """What is missing from a model folder; nothing when it looks complete.

    :param sizes: each entry of the folder and its size in bytes, links followed; None for a dangling link
    :param wanted_shards: the files that the index names; None when there is no index
    """
    found = []
    dangling = sorted(name for name, size in sizes.items() if size is None)
    if dangling:
        found.append(f"links that lead nowhere: {_some(dangling)}")
    if not any(name in sizes for name in CONFIGS):
        found.append("no config.json")
    if not any(name in sizes for name in TOKENIZERS):
        found.append("no tokenizer file")
    weights = sorted(name for name in sizes if name.endswith(".safetensors"))
    if wanted_shards is not None:
        missing = [name for name in wanted_shards if name not in sizes]
        if missing:
            found.append(f"{len(missing)} of the weight files in {INDEX} not there: {_some(missing)}")
    elif not weights:
        found.append("no *.safetensors file")
    empty = [name for name in weights if sizes[name] == 0]
    if empty:
        found.append(f"empty weight files: {_some(empty)}")
    return found


def _some(names: list[str]) -> str:
    rest = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {rest} more" if rest > 0 else "")
