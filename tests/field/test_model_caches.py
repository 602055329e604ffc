# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Area 3: model caches. The trees are those of the faults' rows; so is what must be said of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.models import look, owners, roots
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.models.model_trees import (
    cached,
    files,
    folder,
    index,
    shard,
)

FIRST, SECOND = "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"
INDEX = "model.safetensors.index.json"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Home of the host's user, without caches and variables of whoever runs the tests."""
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME", "MODELSCOPE_CACHE", "SUDO_USER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(roots, "ENVIRONMENT_FILE", str(tmp_path / "environment"))
    monkeypatch.setenv("HOME", str(tmp_path / "home/dev"))
    yield tmp_path / "home/dev"


def in_two(first: bytes, second: bytes | None, total: int | None = None) -> dict[str, bytes]:
    """A model whose index names two files."""
    content = {name: data for name, data in files().items() if not name.startswith("model")}
    content |= {INDEX: index(FIRST, SECOND, total=total), FIRST: first}
    return content if second is None else content | {SECOND: second}


def dev(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the user be another one than who made the files."""
    user = owners.Login("dev", os.geteuid() + 1, frozenset(), "/home/dev")
    monkeypatch.setattr(owners, "login", lambda: user)


def test_m01_links_whose_blobs_were_not_copied(tmp_path: Path) -> None:
    repository = cached(tmp_path, in_two(shard(), shard()))
    (repository / f"blobs/aaaa1111-{FIRST}").unlink()
    (problem,) = look.look("acme/tiny", str(tmp_path)).problems
    assert problem.startswith(f"links that lead nowhere: {FIRST} (copy it anew from a host that has it: rsync ")


def test_m01_a_weight_file_without_a_byte(tmp_path: Path) -> None:
    cached(tmp_path, in_two(b"", shard()))
    assert look.look("acme/tiny", str(tmp_path)).problems == [f"empty weight files: {FIRST}"]


def test_m02_what_a_container_left_that_only_root_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository = cached(tmp_path)
    (repository / "blobs/aaaa1111-model.safetensors").chmod(0o600)
    locks = tmp_path / ".locks" / repository.name
    locks.mkdir(parents=True)
    locks.chmod(0o755)
    dev(monkeypatch)
    found = look.look("acme/tiny", str(tmp_path))
    owner = owners.name_of(os.geteuid())
    assert found.problems == [
        f"dev cannot read blobs/aaaa1111-model.safetensors (owner {owner}, mode 0600) (sudo chown -R dev: {repository})"
    ]
    assert not found.writable
    (note,) = found.notes
    assert note.startswith("dev cannot write .locks/models--acme--tiny, ")
    assert note.endswith(f"which {owner} owns (sudo chown -R dev: {repository} {locks})")


def test_m03_the_cache_is_that_of_the_targets_user(monkeypatch: pytest.MonkeyPatch) -> None:
    """Under become the module runs as root; the paths are those of the user who logged in."""
    user = owners.Login("dev", 1000, frozenset({1000}), "/home/dev")
    monkeypatch.setattr(owners, "login", lambda: user)
    monkeypatch.setenv("HOME", "/root")
    assert look.look("acme/tiny", "~/.cache/huggingface").root == "/home/dev/.cache/huggingface"
    assert look.look("acme/tiny", "").root == "/home/dev/.cache/huggingface/hub"
    assert look.look("acme/tiny", "", "modelscope").root == "/home/dev/.cache/modelscope/hub/models/acme/tiny"


def test_m04_the_cache_that_hf_hub_cache_names_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HOME", str(tmp_path / "data/hf"))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "mnt/nas/hub"))
    cached(tmp_path / "mnt/nas/hub")
    found = look.look("acme/tiny", "")
    assert (found.mount, found.problems, found.notes) == (str(tmp_path / "mnt/nas/hub"), [], [])


def test_m06_a_file_of_the_index_that_is_not_there(tmp_path: Path) -> None:
    folder(tmp_path, in_two(shard(4000), None))
    assert look.look(str(tmp_path), "").problems == [f"1 of the weight files in {INDEX} not there: {SECOND}"]


def test_m06_a_file_that_the_index_does_not_name_only_warns(tmp_path: Path) -> None:
    folder(tmp_path, in_two(shard(), shard()) | {"model-00003-of-00003.safetensors": shard()})
    found = look.look(str(tmp_path), "")
    assert found.problems == []
    assert found.notes == [
        "weight files that no index names, so that no engine loads them: model-00003-of-00003.safetensors"
    ]


def test_m08_a_download_that_a_full_disk_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository = cached(tmp_path, in_two(shard(), None, total=4_100_000_016))
    with (repository / "blobs/w2.incomplete").open("wb") as part:
        part.truncate(3_100_000_000)
    real = os.statvfs(tmp_path)
    block = 1_000_000
    monkeypatch.setattr(look.os, "statvfs", lambda path: os.statvfs_result((block, block, 9000, 1200, 1200, *real[5:])))
    found = look.look("acme/tiny", str(tmp_path))
    assert found.problems[0] == (
        "download unfinished: blobs/w2.incomplete (3.1 GB so far, 4.1 GB missing, 1.2 GB free)"
    )
    assert found.missing is not None
    assert found.free == 1_200_000_000 < found.missing


def test_m08_a_disk_that_reports_no_size_is_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.statvfs(tmp_path)
    monkeypatch.setattr(look.os, "statvfs", lambda path: os.statvfs_result((4096, 4096, 0, 0, 0, *real[5:])))
    cached(tmp_path)
    found = look.look("acme/tiny", str(tmp_path))
    assert (found.free, found.problems) == (None, [])
    assert "nobody knows how much is free" in found.notes[0]


def test_m10_a_model_that_sees_without_its_preprocessor(tmp_path: Path) -> None:
    config = {"architectures": ["AcmeVLForConditionalGeneration"], "vision_config": {}}
    folder(tmp_path, files(config))
    (problem,) = look.look(str(tmp_path), "").problems
    assert problem.startswith("no preprocessor_config.json or processor_config.json for its vision part")
    (tmp_path / "README.md").write_text("---\nbase_model: acme/base-vl\n---\n")
    assert "set model_base: acme/base-vl" in look.look(str(tmp_path), "").problems[0]
    assert look.look(str(tmp_path), "").completable
    (tmp_path / "preprocessor_config.json").write_text("{}")
    found = look.look(str(tmp_path), "")
    assert (found.problems, found.completable) == ([], False)


def test_m10_a_base_has_no_weights_to_give(tmp_path: Path) -> None:
    config = {"architectures": ["AcmeVLForConditionalGeneration"], "vision_config": {}}
    folder(tmp_path, {name: content for name, content in files(config).items() if not name.endswith(".safetensors")})
    found = look.look(str(tmp_path), "")
    assert len(found.problems) > 1
    assert not found.completable


def test_m10_a_model_of_text_is_not_blamed(tmp_path: Path) -> None:
    folder(tmp_path, files({"architectures": ["T5ForConditionalGeneration"], "vision_config": None}))
    assert look.look(str(tmp_path), "").problems == []


def test_m12_dots_that_modelscope_writes_as_underscores(home: Path) -> None:
    real = folder(home / ".cache/modelscope/hub/models/Acme/Tiny-1___5B-Chat")
    found = look.look("Acme/Tiny-1.5B-Chat", "", "modelscope")
    assert (found.path, found.mount, found.problems) == (str(real), str(real), [])
    assert found.container_path == "/models/Acme--Tiny-1.5B-Chat"
    (real.parent / "Tiny-1.5B-Chat").symlink_to(real.name)
    assert look.look("Acme/Tiny-1.5B-Chat", "", "modelscope").path == str(real)


@pytest.mark.parametrize(
    ("variable", "path"),
    [
        ("", "home/dev/.cache/modelscope/hub/Acme/Tiny"),
        ("", "home/dev/.cache/modelscope/hub/models/Acme/Tiny"),
        ("data/ms", "data/ms/models/Acme/Tiny"),
        ("data/ms", "data/ms/Acme/Tiny"),
    ],
    ids=["old", "new", "variable", "variable and old"],
)
def test_m13_the_roots_of_modelscope(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, path: str) -> None:
    if variable:
        monkeypatch.setenv("MODELSCOPE_CACHE", str(tmp_path / variable))
    folder(tmp_path / path)
    found = look.look("Acme/Tiny", "", "modelscope")
    assert (found.root, found.problems) == (str(tmp_path / path), [])


def test_m13_of_two_hits_the_newest_whole_one(home: Path) -> None:
    old, new = (folder(home / ".cache/modelscope/hub" / below / "Acme/Tiny") for below in ("", "models"))
    for path in old.iterdir():
        os.utime(path, (1, 1))
    found = look.look("Acme/Tiny", "", "modelscope")
    assert found.path == str(new)
    assert found.notes == [f"there are 2 copies, the newest whole one counts: {old}, {new}"]
    (new / "model.safetensors").unlink()
    assert look.look("Acme/Tiny", "", "modelscope").path == str(old)


def test_m16_the_whole_cache_is_mounted_for_an_id(tmp_path: Path) -> None:
    cached(tmp_path)
    found = look.look("acme/tiny", str(tmp_path))
    assert (found.mount, found.container_path) == (str(tmp_path), "acme/tiny")


def test_m16_the_path_of_a_snapshot_is_refused_and_the_id_named(tmp_path: Path) -> None:
    snapshot = cached(tmp_path) / "snapshots/aaaa1111"
    (problem,) = look.look(str(snapshot), "").problems
    assert problem.startswith(f"links out of {snapshot}, which is all that the container gets: config.json, ")
    assert problem.endswith(
        f"(set serving_model: acme/tiny, model_cache_dir: {tmp_path}, serving_model_revision: aaaa1111)"
    )
    for path in snapshot.iterdir():
        content = path.read_bytes()
        path.unlink()
        path.write_bytes(content)
    assert look.look(str(snapshot), "").problems == []
