# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Leftovers in real folders: which are found, and that they alone are removed."""

from __future__ import annotations

import fcntl
import os
import shutil
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.models import leftovers, prune
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.models.model_trees import (
    REVISION,
    cached,
    folder,
)

NOW = 2_000_000_000.0
OLD, FRESH = NOW - leftovers.DAY, NOW - leftovers.DAY + 60
GONE = "bbbb2222"
FILES = {"config.json": b"{}", "model.safetensors": b"weights"}
XET = "ab" * 32


def aged(top: Path, when: float = OLD) -> Path:
    """Have all of it changed at this time."""
    for path in (*top.rglob("*"), top):
        os.utime(path, (when, when), follow_symlinks=False)
    return top


def hub_model(hub: Path, *revisions: str) -> leftovers.Model:
    return leftovers.Model(str(hub), "huggingface", "acme/tiny", frozenset(revisions or (REVISION,)))


def found(hub: Path, *revisions: str) -> dict[str, str]:
    """Kind by path in the cache."""
    left = leftovers.find(hub_model(hub, *revisions), NOW)
    return {os.path.relpath(one.path, hub): one.kind for one in left}


def everything(top: Path) -> set[str]:
    return {str(path.relative_to(top)) for path in top.rglob("*")}


def removed(hub: Path) -> set[str]:
    """Remove the leftovers, and say what is gone."""
    before = everything(hub)
    _freed, failures = prune.remove(str(hub), leftovers.find(hub_model(hub), NOW))
    assert failures == []
    return before - everything(hub)


def share(hub: Path, blob: str, refs: Iterable[str] = ()) -> Path:
    """Move a repository's blob to the shared store."""
    entry = hub / "blobs" / "ab" / XET
    folder(hub / "blobs", {".huggingface-shared-blobs": b"1\n"})
    entry.parent.mkdir(exist_ok=True)
    if entry.exists():
        (hub / blob).unlink()
    else:
        (hub / blob).rename(entry)
    (hub / blob).symlink_to(f"../../blobs/ab/{XET}")
    with open(f"{entry}.refs", "a", encoding="utf-8") as stream:
        stream.writelines(f"{name}\n" for name in (blob, *refs))
    return entry


def test_a_model_that_is_alone_has_none(tmp_path: Path) -> None:
    aged(cached(tmp_path, FILES))
    assert found(tmp_path) == {}


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """A cache with a snapshot that main names and an old one; both need one blob."""
    hub = tmp_path / "hub"
    repository = cached(hub, FILES)
    cached(hub, FILES, revision=GONE, ref=None)
    (repository / "snapshots" / GONE / "same.json").symlink_to(f"../../blobs/{REVISION}-config.json")
    folder(repository, {f".dgxspark-serving/{name}.json": b"{}" for name in (REVISION, GONE)})
    aged(hub)
    return hub


TOP = "models--acme--tiny"
OLD_SNAPSHOT = {
    f"{TOP}/snapshots/{GONE}": "snapshot",
    f"{TOP}/blobs/{GONE}-config.json": "blob",
    f"{TOP}/blobs/{GONE}-model.safetensors": "blob",
    f"{TOP}/.dgxspark-serving/{GONE}.json": "manifest",
}


def test_an_old_snapshot(two: Path) -> None:
    assert found(two) == OLD_SNAPSHOT
    inside = {f"{TOP}/snapshots/{GONE}/{name}" for name in (*FILES, "same.json")}
    assert removed(two) == OLD_SNAPSHOT.keys() | inside
    assert found(two) == {}


def test_a_snapshot_that_a_ref_names_or_that_is_to_be_kept_stays(two: Path) -> None:
    assert found(two, REVISION, GONE) == {}
    (two / TOP / "refs" / "next").write_text(GONE)
    assert found(two) == {}


def test_without_a_revision_no_snapshot_is_old(two: Path) -> None:
    left = leftovers.find(leftovers.Model(str(two), "huggingface", "acme/tiny", frozenset()), NOW)
    assert left == []


def test_blobs_that_nobody_needs(tmp_path: Path) -> None:
    repository = cached(tmp_path, FILES)
    folder(repository, {"blobs/old": b"123", "blobs/new": b"1"})
    aged(tmp_path)
    aged(repository / "blobs" / "new", FRESH)
    assert found(tmp_path) == {f"{TOP}/blobs/old": "blob"}
    assert removed(tmp_path) == {f"{TOP}/blobs/old"}


def test_a_blob_that_another_model_links_to_stays(two: Path) -> None:
    other = two / "models--other--model" / "blobs"
    other.mkdir(parents=True)
    (other / "x").symlink_to(f"../../{TOP}/blobs/{GONE}-model.safetensors")
    expected = {path: kind for path, kind in OLD_SNAPSHOT.items() if not path.endswith(f"{GONE}-model.safetensors")}
    assert found(two) == expected


@pytest.mark.parametrize("name", ["w2.incomplete", "w2.12345678.incomplete", "w2.part"])
def test_unfinished_files_m08(tmp_path: Path, name: str) -> None:
    repository = cached(tmp_path, FILES)
    folder(repository, {f"blobs/{name}": b"12345"})
    aged(repository)
    assert found(tmp_path) == {f"{TOP}/blobs/{name}": "incomplete"}
    short = leftovers.found(str(tmp_path), "huggingface", "acme/tiny", REVISION, NOW)
    assert short == {"incomplete": [str(repository / "blobs" / name)], "snapshots": [], "bytes": 5}
    assert removed(tmp_path) == {f"{TOP}/blobs/{name}"}


def test_the_short_form_names_snapshots(two: Path) -> None:
    size = sum(len(data) for data in FILES.values()) + len(b"{}")
    links = sum((two / TOP / "snapshots" / GONE / name).lstat().st_size for name in (*FILES, "same.json"))
    short = leftovers.found(str(two), "huggingface", "acme/tiny", REVISION, NOW)
    assert short == {"incomplete": [], "snapshots": [GONE], "bytes": size + links}


@pytest.mark.parametrize("name", ["blobs/w2.incomplete", "blobs/w2.part", ".dgxspark-serving/parts/x/y"])
def test_while_a_download_runs_nothing_goes(two: Path, name: str) -> None:
    folder(two / TOP, {name: b"1"})
    aged(two / TOP / name, FRESH)
    assert found(two) == {}
    aged(two)
    assert OLD_SNAPSHOT.items() < found(two).items()


def test_a_lock_that_is_held_keeps_all(two: Path) -> None:
    folder(two / TOP, {"blobs/w2.incomplete": b"1"})
    lock = folder(two / ".locks" / TOP, {"w2.lock": b""}) / "w2.lock"
    aged(two)
    with open(lock, encoding="utf-8") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        assert found(two) == {}
    assert OLD_SNAPSHOT.items() < found(two).items()


def test_a_shared_file_goes_with_its_last_link(two: Path) -> None:
    entry = share(two, f"{TOP}/blobs/{GONE}-model.safetensors", ["models--other--model/blobs/gone", "../x"])
    aged(two)
    assert found(two) == {**OLD_SNAPSHOT, f"blobs/ab/{XET}": "shared"}
    assert {f"blobs/ab/{XET}", f"blobs/ab/{XET}.refs"} < removed(two)
    assert not entry.exists()


def test_a_shared_file_that_another_model_needs_stays(two: Path) -> None:
    other = cached(two, FILES, model="other/model")
    entry = share(two, f"{TOP}/blobs/{GONE}-model.safetensors")
    share(two, f"{other.name}/blobs/{REVISION}-model.safetensors")
    aged(two)
    assert found(two) == OLD_SNAPSHOT
    removed(two)
    assert entry.read_bytes() == b"weights"


@pytest.mark.parametrize("case", ["no refs", "a new link", "locked", "not marked"])
def test_a_shared_file_stays_in_doubt(two: Path, case: str) -> None:
    entry = share(two, f"{TOP}/blobs/{GONE}-model.safetensors")
    aged(two)
    if case == "not marked":
        (two / "blobs" / ".huggingface-shared-blobs").unlink()
    left = leftovers.find(hub_model(two), NOW)
    if case == "no refs":
        os.unlink(f"{entry}.refs")
    if case == "a new link":
        # Between the look and the removal another download took it.
        other = cached(two, FILES, model="other/model")
        share(two, f"{other.name}/blobs/{REVISION}-model.safetensors")
    with open(f"{entry}.lock", "w", encoding="utf-8") as lock:
        if case == "locked":
            fcntl.flock(lock, fcntl.LOCK_EX)
        assert prune.remove(str(two), left)[1] == []
    assert entry.exists()


def test_stagings_of_ours(tmp_path: Path) -> None:
    repository = cached(tmp_path, FILES)
    folder(repository, {".dgxspark-serving/parts/x/y": b"123"})
    aged(repository)
    assert found(tmp_path) == {f"{TOP}/.dgxspark-serving/parts": "staging"}


def test_beside_a_folder(tmp_path: Path) -> None:
    model = folder(tmp_path / "tiny", {"a": b"1", "x.incomplete": b"1", ".dgxspark-serving.part/b": b"1"})
    folder(tmp_path, {".dgxspark-serving.tiny.part/x": b"123", ".dgxspark-serving.tiny.json": b"{}"})
    folder(tmp_path, {".dgxspark-serving.other.part/x": b"123"})
    aged(tmp_path)
    wanted = leftovers.Model(str(model), "path", str(model), frozenset())
    left = {os.path.relpath(one.path, tmp_path): one.size for one in leftovers.find(wanted, NOW)}
    assert left == {".dgxspark-serving.tiny.part": 3, "tiny/.dgxspark-serving.part": 1}
    aged(tmp_path / ".dgxspark-serving.tiny.part" / "x", FRESH)
    shutil.rmtree(model)
    assert [one.kind for one in leftovers.find(wanted, NOW)] == ["manifest"]


def test_nothing_there(tmp_path: Path) -> None:
    assert found(tmp_path / "no") == {}


def test_snapshots_that_cannot_be_removed_keep_their_blobs_m02(two: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = leftovers.find(hub_model(two), time.time() + leftovers.DAY)

    def denied(path: str) -> None:
        raise PermissionError(13, "Permission denied", f"{path}/config.json")

    monkeypatch.setattr(shutil, "rmtree", denied)
    freed, failures = prune.remove(str(two), left)
    path = two / TOP / "snapshots" / GONE
    assert failures == [f"{path}/config.json (Permission denied; its folder belongs to {path.owner()})"]
    assert freed == 0
    assert all((two / path).exists() for path in OLD_SNAPSHOT)


def test_refs_that_cannot_be_read_are_no_reason_to_remove_m02(two: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deny(monkeypatch, two / TOP / "refs")
    with pytest.raises(PermissionError):
        found(two)
    nothing = {"incomplete": [], "snapshots": [], "bytes": 0}
    assert leftovers.found(str(two), "huggingface", "acme/tiny", REVISION, NOW) == nothing


def test_another_model_that_cannot_be_read_keeps_blobs(two: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cached(two, FILES, model="other/model")
    deny(monkeypatch, two / "models--other--model" / "blobs")
    assert found(two) == {path: kind for path, kind in OLD_SNAPSHOT.items() if kind != "blob"}


def deny(monkeypatch: pytest.MonkeyPatch, folder_path: Path) -> None:
    """Have a folder that this user cannot list, also as root."""
    real = os.scandir

    def scandir(path: str) -> Any:
        if str(path) == str(folder_path):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
