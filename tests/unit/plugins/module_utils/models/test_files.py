# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a model folder is complete."""

from __future__ import annotations

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.models import files

WHOLE = {"config.json": 9, "tokenizer.json": 9, "model.safetensors": 9}


def test_complete() -> None:
    assert files.problems(WHOLE, None) == []


@pytest.mark.parametrize(
    ("sizes", "shards", "problem"),
    [
        ({**WHOLE, "model.safetensors": None}, None, "links that lead nowhere: model.safetensors"),
        ({**WHOLE, "model.safetensors": 0}, None, "empty weight files: model.safetensors"),
        ({"config.json": 9, "tokenizer.json": 9}, None, "no *.safetensors file"),
        ({"config.json": 9, "model.safetensors": 9}, None, "no tokenizer file"),
        ({"tokenizer.json": 9, "model.safetensors": 9}, None, "no config.json"),
        (
            WHOLE,
            ["a.safetensors", "b.safetensors", "c.safetensors", "d.safetensors"],
            (
                "4 of the weight files in model.safetensors.index.json"
                " not there: a.safetensors, b.safetensors, c.safetensors and 1 more"
            ),
        ),
    ],
    ids=["dangling M01", "empty", "no weights", "no tokenizer", "no config", "shards M06"],
)
def test_problems(sizes: dict[str, int | None], shards: list[str] | None, problem: str) -> None:
    assert files.problems(sizes, shards) == [problem]


def test_shards_are_named_once() -> None:
    assert files.shards({"weight_map": {"x": "b", "y": "a", "z": "b"}}) == ["a", "b"]
    assert files.shards({}) == []
