# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Manifests of models in real folders, and models held against them."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.background.work import WorkFailed
from ansible_collections.dgxspark.serving.plugins.module_utils.models import hashing, manifest, manifest_work
from ansible_collections.dgxspark.serving.plugins.module_utils.models.manifest_work import Place
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.models.model_trees import folder

TOP, REVISION = "models--acme--tiny", "aaaa1111"
SNAPSHOT = f"{TOP}/snapshots/{REVISION}"
CONFIG, WEIGHTS = b"{}", b"weights"
SHA256 = hashlib.sha256(WEIGHTS).hexdigest()
BLOB, SMALL = f"{TOP}/blobs/{SHA256}", f"{TOP}/blobs/{'c' * 40}"


def cached(hub: Path) -> Path:
    """A model as huggingface_hub lays it out: a large blob named by its SHA-256, a small one by another hash."""
    folder(hub, {BLOB: WEIGHTS, SMALL: CONFIG, f"{TOP}/refs/main": REVISION.encode()})
    (hub / SNAPSHOT).mkdir(parents=True)
    (hub / SNAPSHOT / "config.json").symlink_to(f"../../blobs/{'c' * 40}")
    (hub / SNAPSHOT / "model.safetensors").symlink_to(f"../../blobs/{SHA256}")
    return hub


def at(hub: Path) -> Place:
    return Place("acme/tiny", "huggingface", str(hub), str(hub / SNAPSHOT), REVISION)


def plain(path: Path) -> Place:
    return Place("/data/tiny", "path", str(path), str(path), "")


def nothing(done: int, total: int) -> None:
    """Nobody listens."""


def make(place: Place, again: bool = False) -> dict[str, Any]:
    return manifest_work.make(place, again, nothing)


def hold(place: Place, wanted: Mapping[str, Any], again: bool = False) -> dict[str, Any]:
    return manifest_work.hold(place, wanted, again, nothing)


def flip(path: Path, same_time: bool = False) -> None:
    """Change one byte."""
    before = path.stat()
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    changed = before.st_mtime_ns + (0 if same_time else 1)
    os.utime(path, ns=(before.st_atime_ns, changed))


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Paths whose contents were read, in order."""
    paths: list[str] = []
    real = hashing._sha256

    def counted(root: str, path: str, done: dict[str, int]) -> str:
        paths.append(path)
        return real(root, path, done)

    monkeypatch.setattr(hashing, "_sha256", counted)
    return paths


def test_large_blobs_are_known_by_their_names(tmp_path: Path, read: list[str]) -> None:
    made = make(at(cached(tmp_path)))
    hashes = {path: entry["sha256"] for path, entry in manifest.files(made["manifest"]).items()}
    assert hashes == {
        BLOB: SHA256,
        SMALL: hashlib.sha256(CONFIG).hexdigest(),
        f"{TOP}/refs/main": hashlib.sha256(REVISION.encode()).hexdigest(),
    }
    assert sorted(read) == sorted({SMALL, f"{TOP}/refs/main"})
    assert (made["digest"], made["made"], made["wrong"], made["notes"]) == (
        manifest.digest(made["manifest"]),
        True,
        [],
        [],
    )


def test_it_is_made_once(tmp_path: Path, read: list[str]) -> None:
    first = make(at(cached(tmp_path)))
    read.clear()
    assert make(at(tmp_path)) == {**first, "made": False}
    assert read == []


def test_only_what_changed_is_read_again(tmp_path: Path, read: list[str]) -> None:
    model = folder(tmp_path / "tiny", {"a": b"1", "b": b"2"})
    make(plain(model))
    read.clear()
    flip(model / "b")
    made = make(plain(model))
    assert (read, made["made"], made["wrong"]) == (["b"], True, [])


@pytest.mark.parametrize("same_time", [True, False])
def test_a_flipped_byte_is_found_by_sha256_and_not_by_size(tmp_path: Path, same_time: bool) -> None:
    hub = cached(tmp_path)
    right = make(at(hub))
    flip(hub / BLOB, same_time)
    assert make(at(hub))["wrong"] == []
    sick = make(at(hub), again=True)
    # What others are held against is still what is right.
    assert (sick["wrong"], sick["digest"], sick["made"]) == ([BLOB], right["digest"], False)


def test_content_of_a_folder_is_held_against_the_kept_manifest(tmp_path: Path) -> None:
    model = folder(tmp_path / "tiny", {"a": b"1", "b": b"2"})
    right = make(plain(model))
    flip(model / "b")
    sick = make(plain(model), again=True)
    path = tmp_path / ".dgxspark-serving.tiny.json"
    assert (sick["wrong"], sick["digest"]) == (["b"], right["digest"])
    assert sick["notes"] == [f"b: not the content that {path} says. If the change is meant, remove that file."]
    path.unlink()
    assert make(plain(model), again=True)["wrong"] == []


def test_a_file_that_was_edited_is_no_fault(tmp_path: Path) -> None:
    model = folder(tmp_path / "tiny", {"a": b"1"})
    right = make(plain(model))
    (model / "a").write_bytes(b"longer")
    edited = make(plain(model), again=True)
    assert (edited["wrong"], edited["made"]) == ([], True)
    assert edited["digest"] != right["digest"]


def test_a_copy_is_right(tmp_path: Path, read: list[str]) -> None:
    wanted = make(at(cached(tmp_path / "a")))["manifest"]
    cached(tmp_path / "b")
    read.clear()
    by_size = hold(at(tmp_path / "b"), wanted)
    assert (by_size["wrong"], by_size["missing"], by_size["extra"], by_size["made"], read) == ([], [], [], False, [])
    by_content = hold(at(tmp_path / "b"), wanted, again=True)
    assert (by_content["wrong"], by_content["missing"], by_content["made"]) == ([], [], True)
    assert sorted(read) == sorted(manifest.files(wanted))
    # The record that this made vouches for it from now on.
    assert hold(at(tmp_path / "b"), wanted)["made"] is False


def test_copies_that_differ(tmp_path: Path) -> None:
    wanted = make(at(cached(tmp_path / "a")))["manifest"]
    hub = cached(tmp_path / "b")
    flip(hub / BLOB)
    (hub / SMALL).write_bytes(b"[1]")
    assert hold(at(hub), wanted)["wrong"] == [SMALL]
    (hub / SNAPSHOT / "model.safetensors").unlink()
    (hub / SNAPSHOT / "more").write_bytes(b"x")
    found = hold(at(hub), wanted, again=True)
    assert (found["wrong"], found["missing"], found["extra"]) == (
        [SMALL],
        [BLOB, f"{SNAPSHOT}/model.safetensors"],
        [f"{SNAPSHOT}/more"],
    )
    assert found["problems"] == [
        f"2 not there: {BLOB}, {SNAPSHOT}/model.safetensors",
        f"1 of another size: {SMALL}",
    ]


def test_a_flipped_byte_of_a_copy(tmp_path: Path) -> None:
    wanted = make(at(cached(tmp_path / "a")))["manifest"]
    hub = cached(tmp_path / "b")
    flip(hub / BLOB)
    assert hold(at(hub), wanted)["wrong"] == []
    assert hold(at(hub), wanted, again=True)["wrong"] == [BLOB]


def test_dangling_links_are_missing_files_m01(tmp_path: Path) -> None:
    wanted = make(at(cached(tmp_path / "a")))["manifest"]
    hub = cached(tmp_path / "b")
    shutil.rmtree(hub / TOP / "blobs")
    assert hold(at(hub), wanted)["missing"] == sorted([BLOB, SMALL])


def test_a_host_without_the_model(tmp_path: Path) -> None:
    wanted = make(at(cached(tmp_path / "a")))["manifest"]
    assert hold(at(tmp_path / "b"), wanted)["missing"] == [entry["path"] for entry in wanted["entries"]]


def test_another_branch_that_main_names_is_missing(tmp_path: Path) -> None:
    wanted = make(at(cached(tmp_path / "a")))["manifest"]
    hub = cached(tmp_path / "b")
    (hub / TOP / "refs" / "main").write_text("bbbb2222")
    assert hold(at(hub), wanted)["missing"] == [f"{TOP}/refs/main"]


def test_links_that_lead_nowhere_cannot_be_copied(tmp_path: Path) -> None:
    hub = cached(tmp_path)
    (hub / BLOB).unlink()
    with pytest.raises(WorkFailed) as caught:
        make(at(hub))
    found = f"acme/tiny cannot be copied from {hub / SNAPSHOT}"
    assert str(caught.value) == f"{found}: {SNAPSHOT}/model.safetensors is a link that leads nowhere."


def test_a_model_that_changes_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = folder(tmp_path / "tiny", {"a": b"1"})

    def changes(root: str, path: str, done: dict[str, int]) -> str:
        flip(model / "a")
        return "0" * 64

    monkeypatch.setattr(hashing, "_sha256", changes)
    with pytest.raises(WorkFailed) as caught:
        make(plain(model))
    assert str(caught.value) == f"Changed while they were read: a. Run again when nothing writes to {model}."


def test_files_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = folder(tmp_path / "tiny", {"a": b"1", "b": b"2"})

    def denied(root: str, path: str, done: dict[str, int]) -> str:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(hashing, "_sha256", denied)
    with pytest.raises(WorkFailed) as caught:
        make(plain(model))
    said = "a (Permission denied); b (Permission denied)"
    assert str(caught.value) == f"Files in {model} cannot be read by this user: {said}."
