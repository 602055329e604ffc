# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Entries of models in real folders."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.models import canonical
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.models.model_trees import (
    REVISION,
    cached,
    folder,
)

TOP = "models--acme--tiny"
SNAPSHOT = f"{TOP}/snapshots/{REVISION}"
FILES = {"config.json": b"{}", "onnx/model.onnx": b"weights"}
CONFIG_BLOB, ONNX_BLOB = f"{TOP}/blobs/{REVISION}-config.json", f"{TOP}/blobs/{REVISION}-onnx-model.onnx"
EXPECTED = [
    {"path": CONFIG_BLOB, "size": 2},
    {"path": ONNX_BLOB, "size": 7},
    {"path": f"{TOP}/refs/main", "size": len(REVISION)},
    {"path": f"{SNAPSHOT}/config.json", "link": f"../../blobs/{REVISION}-config.json"},
    {"path": f"{SNAPSHOT}/onnx/model.onnx", "link": f"../../../blobs/{REVISION}-onnx-model.onnx"},
]


def walk(hub: Path, refs: tuple[str, ...] = canonical.MAIN) -> list[dict[str, Any]]:
    return canonical.walk(str(hub), str(hub / SNAPSHOT), "huggingface", refs)


def broken(hub: Path) -> dict[str, str]:
    return canonical.survey(str(hub), str(hub / SNAPSHOT), "huggingface").broken


def relink(link: Path, target: str | Path) -> None:
    link.unlink()
    link.symlink_to(target)


def test_a_cache_with_nested_folders(tmp_path: Path) -> None:
    cached(tmp_path, FILES)
    assert walk(tmp_path) == EXPECTED


def test_nothing_else_of_the_repository(tmp_path: Path) -> None:
    repository = cached(tmp_path, FILES)
    cached(tmp_path, FILES, revision="bbbb2222", ref="next")
    for name in ("blobs/x.incomplete", f"snapshots/{REVISION}/.dgxspark-serving.x", ".no_exist/x/y", "refs/pr/1"):
        (repository / name).parent.mkdir(parents=True, exist_ok=True)
        (repository / name).write_text("x")
    assert walk(tmp_path) == EXPECTED


def test_a_ref_belongs_to_the_model_when_it_is_asked_for_and_names_it(tmp_path: Path) -> None:
    repository = cached(tmp_path, FILES)
    (repository / "refs" / "pr").mkdir()
    for name, text in (("pr/1", REVISION), ("v1", f"{REVISION}\n"), ("other", "bbbb2222")):
        (repository / "refs" / name).write_text(text)
    refs = [
        entry["path"] for entry in walk(tmp_path, ("main", "pr/1", "other", "", "../x")) if "/refs/" in entry["path"]
    ]
    assert refs == [f"{TOP}/refs/main", f"{TOP}/refs/pr/1"]


def test_absolute_links_inside_become_relative(tmp_path: Path) -> None:
    cached(tmp_path, FILES)
    relink(tmp_path / SNAPSHOT / "config.json", tmp_path / CONFIG_BLOB)
    assert walk(tmp_path) == EXPECTED


@pytest.mark.parametrize("part", ["", TOP, f"{TOP}/blobs", f"{TOP}/snapshots", SNAPSHOT])
def test_any_part_may_lie_on_another_disk(tmp_path: Path, part: str) -> None:
    hub, disk = tmp_path / "hub", tmp_path / "disk"
    cached(hub, FILES)
    # Absolute links go by the old name, and from a snapshot elsewhere no others could lead back.
    relink(hub / SNAPSHOT / "config.json", hub / CONFIG_BLOB)
    if "snapshots" in part:
        relink(hub / SNAPSHOT / "onnx" / "model.onnx", hub / ONNX_BLOB)
    shutil.move(hub / part, disk)
    (hub / part).symlink_to(disk)
    assert walk(hub) == EXPECTED


def test_shared_blobs_are_taken_in_m01(tmp_path: Path) -> None:
    cached(tmp_path, FILES)
    shared = tmp_path / "blobs" / "ab" / ("ab" * 32)
    shared.parent.mkdir(parents=True)
    (tmp_path / ONNX_BLOB).rename(shared)
    (tmp_path / ONNX_BLOB).symlink_to(f"../../blobs/ab/{'ab' * 32}")
    assert walk(tmp_path) == EXPECTED


def test_a_link_out_becomes_the_file(tmp_path: Path) -> None:
    hub, outside = tmp_path / "hub", tmp_path / "config.json"
    cached(hub, FILES)
    outside.write_text("[1, 2]")
    relink(hub / SNAPSHOT / "config.json", outside)
    assert {"path": f"{SNAPSHOT}/config.json", "size": 6} in walk(hub)


def test_links_to_links_stay(tmp_path: Path) -> None:
    repository = cached(tmp_path, FILES)
    (repository / "blobs" / "other").symlink_to(tmp_path / CONFIG_BLOB)
    relink(tmp_path / SNAPSHOT / "config.json", "../../blobs/other")
    links = {entry["path"]: entry.get("link") for entry in walk(tmp_path)}
    assert links[f"{SNAPSHOT}/config.json"] == "../../blobs/other"
    assert links[f"{TOP}/blobs/other"] == f"{REVISION}-config.json"
    assert links[CONFIG_BLOB] is None


def test_files_that_were_copied_in_place_of_links(tmp_path: Path) -> None:
    folder(tmp_path / SNAPSHOT, FILES)
    assert walk(tmp_path) == [
        {"path": f"{SNAPSHOT}/config.json", "size": 2},
        {"path": f"{SNAPSHOT}/onnx/model.onnx", "size": 7},
    ]


def test_a_dangling_link_m01(tmp_path: Path) -> None:
    cached(tmp_path, FILES)
    (tmp_path / ONNX_BLOB).unlink()
    name = f"{SNAPSHOT}/onnx/model.onnx"
    with pytest.raises(canonical.BrokenModel, match=f"^{name} is a link that leads nowhere$"):
        walk(tmp_path)
    found = canonical.survey(str(tmp_path), str(tmp_path / SNAPSHOT), "huggingface")
    assert found.entries == [entry for entry in EXPECTED if entry["path"] != ONNX_BLOB]


@pytest.mark.parametrize("target", ["config.json", "../../../gone", "/nowhere/at/all"])
def test_links_that_lead_nowhere(tmp_path: Path, target: str) -> None:
    cached(tmp_path, FILES)
    relink(tmp_path / SNAPSHOT / "config.json", target)
    assert broken(tmp_path) == {f"{SNAPSHOT}/config.json": "is a link that leads nowhere"}


def test_a_link_to_the_folder_it_lies_in(tmp_path: Path) -> None:
    cached(tmp_path, FILES)
    (tmp_path / SNAPSHOT / "onnx" / "up").symlink_to("..")
    assert broken(tmp_path) == {f"{SNAPSHOT}/onnx/up": "is a link to a folder that it lies in"}


def test_no_file(tmp_path: Path) -> None:
    cached(tmp_path, FILES)
    os.mkfifo(tmp_path / SNAPSHOT / "pipe")
    assert broken(tmp_path) == {f"{SNAPSHOT}/pipe": "is no file"}


def test_a_plain_folder(tmp_path: Path) -> None:
    outside, model = tmp_path / "weights", folder(tmp_path / "tiny", {"a/b.json": b"1", "c": b"22"})
    outside.write_bytes(b"333")
    (model / "link").symlink_to(model / "a" / "b.json")
    (model / "a" / "c").symlink_to("../c")
    (model / "weights").symlink_to(outside)
    for name in (".cache/x", ".git/x", ".msc", ".dgxspark-serving.part/x", "a/x.incomplete"):
        folder(model, {name: b"x"})
    assert canonical.walk(str(model), str(model), "path") == [
        {"path": "a/b.json", "size": 1},
        {"path": "a/c", "link": "../c"},
        {"path": "c", "size": 2},
        {"path": "link", "link": "a/b.json"},
        {"path": "weights", "size": 3},
    ]


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    assert canonical.walk(str(tmp_path / "no"), str(tmp_path / "no"), "path") == []
    assert walk(tmp_path) == []
