# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Models in Hugging Face layout as they are sent to hosts, and their padding."""

from __future__ import annotations

import hashlib
import io
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from lab import hub_models
from lab.errors import LabError
from lab.unpack import unpack

FILES = {"config.json": b"{}", "model.safetensors": b"weights", "sub/extra.json": b"{}"}


def unpacked(folder: Path, revision: str) -> Path:
    """Unpack the tar as Docker would below a root folder; return the model's folder."""
    with tarfile.open(fileobj=io.BytesIO(hub_models.cache_tar("lab/tiny", FILES, revision))) as archive:
        assert {(member.uid, member.gid) for member in archive} == {(1000, 1000)}
        assert "home/nvidia" not in archive.getnames()
        unpack(archive, folder)
    return folder / hub_models.CACHE.lstrip("/") / "models--lab--tiny"


def test_links_lead_to_blobs_and_the_reference_to_the_snapshot(tmp_path: Path) -> None:
    model = unpacked(tmp_path, "0123")
    assert (model / "refs" / "main").read_text(encoding="ascii") == "0123"
    for path, content in FILES.items():
        link = model / "snapshots" / "0123" / path
        assert link.is_symlink()
        assert link.read_bytes() == content
        assert link.resolve().parent == (model / "blobs").resolve()
    # The name that git gives to a file of these two bytes.
    names = {path.name for path in (model / "blobs").iterdir()}
    assert names == {hashlib.sha256(b"weights").hexdigest(), "9e26dfeeb6e641a33dae4961196235bdb965b21b"}


def test_padding_is_named_by_its_content_and_made_twice_alike(tmp_path: Path) -> None:
    size = 3 * (1 << 20) + 5
    seen = []
    for name in ("one", "two"):
        model = unpacked(tmp_path / name, "0123")
        command = hub_models.padding_command("lab/tiny", "0123", size)
        assert command[2] == f"{hub_models.CACHE}/models--lab--tiny"
        command = [sys.executable, "-", str(model), *command[3:]]
        with hub_models.PADDING_SCRIPT.open("rb") as script:
            subprocess.run(command, stdin=script, check=True)
        links = sorted((model / "snapshots" / "0123" / "padding").iterdir())
        blobs = [link.resolve() for link in links]
        assert all(blob.name == hashlib.sha256(blob.read_bytes()).hexdigest() for blob in blobs)
        assert sum(blob.stat().st_size for blob in blobs) == size
        assert len({*blobs}) == len(blobs)
        seen.append([blob.name for blob in blobs])
    assert seen[0] == seen[1]


def test_revision_stands_for_content_and_padding() -> None:
    revisions = {
        hub_models.revision_of(FILES, 0),
        hub_models.revision_of(FILES, 1),
        hub_models.revision_of({**FILES, "config.json": b"[]"}, 0),
    }
    assert {len(revision) for revision in revisions} == {40}
    assert len(revisions) == 3
    assert hub_models.revision_of(dict(reversed(FILES.items())), 0) in revisions


@pytest.mark.parametrize("name", ["tiny", "/tiny", "lab/", "lab/tiny/more"])
def test_no_model_id(name: str) -> None:
    with pytest.raises(LabError, match="wanted ORG/NAME"):
        hub_models.repository(name)


def test_folder_is_read_with_its_subfolders(tmp_path: Path) -> None:
    for path, content in FILES.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(content)
    assert hub_models.read_folder(tmp_path) == FILES
