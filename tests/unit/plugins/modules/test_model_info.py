# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The edge of ``model_info``: real folders."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils import model_reference
from ansible_collections.dgxspark.serving.plugins.modules import model_info

HUB = model_reference.parse("org/name")


def repository(root: Path) -> Path:
    folder = root / "models--org--name"
    (folder / "snapshots" / "abc").mkdir(parents=True)
    (folder / "refs").mkdir()
    (folder / "refs" / "main").write_text("abc\n")
    return folder


def test_a_path(tmp_path: Path) -> None:
    model = model_reference.parse(str(tmp_path))
    assert model_info.find(model, "") == (str(tmp_path), str(tmp_path), [])


def test_a_path_that_is_not_there(tmp_path: Path) -> None:
    path = str(tmp_path / "none")
    assert model_info.find(model_reference.parse(path), "")[2] == [f"no folder {path}"]


def test_an_id_is_found_in_the_users_cache_on_this_host_m03(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    folder = repository(tmp_path)
    assert model_info.find(HUB, "") == (str(folder / "snapshots" / "abc"), str(tmp_path), [])


def test_an_id_without_a_snapshot(tmp_path: Path) -> None:
    folder = repository(tmp_path)
    (folder / "refs" / "main").write_text("other")
    assert model_info.find(HUB, str(tmp_path))[2] == [f"no snapshot in {folder} that refs/main names"]


def test_sizes_follow_links(tmp_path: Path) -> None:
    (tmp_path / "blob").write_bytes(b"12345")
    (tmp_path / "good").symlink_to("blob")
    (tmp_path / "dangling").symlink_to("nowhere")
    assert model_info.sizes(str(tmp_path)) == {"blob": 5, "good": 5, "dangling": None}


def test_index(tmp_path: Path) -> None:
    assert model_info.wanted_shards(str(tmp_path)) is None
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"w": "a.safetensors"}}))
    assert model_info.wanted_shards(str(tmp_path)) == ["a.safetensors"]
