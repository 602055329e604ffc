# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which weight files a model wants."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.models import weights

MAIN = "model.safetensors.index.json"
SHARDS = [f"model-0000{number}-of-00004.safetensors" for number in range(1, 5)]


def named(*names: str, total: Any = None) -> dict[str, Any]:
    """An index that names files."""
    return {"weight_map": dict(enumerate(names)), "metadata": {"total_size": total}}


@pytest.mark.parametrize(
    ("sizes", "indexes", "files"),
    [
        ({"model.safetensors": 9}, {}, ["model.safetensors"]),
        ({MAIN: 1, "a.safetensors": 9, "b.safetensors": 9}, {MAIN: named("a.safetensors", "b.safetensors")}, None),
        (dict.fromkeys(SHARDS, 9), {}, SHARDS),
        ({"pytorch_model.bin": 9, "training_args.bin": 3}, {}, ["pytorch_model.bin"]),
        ({"tiny-00001-of-00002.gguf": 9, "tiny-00002-of-00002.gguf": 9}, {}, None),
        ({"consolidated.safetensors": 9, "a.safetensors": 9}, {MAIN: named("a.safetensors")}, None),
        (
            {"model.safetensors": 9, "vae/a.safetensors": 9},
            {"vae/x.safetensors.index.json": named("a.safetensors")},
            None,
        ),
    ],
    ids=["one", "index", "no index", "bin", "gguf", "mistral", "below"],
)
def test_whole(sizes: dict[str, int | None], indexes: dict[str, Any], files: list[str] | None) -> None:
    wanted = files or sorted(name for name in sizes if name != MAIN)
    assert weights.judge(sizes, indexes) == weights.Weights(wanted)


@pytest.mark.parametrize(
    ("sizes", "indexes", "problems", "missing"),
    [
        ({"config.json": 9}, {}, ["no weight files (*.safetensors, *.bin or *.gguf)"], None),
        ({"vae/a.safetensors": 9}, {}, ["no weight files (*.safetensors, *.bin or *.gguf)"], None),
        ({"model.safetensors": 0}, {}, ["empty weight files: model.safetensors"], None),
        (
            {"model.safetensors": 9},
            {MAIN: named(*SHARDS, total=70)},
            [f"4 of the weight files in {MAIN} not there: {', '.join(SHARDS[:3])} and 1 more"],
            70,
        ),
        (
            {SHARDS[0]: 9, SHARDS[1]: 0},
            {MAIN: named(*SHARDS[:3], total=30.0)},
            [f"1 of the weight files in {MAIN} not there: {SHARDS[2]}", f"empty weight files: {SHARDS[1]}"],
            21,
        ),
        ({SHARDS[0]: 9}, {MAIN: named(*SHARDS[:2])}, [f"1 of the weight files in {MAIN} not there: {SHARDS[1]}"], None),
        (
            {SHARDS[0]: 9, SHARDS[1]: None, SHARDS[3]: 9},
            {},
            [f"1 of the weight files not there: {SHARDS[2]}"],
            None,
        ),
    ],
    ids=["none", "none at the top", "empty", "other files M06", "half M06", "no total", "no index"],
)
def test_not_whole(
    sizes: dict[str, int | None], indexes: dict[str, Any], problems: list[str], missing: int | None
) -> None:
    found = weights.judge(sizes, indexes)
    assert (found.problems, found.missing) == (problems, missing)


def test_a_link_that_leads_nowhere_counts_as_missing_bytes_m01() -> None:
    found = weights.judge({"a.safetensors": None}, {MAIN: named("a.safetensors", total=50)})
    assert (found.problems, found.missing) == ([], 50)


def test_extra_files_are_a_note_m06() -> None:
    found = weights.judge({"a.safetensors": 9, "b.safetensors": 0}, {MAIN: named("a.safetensors")})
    assert (found.files, found.problems) == (["a.safetensors"], [])
    assert found.notes == ["weight files that no index names, so that no engine loads them: b.safetensors"]


def test_a_second_form_that_was_not_downloaded_is_a_note() -> None:
    bins = "pytorch_model.bin.index.json"
    found = weights.judge({"a.safetensors": 9}, {MAIN: named("a.safetensors"), bins: named("a.bin", total=7)})
    assert (found.files, found.problems, found.missing) == (["a.safetensors"], [], 0)
    assert found.notes == [f"none of the files that {bins} names is there, but another set is whole"]


@pytest.mark.parametrize("content", [{}, {"weight_map": []}, {"weight_map": None}, {"weight_map": {}, "metadata": [1]}])
def test_no_index(content: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"^{MAIN} is no index of weights$"):
        weights.judge({}, {MAIN: content})
