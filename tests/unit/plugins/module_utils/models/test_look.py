# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Models on this host."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.models import kept, look, manifest, owners, roots
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.models.model_trees import (
    ID,
    REVISION,
    WEIGHTS,
    cached,
    files,
    folder,
    index,
    shard,
)


@pytest.fixture(autouse=True)
def _no_cache_of_mine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr(roots, "ENVIRONMENT_FILE", str(tmp_path / "environment"))
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME", "MODELSCOPE_CACHE", "SUDO_USER"):
        monkeypatch.delenv(name, raising=False)


def test_a_path(tmp_path: Path) -> None:
    path = str(folder(tmp_path / "tiny"))
    found = look.look(path, "")
    assert (found.model, found.hub, found.root, found.path, found.mount) == (path, "path", path, path, path)
    assert (found.container_path, found.revision, found.problems) == ("/models/tiny", "", [])
    assert (found.missing, found.writable, found.free is None) == (0, True, False)
    assert len(found.fingerprint) == 64
    json.dumps(asdict(found))


def test_an_id(tmp_path: Path) -> None:
    repository = cached(tmp_path)
    found = look.look(ID, str(tmp_path))
    assert (found.hub, found.root, found.mount) == ("huggingface", str(tmp_path), str(tmp_path))
    assert (found.path, found.revision) == (str(repository / "snapshots" / REVISION), REVISION)
    assert (found.container_path, found.problems, found.notes) == (ID, [], [])


def test_an_id_of_modelscope(tmp_path: Path) -> None:
    path = str(folder(tmp_path / "models/acme/tiny"))
    found = look.look(ID, str(tmp_path), "modelscope")
    assert (found.hub, found.root, found.path, found.mount) == ("modelscope", path, path, path)
    assert (found.container_path, found.problems) == ("/models/acme--tiny", [])


def test_neither_a_path_nor_an_id() -> None:
    with pytest.raises(ValueError):
        look.look("no id", "")


def test_a_model_that_is_nowhere(tmp_path: Path) -> None:
    found = look.look(ID, "~/hub")
    assert (found.root, found.path, found.mount) == (f"{tmp_path}/home/hub", "", f"{tmp_path}/home/hub")
    assert found.problems == [f"no folder {tmp_path}/home/hub/models--acme--tiny"]
    assert (found.missing, found.size, found.fingerprint, found.facts) == (None, 0, "", {})
    assert found.free is not None


def test_the_first_whole_one_is_taken_m04(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cached(tmp_path / "a", {"config.json": b"{}"})
    cached(tmp_path / "b")
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "b"))
    found = look.look(ID, str(tmp_path / "a"))
    assert (found.root, found.problems, found.notes) == (
        str(tmp_path / "b"),
        [],
        [f"found in {tmp_path}/b, not whole in {tmp_path}/a"],
    )


def test_of_several_broken_ones_the_first_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in "ab":
        cached(tmp_path / name, {"config.json": b"{}"})
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "b"))
    assert look.look(ID, str(tmp_path / "a")).root == str(tmp_path / "a")


def test_the_newest_whole_copy_of_modelscope_is_taken_m13(tmp_path: Path) -> None:
    whole, new = folder(tmp_path / "models/acme/tiny"), folder(tmp_path / "hub/acme/tiny", {"config.json": b"{}"})
    for path in whole.iterdir():
        os.utime(path, (1, 1))
    assert look.look(ID, str(tmp_path), "modelscope").path == str(whole)
    folder(new)
    assert look.look(ID, str(tmp_path), "modelscope").path == str(new)


def test_a_snapshot_that_engines_do_not_find_is_not_whole(tmp_path: Path) -> None:
    repository = cached(tmp_path, ref=None)
    found = look.look(ID, str(tmp_path))
    assert found.path == str(repository / "snapshots" / REVISION)
    assert found.problems == [
        f"without {repository}/refs/main no engine finds the snapshot (set serving_model_revision: {REVISION})"
    ]
    assert look.look(ID, str(tmp_path), revision=REVISION).problems == []


def test_a_revision(tmp_path: Path) -> None:
    cached(tmp_path, revision="1111111aaa")
    cached(tmp_path, revision="2222222bbb", ref="v2")
    assert look.look(ID, str(tmp_path), revision="v2").revision == "2222222bbb"


def test_the_fingerprint_is_of_names_sizes_and_links(tmp_path: Path) -> None:
    cached(tmp_path / "a")
    cached(tmp_path / "b")
    first = look.look(ID, str(tmp_path / "a")).fingerprint
    assert look.look(ID, str(tmp_path / "b")).fingerprint == first
    cached(tmp_path / "c", files(**{WEIGHTS: shard(17)}))
    assert look.look(ID, str(tmp_path / "c")).fingerprint not in ("", first)


def test_the_manifest_counts_while_nothing_changes(tmp_path: Path) -> None:
    path = folder(tmp_path / "tiny")
    root = str(path)
    entries = [{"path": one.name, "size": one.stat().st_size, "sha256": "0" * 64} for one in sorted(path.iterdir())]
    made = {"format": 1, "model": root, "hub": "path", "revision": "", "entries": entries}
    kept.write(root, made, kept.seen(root, entries))
    assert look.look(root, "").manifest == manifest.digest(made)
    os.utime(path / WEIGHTS, (1, 1))
    assert look.look(root, "").manifest == ""


def test_an_unfinished_download_m08(tmp_path: Path) -> None:
    repository = cached(tmp_path)
    (repository / "blobs/w.incomplete").write_bytes(b"1")
    assert look.look(ID, str(tmp_path)).problems == []
    (repository / "blobs" / f"aaaa1111-{WEIGHTS}").unlink()
    found = look.look(ID, str(tmp_path))
    assert found.problems[0].startswith("download unfinished: blobs/w.incomplete (1 kB so far, ")
    assert len(found.problems) == 2


def test_a_download_that_has_no_snapshot_yet_m08(tmp_path: Path) -> None:
    repository = cached(tmp_path, {})
    (repository / "blobs/w.incomplete").write_bytes(b"1")
    first, second = look.look(ID, str(tmp_path)).problems
    assert first.startswith("download unfinished: blobs/w.incomplete (")
    assert second == f"{repository}: refs/main names snapshot {REVISION}, which is not there: there is none"


def test_a_disk_that_reports_no_size_m08(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.statvfs(tmp_path)
    monkeypatch.setattr(look.os, "statvfs", lambda path: os.statvfs_result((*real[:2], 0, 0, 0, *real[5:])))
    found = look.look(str(folder(tmp_path / "tiny")), "")
    assert found.free is None
    assert found.notes == [f"the file system of {tmp_path}/tiny reports no size, so nobody knows how much is free"]


def test_what_another_user_left_in_the_cache_m02(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository = cached(tmp_path)
    locks = tmp_path / ".locks" / repository.name
    locks.mkdir(parents=True)
    for path in (tmp_path, *tmp_path.rglob("*")):
        if not path.is_symlink():
            path.chmod(0o777 if path.is_dir() else 0o666)
    other = owners.Login("dev", os.geteuid() + 1, frozenset(), "/home/dev")
    monkeypatch.setattr(owners, "login", lambda: other)
    assert look.look(ID, str(tmp_path)).notes == []
    locks.chmod(0o755)
    (repository / "refs").chmod(0o755)
    found = look.look(ID, str(tmp_path))
    me, name = owners.name_of(os.geteuid()), repository.name
    assert found.notes == [
        f"dev cannot write .locks/{name}, {name}/refs, which {me} owns (sudo chown -R dev: {repository} {locks})"
    ]
    assert (found.problems, found.writable) == ([], False)


def test_a_shard_that_the_index_names_m06(tmp_path: Path) -> None:
    folder(tmp_path, files(**{"model.safetensors.index.json": index(WEIGHTS, "b.safetensors")}))
    assert look.look(str(tmp_path), "").problems == [
        "1 of the weight files in model.safetensors.index.json not there: b.safetensors"
    ]


def test_a_folder_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: str) -> None:
        raise PermissionError(13, "Permission denied", path)

    cached(tmp_path)
    monkeypatch.setattr(look.content.tree, "files", refuse)
    found = look.look(ID, str(tmp_path))
    assert found.problems == [f"cannot be read: Permission denied: {found.path}"]
    monkeypatch.setattr(look.places, "find", lambda *arguments: refuse("/hub"))
    assert look.look("/srv/tiny", "") == look.Found(
        "/srv/tiny",
        "path",
        "/srv/tiny",
        "",
        "/srv/tiny",
        "/models/tiny",
        problems=["cannot be read: Permission denied: /hub"],
    )
