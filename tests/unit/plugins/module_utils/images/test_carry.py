# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An image as a file and back."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.background.work import WorkFailed
from ansible_collections.dgxspark.serving.plugins.module_utils.images import carry
from ansible_collections.dgxspark.serving.plugins.module_utils.images.carry import Load
from ansible_collections.dgxspark.serving.plugins.module_utils.images.image import layers_digest
from ansible_collections.dgxspark.serving.plugins.module_utils.images.replaced import replaced
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.images.fake_docker import FakeDocker

NAME = "acme/vllm:1"


def quiet(_done: int, _total: int, _text: str) -> None:
    """Nobody listens."""


@pytest.fixture
def docker(tmp_path: Path) -> FakeDocker:
    return FakeDocker(tmp_path / "docker")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "states/images"


def load(name: str, path: Path, content: str, keep: bool = False) -> Load:
    return Load(name, path, layers_digest([content]), "arm64", keep)


def test_the_file_and_its_manifest(docker: FakeDocker, folder: Path) -> None:
    docker.give(NAME, "one")
    told: list[int] = []
    made = carry.save(docker, NAME, "key", lambda done, total, text: told.append(done), folder)
    content = (folder / "key.tar").read_bytes()
    [entry] = made["manifest"]["entries"]
    assert entry == {"path": "key.tar", "size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    assert (made["changed"], made["manifest"]["hub"], told[-1]) == (True, "path", len(content))
    assert folder.stat().st_mode & 0o777 == 0o700


def test_a_whole_file_is_not_written_again_and_a_changed_one_is(docker: FakeDocker, folder: Path) -> None:
    docker.give(NAME, "one")
    made = carry.save(docker, NAME, "key", quiet, folder)
    assert carry.save(docker, NAME, "key", quiet, folder) == {**made, "changed": False}
    (folder / "key.tar").write_bytes(b"broken")
    assert carry.save(docker, NAME, "key", quiet, folder) == made


def test_what_interrupted_runs_have_left_is_removed(docker: FakeDocker, folder: Path) -> None:
    docker.give(NAME, "one")
    folder.mkdir(parents=True)
    for name in ("old.tar", ".old.tar.part", "key.json"):
        (folder / name).write_text("{}", encoding="utf-8")
    (folder.parent / ".dgxspark-serving.images.json").touch()
    carry.save(docker, NAME, "key", quiet, folder)
    assert sorted(path.name for path in folder.iterdir()) == ["key.json", "key.tar"]
    carry.tidy(folder)
    assert list(folder.parent.iterdir()) == []


def test_a_disk_that_is_too_small_is_said_before_the_first_byte(docker: FakeDocker, folder: Path) -> None:
    docker.give(NAME, "one", size=1 << 60)
    with pytest.raises(
        WorkFailed, match=r"^Found .* GB in /var/lib/dgxspark-serving/images free for image acme/vllm:1"
    ):
        carry.save(docker, NAME, "key", quiet, folder)
    assert list(folder.iterdir()) == []


def test_an_image_that_is_gone(docker: FakeDocker, folder: Path) -> None:
    with pytest.raises(WorkFailed, match="Found no image acme/vllm:1 to copy"):
        carry.save(docker, NAME, "key", quiet, folder)


def test_d04_what_is_loaded_is_what_was_saved(docker: FakeDocker, folder: Path, tmp_path: Path) -> None:
    docker.give(NAME, "one")
    carry.save(docker, NAME, "key", quiet, folder)
    other = FakeDocker(tmp_path / "other")
    loaded = carry.load(other, load(NAME, folder / "key.tar", "one"), quiet, folder)
    assert (loaded["changed"], loaded["image"]["layers"]) == (True, ("one",))
    assert not folder.exists()
    assert replaced(folder.parent) == []


def test_the_image_that_loses_its_name_is_remembered(docker: FakeDocker, folder: Path, tmp_path: Path) -> None:
    docker.give(NAME, "two")
    carry.save(docker, NAME, "key", quiet, folder)
    other = FakeDocker(tmp_path / "other")
    other.give(NAME, "one")
    assert carry.load(other, load(NAME, folder / "key.tar", "two"), quiet, folder)["changed"]
    assert replaced(folder.parent) == ["sha256:one"]


@pytest.mark.parametrize("name", ["acme/other:9", ""])
def test_an_image_of_another_name_gets_the_wanted_one_and_its_file_stays(
    docker: FakeDocker, folder: Path, tmp_path: Path, name: str
) -> None:
    image = docker.give("x", "one")
    path = tmp_path / "usb.tar"
    path.write_text(json.dumps({"name": name, "image": image}), encoding="utf-8")
    loaded = carry.load(docker, load(NAME, path, "one", keep=True), quiet, folder)
    assert loaded["image"]["id"] == "sha256:one"
    assert docker.image(NAME) is not None
    assert path.exists()


def test_d01_a_file_for_another_architecture(docker: FakeDocker, folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "usb.tar"
    path.write_text(json.dumps({"name": NAME, "image": docker.give("x", "one", "amd64")}), encoding="utf-8")
    with pytest.raises(WorkFailed, match=r"Found an image for amd64 in .*usb.tar, wanted arm64\. Save one for arm64\."):
        carry.load(docker, load(NAME, path, "one"), quiet, folder)


def test_another_image_than_was_sent(docker: FakeDocker, folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "usb.tar"
    path.write_text(json.dumps({"name": NAME, "image": docker.give("x", "one")}), encoding="utf-8")
    with pytest.raises(WorkFailed, match="Found another image acme/vllm:1 after the copy than was sent"):
        carry.load(docker, load(NAME, path, "two"), quiet, folder)


def test_docker_says_what_is_wrong_with_a_file(docker: FakeDocker, folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "usb.tar"
    path.write_bytes(b"no tar" * 100000)
    with pytest.raises(WorkFailed, match=r"docker load of .*usb.tar failed: invalid tar header\."):
        carry.load(docker, load(NAME, path, "one"), quiet, folder)
