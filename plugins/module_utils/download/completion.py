# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Small files that a model lacks and another model, its base, may have (field fault M10). Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.models import files, processor

_PROCESSOR = (*processor.PROCESSORS, "video_preprocessor_config.json")
_TOKENIZER = (*files.TOKENIZERS, "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "merges.txt")
_TEMPLATE = ("chat_template.jinja", "chat_template.json")
_GENERATION = "generation_config.json"


def lacking(config: Mapping[str, Any], tokenizer: Mapping[str, Any], names: Collection[str]) -> list[str]:
    """Files to look for in the base, sorted: those that are missing and that this kind of model uses.

    :param config: of the model
    :param tokenizer: its tokenizer_config.json; empty when it has none
    :param names: its files
    """
    there = set(names)
    wanted = {_GENERATION}
    if processor.lacks_processor(config, there):
        wanted |= set(_PROCESSOR)
    if there.isdisjoint(files.TOKENIZERS):
        wanted |= set(_TOKENIZER)
    if there.isdisjoint(_TEMPLATE) and not tokenizer.get("chat_template"):
        wanted |= set(_TEMPLATE)
    return sorted(wanted - there)
