# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tiny models are whole: configuration, weights and tokenizer agree."""

from __future__ import annotations

import json
import struct
from math import prod
from pathlib import Path
from typing import Any

import pytest

from lab.engines.tiny_model import byte_symbols, vocabulary, word_ids, write_model


@pytest.fixture(scope="module", params=[False, True], ids=["dense", "mixture"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a model's folder."""
    target = tmp_path_factory.mktemp("models") / "tiny"
    write_model(target, mixture=request.param)
    return target


def load(folder: Path, name: str) -> Any:
    """Return a JSON file of the model."""
    return json.loads((folder / name).read_text(encoding="utf-8"))


def weights(folder: Path) -> tuple[dict[str, Any], bytes]:
    """Return the header and the data of the weights."""
    content = (folder / "model.safetensors").read_bytes()
    length = struct.unpack("<Q", content[:8])[0]
    header = json.loads(content[8 : 8 + length])
    assert header.pop("__metadata__") == {"format": "pt"}
    return header, content[8 + length :]


def test_files_can_be_read_by_all(folder: Path) -> None:
    names = {path.name for path in folder.iterdir()}
    assert names >= {"config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json"}
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o644}


def test_weights_fill_the_file_without_gaps(folder: Path) -> None:
    header, data = weights(folder)
    end = 0
    for tensor in header.values():
        begin, following = tensor["data_offsets"]
        assert begin == end
        assert following - begin == 2 * prod(tensor["shape"])
        end = following
    assert end == len(data)


def test_embeddings_fit_configuration_and_tokenizer(folder: Path) -> None:
    config, tokenizer = load(folder, "config.json"), load(folder, "tokenizer.json")
    header, _data = weights(folder)
    shape = [config["vocab_size"], config["hidden_size"]]
    assert header["lm_head.weight"]["shape"] == header["model.embed_tokens.weight"]["shape"] == shape
    assert config["vocab_size"] >= len(tokenizer["model"]["vocab"])
    assert sorted(tokenizer["model"]["vocab"].values()) == list(range(len(tokenizer["model"]["vocab"])))


def test_only_words_and_the_end_are_ever_said(folder: Path) -> None:
    header, data = weights(folder)
    begin, _end = header["lm_head.weight"]["data_offsets"]
    rows, width = header["lm_head.weight"]["shape"]
    said = {row for row in range(rows) if any(data[begin + 2 * width * row : begin + 2 * width * (row + 1)])}
    assert said == word_ids() | {load(folder, "config.json")["eos_token_id"]}


def test_norms_are_one_in_bfloat16(folder: Path) -> None:
    header, data = weights(folder)
    begin, end = header["model.norm.weight"]["data_offsets"]
    assert data[begin:end] == b"\x80\x3f" * ((end - begin) // 2)


def test_merges_build_every_word_from_bytes() -> None:
    tokens, merges = vocabulary()
    assert len(set(byte_symbols())) == 256
    for left, right in merges:
        assert {left, right, left + right} <= tokens.keys()


def test_equal_models_each_time(folder: Path, tmp_path: Path) -> None:
    again = tmp_path / "tiny"
    write_model(again, mixture="moe" in load(folder, "config.json")["model_type"])
    for path in folder.iterdir():
        assert path.read_bytes() == (again / path.name).read_bytes()
