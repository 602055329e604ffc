# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether what an engine needs beside the weights is there: config, tokenizer, image processor."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.models import processor

# Mistral's own layout has params.json in place of config.json.
CONFIGS = ("config.json", "params.json")
TOKENIZERS = (
    "tokenizer.json",
    "tokenizer.model",
    "tokenizer.model.v3",
    "tekken.json",
    "tiktoken.model",
    "spiece.model",
    "sentencepiece.bpe.model",
    "vocab.txt",
)
# Half a tokenizer each.
_TOKENIZER_PARTS = {"vocab.json", "merges.txt"}


def problems(names: Collection[str], weights: Collection[str], config: Mapping[str, Any], base: str) -> list[str]:
    """Which of the small files are missing.

    :param names: files of the model's folder
    :param weights: its weight files
    :param config: its config.json; empty where there is none
    :param base: the model that it was made from, where it says so
    """
    # GGUF files bring all of it in themselves.
    if weights and all(name.endswith(".gguf") for name in weights):
        return []
    there = set(names)
    found = []
    if there.isdisjoint(CONFIGS):
        found.append("no config.json")
    tokenizer = not there.isdisjoint(TOKENIZERS) or any(name.endswith(".tiktoken") for name in there)
    if not tokenizer and not there >= _TOKENIZER_PARTS:
        found.append("no tokenizer file")
    if processor.lacks_processor(config, there):
        remedy = f"set model_base: {base}" if base else "set model_base to the model that it was made from"
        found.append(f"no {' or '.join(processor.PROCESSORS)} for its vision part ({remedy}, to take it from there)")
    return found
