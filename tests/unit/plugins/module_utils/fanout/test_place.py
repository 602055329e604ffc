# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests of reading a payload, of where its files lie, and of whether there is room."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.fanout import check, place
from ansible_collections.dgxspark.serving.plugins.module_utils.fanout.order import Order
from ansible_collections.dgxspark.serving.plugins.module_utils.fanout.payload import payload_of
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.fanout.fanout_hosts import (
    Host,
    lay,
    manifest_of,
)

TOP = "models--acme--tiny"
HUB = manifest_of(
    {f"{TOP}/blobs/w1": b"weights" * 20_000, f"{TOP}/refs/main": b"aaaa1111", f"{TOP}/snapshots/aaaa1111/real": b"r"},
    {f"{TOP}/snapshots/aaaa1111/w": "../../blobs/w1"},
    hub="huggingface",
    revision="aaaa1111",
)
FOLDER = {"b.bin": b"b" * 100_000, "a.bin": b"a" * 100_000, "c.json": b"{}"}


@pytest.fixture
def order(tmp_path: Path) -> Order:
    return Host(tmp_path, 2, manifest_of(FOLDER), 1).order


def test_the_biggest_come_first_and_ties_are_the_same_on_all_hosts() -> None:
    payload = payload_of(manifest_of(FOLDER))
    assert [(file.path, file.number) for file in payload.files] == [("a.bin", 0), ("b.bin", 1), ("c.json", 2)]
    assert (payload.size, payload.entries) == (200_002, 3)


def test_of_a_hugging_face_cache_only_blobs_may_be_seen_early() -> None:
    payload = payload_of(HUB)
    assert {file.path for file in payload.files if not file.late} == {f"{TOP}/blobs/w1"}
    assert payload.repository == TOP


@pytest.mark.parametrize("path", ["../x", "/etc/x", "a/../../x", ""])
def test_a_manifest_that_leaves_its_root_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match="inside the model's folder"):
        payload_of(manifest_of({path: b""}))


def test_where_files_of_a_cache_lie_until_they_are_seen(tmp_path: Path) -> None:
    payload = payload_of(HUB)
    where = place.Place(str(tmp_path), payload)
    shown = {file.path: os.path.relpath(where.part(file), tmp_path) for file in payload.files}
    staged = f"{TOP}/.dgxspark-serving/parts/{payload.digest[:16]}"
    assert shown == {
        f"{TOP}/blobs/w1": f"{TOP}/blobs/w1.part",
        f"{TOP}/refs/main": f"{staged}/{TOP}/refs/main.part",
        f"{TOP}/snapshots/aaaa1111/real": f"{staged}/{TOP}/snapshots/aaaa1111/real.part",
    }


def test_refs_are_seen_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    payload = payload_of(HUB)
    where = place.Place(str(tmp_path), payload)
    for file in payload.files:
        lay(Path("/"), {where.done(file)[1:]: b"x"})
    seen = []
    replaced = os.replace

    def watched(old: str, new: str) -> None:
        replaced(old, new)
        seen.append(os.path.relpath(new, tmp_path))

    monkeypatch.setattr(place.os, "replace", watched)
    where.settle()
    assert seen == [f"{TOP}/snapshots", f"{TOP}/refs"]
    assert not Path(where.staging).exists()


def test_a_root_that_is_a_disk_of_its_own_is_received_inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "tiny"
    root.mkdir()
    monkeypatch.setattr(place, "_device", len)
    assert place.Place(str(root), payload_of(manifest_of(FOLDER))).staging == str(root / ".dgxspark-serving.part")


def test_what_is_there_already_is_not_needed(order: Order) -> None:
    lay(Path(order.place.root), {"a.bin": FOLDER["a.bin"], "b.bin": b"short", "c.json": b"[]"})
    file = order.payload.files[1]
    lay(Path("/"), {order.place.part(file)[1:]: b"b" * 40_000})
    assert check.check(order) == {
        "kept": 100_000,
        "needed": 60_002,
        "free": pytest.approx(os.statvfs(order.place.root).f_bavail * os.statvfs(order.place.root).f_frsize, rel=0.2),
        "writable": True,
        "problems": [],
    }


@pytest.mark.parametrize(("blocks", "free", "refused"), [(0, 0, False), (9, 0, True), (9, 2 << 20, False)])
def test_m08_a_disk_that_is_too_small_is_refused_before_the_first_byte(
    order: Order, monkeypatch: pytest.MonkeyPatch, blocks: int, free: int, refused: bool
) -> None:
    there = SimpleNamespace(f_blocks=blocks, f_bavail=free, f_frsize=1024)
    monkeypatch.setattr(check.os, "statvfs", lambda path: there)
    found = check.check(order)
    assert found["free"] == (free * 1024 if blocks else None)
    text = (
        f"model acme/tiny needs 201 kB at {order.place.root} and 1.1 GB to spare, found 0 kB free. Make room, or choose"
        " another disk."
    )
    assert found["problems"] == ([text] if refused else [])


def test_m02_a_folder_of_another_user_is_named_with_its_owner(order: Order, monkeypatch: pytest.MonkeyPatch) -> None:
    lay(Path(order.place.root), {"c.json": b"{}"})
    monkeypatch.setattr(check.os, "access", lambda path, mode: path != order.place.root)
    found = check.check(replace(order, place=place.Place(order.place.root, order.payload)))
    assert found["writable"] is False
    assert found["problems"][0].startswith(f"{order.place.root} cannot be written by ")
    assert "(owner " in found["problems"][0]
