# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The small files that a model needs."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.models import files

WHOLE = {"config.json", "tokenizer.json"}
WEIGHTS = ["model.safetensors"]
SEES = {"vision_config": {}}


@pytest.mark.parametrize(
    ("names", "weights", "config"),
    [
        (WHOLE, WEIGHTS, {}),
        ({"params.json", "tekken.json"}, ["consolidated.safetensors"], {}),
        ({"config.json", "vocab.json", "merges.txt"}, WEIGHTS, {}),
        ({"config.json", "qwen.tiktoken"}, WEIGHTS, {}),
        (WHOLE | {"preprocessor_config.json"}, WEIGHTS, SEES),
        (set(), ["a.gguf"], {}),
    ],
    ids=["usual", "mistral", "two files", "tiktoken", "vision", "gguf"],
)
def test_all_there(names: set[str], weights: list[str], config: dict[str, Any]) -> None:
    assert files.problems(names, weights, config, "") == []


@pytest.mark.parametrize(
    ("names", "config", "base", "problems"),
    [
        ({"tokenizer.json"}, {}, "", ["no config.json"]),
        ({"config.json"}, {}, "", ["no tokenizer file"]),
        ({"config.json", "vocab.json"}, {}, "", ["no tokenizer file"]),
        (
            WHOLE,
            SEES,
            "acme/base",
            [
                (
                    "no preprocessor_config.json or processor_config.json for its vision part"
                    " (set model_base: acme/base, to take it from there)"
                )
            ],
        ),
        (
            WHOLE,
            SEES,
            "",
            [
                (
                    "no preprocessor_config.json or processor_config.json for its vision part"
                    " (set model_base to the model that it was made from, to take it from there)"
                )
            ],
        ),
    ],
)
def test_missing(names: set[str], config: dict[str, Any], base: str, problems: list[str]) -> None:
    assert files.problems(names, WEIGHTS, config, base) == problems
