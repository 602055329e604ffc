# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which files of a repository are downloaded."""

from __future__ import annotations

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.download import choice

SMALL = ["README.md", "config.json", "tokenizer.json"]
SHARDS = ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors", "model.safetensors.index.json"]


@pytest.mark.parametrize(
    "others",
    [
        [],
        [".gitattributes"],
        ["pytorch_model.bin", "pytorch_model-00001-of-00002.bin", "pytorch_model.bin.index.json"],
        ["original/consolidated.00.pth", "original/params.json", "original/model.safetensors"],
        ["metal/model.bin", "onnx/model.onnx", "onnx/config.json", "openvino/openvino_model.xml"],
        ["tiny-Q4_K_M.gguf", "model.ckpt", "tf_model.h5", "flax_model.msgpack", "training_args.bin", "optimizer.pt"],
        ["consolidated.safetensors", "params.json"],
        ["consolidated-00001-of-00002.safetensors", "consolidated.safetensors.index.json"],
    ],
)
def test_weights_come_in_one_format(others: list[str]) -> None:
    assert choice.wanted([*SHARDS, *others, *SMALL]) == sorted(SMALL + SHARDS)


@pytest.mark.parametrize(
    "name",
    ["chat_template.jinja", "tokenizer.model", "tiktoken.model", "modeling_tiny.py", "merges.txt", "tekken.json"],
)
def test_what_an_engine_reads_beside_weights_comes(name: str) -> None:
    assert name in choice.wanted([*SHARDS, *SMALL, name])


def test_a_model_in_mistrals_layout_alone_comes_whole() -> None:
    names = ["consolidated.safetensors", "params.json", "tekken.json"]
    assert choice.wanted(names) == names


def test_a_repository_without_safetensors_is_refused() -> None:
    with pytest.raises(choice.NoWeights, match=r"^3 \*\.gguf, 1 \*\.md$"):
        choice.wanted(["a.gguf", "b.gguf", "c.gguf", "README.md"])
    with pytest.raises(choice.NoWeights, match="^no file$"):
        choice.wanted([])
