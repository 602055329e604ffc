# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Image archives are what `docker load` takes, and the same each time."""

from __future__ import annotations

import hashlib
import json
import tarfile
from pathlib import Path

import pytest

from lab.engines.archive import EPOCH, ImageConfig, copied_layer, tree_layer, write_archive

CONFIG = ImageConfig("lab/thing:1", "arm64", {"B": "2", "A": "1"}, {"made": "here"})


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Return a folder with a file, a program, a link and something unwanted."""
    folder = tmp_path / "tree"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "data").write_text("data", encoding="utf-8")
    (folder / "program").write_text("#!/bin/sh\n", encoding="utf-8")
    (folder / "program").chmod(0o700)
    (folder / "link").symlink_to("program")
    (folder / "skip").mkdir()
    (folder / "skip" / "inside").write_text("x", encoding="utf-8")
    return folder


@pytest.fixture
def image(tmp_path: Path, tree: Path) -> Path:
    """Return an archive of two layers."""
    base = tmp_path / "base.tar"
    with tarfile.open(base, "w") as layer:
        layer.add(tree / "program", "base-program")
    target = tmp_path / "image.tar"
    layers = [copied_layer(base), tree_layer({"opt/thing": tree}, lambda name: name != "skip")]
    image_id = write_archive(target, CONFIG, layers)
    assert image_id.startswith("sha256:")
    return target


def read(archive: Path, name: str) -> bytes:
    """Return a member's content."""
    with tarfile.open(archive) as image:
        member = image.extractfile(name)
        assert member is not None
        return member.read()


def test_manifest_names_configuration_and_layers(image: Path) -> None:
    manifest = json.loads(read(image, "manifest.json"))
    assert manifest[0]["RepoTags"] == ["lab/thing:1"]
    configuration = read(image, manifest[0]["Config"])
    assert manifest[0]["Config"] == f"{hashlib.sha256(configuration).hexdigest()}.json"
    value = json.loads(configuration)
    assert (value["architecture"], value["os"]) == ("arm64", "linux")
    assert value["config"]["Env"] == ["A=1", "B=2"]
    assert value["config"]["Labels"] == {"made": "here"}
    digests = [f"sha256:{hashlib.sha256(read(image, name)).hexdigest()}" for name in manifest[0]["Layers"]]
    assert value["rootfs"]["diff_ids"] == digests
    assert len(value["history"]) == len(digests) == 2


def test_a_tree_layer_has_fixed_owners_modes_and_times(image: Path, tmp_path: Path) -> None:
    manifest = json.loads(read(image, "manifest.json"))
    layer_file = tmp_path / "layer.tar"
    layer_file.write_bytes(read(image, manifest[0]["Layers"][1]))
    with tarfile.open(layer_file) as layer:
        members = {member.name: member for member in layer}
    assert list(members) == ["opt/thing", "opt/thing/link", "opt/thing/program", "opt/thing/sub", "opt/thing/sub/data"]
    assert {member.mtime for member in members.values()} == {EPOCH}
    assert {(member.uid, member.gid) for member in members.values()} == {(0, 0)}
    assert members["opt/thing/program"].mode == 0o755
    assert members["opt/thing/sub/data"].mode == 0o644
    assert members["opt/thing/link"].linkname == "program"


def test_the_same_content_gives_the_same_image(image: Path, tmp_path: Path, tree: Path) -> None:
    again = tmp_path / "again.tar"
    (tree / "sub" / "data").chmod(0o600)
    (tree / "program").touch()
    write_archive(
        again,
        CONFIG,
        [copied_layer(tmp_path / "base.tar"), tree_layer({"opt/thing": tree}, lambda name: name != "skip")],
    )
    assert again.read_bytes() == image.read_bytes()
