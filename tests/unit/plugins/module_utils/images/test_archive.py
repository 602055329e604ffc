# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is in a file of ``docker save``, and what is said of one that is none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.images import archive
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.images import archives


@pytest.mark.parametrize("mode", ["w", "w:gz"])
@pytest.mark.parametrize("tags", [("acme/vllm:1",), ("acme/other:1",), ()])
def test_the_only_image(tmp_path: Path, mode: str, tags: tuple[str, ...]) -> None:
    found = archive.read(archives.image(tmp_path / "x.tar", *tags, mode=mode), "acme/vllm:1")
    assert found == archive.Archive(tags, "arm64", ("sha256:l1", "sha256:l2"), "c.json")


def test_of_several_the_wanted_one_is_taken(tmp_path: Path) -> None:
    other = {**archives.entry("acme/other:1"), "Config": "other.json"}
    manifest = [other, archives.entry("docker.io/acme/vllm:1")]
    path = archives.write(tmp_path / "x.tar", {"manifest.json": manifest, "c.json": archives.CONFIG})
    assert archive.read(path, "acme/vllm:1").config == "c.json"
    with pytest.raises(archive.NotAnImage, match=r"several images, and none is acme/x:1: acme/other:1, docker"):
        archive.read(path, "acme/x:1")


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"model.safetensors": b"x"}, "it has no manifest.json"),
        ({"manifest.json": [archives.entry()]}, "it has no c.json"),
        ({"manifest.json": b"{"}, "its manifest.json is wrong"),
        ({"manifest.json": [{"RepoTags": []}]}, "its manifest.json is wrong"),
        ({"manifest.json": [archives.entry()], "c.json": {"os": "linux"}}, "its manifest.json is wrong"),
    ],
    ids=["another tar", "no config", "no JSON", "no entry", "no layers"],
)
def test_a_tar_that_is_no_image(tmp_path: Path, files: dict[str, Any], said: str) -> None:
    with pytest.raises(archive.NotAnImage, match="it is a tar file, but docker save did not make it") as caught:
        archive.read(archives.write(tmp_path / "x.tar", files), "acme/vllm:1")
    assert said in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"no tar at all", b"\x1f\x8b broken"])
def test_what_is_no_tar(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.tar"
    path.write_bytes(content)
    with pytest.raises(archive.NotAnImage, match="it is no tar file"):
        archive.read(path, "acme/vllm:1")


def test_half_a_tar(tmp_path: Path) -> None:
    path = archives.image(tmp_path / "x.tar", "acme/vllm:1")
    path.write_bytes(path.read_bytes()[:2048])
    with pytest.raises(archive.NotAnImage, match="it is no tar file, or only a part of one"):
        archive.read(path, "acme/vllm:1")
