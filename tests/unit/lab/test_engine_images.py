# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Docker archives and the key of a template."""

from __future__ import annotations

import io
import json
import tarfile
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest
import requests
from docker.errors import APIError

from lab.engine_images import EngineArchive, image_id_of, remove_templates, template_key, template_volume
from lab.errors import LabError


def archive(path: Path, files: dict[str, bytes]) -> Path:
    """Write a tar file."""
    with tarfile.open(path, "w") as stream:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            stream.addfile(member, io.BytesIO(content))
    return path


@pytest.mark.parametrize("config", ["abc123.json", "blobs/sha256/abc123"])
def test_image_id(tmp_path: Path, config: str) -> None:
    manifest = json.dumps([{"Config": config, "RepoTags": ["x:1"]}]).encode()
    assert image_id_of(archive(tmp_path / "a.tar", {"layer": b"x", "manifest.json": manifest})) == "sha256:abc123"


@pytest.mark.parametrize("files", [{}, {"manifest.json": b"{"}])
def test_what_is_no_docker_archive(tmp_path: Path, files: dict[str, bytes]) -> None:
    with pytest.raises(LabError, match="is no docker archive"):
        image_id_of(archive(tmp_path / "a.tar", files))


def test_template_key_follows_images_and_not_their_order() -> None:
    one = EngineArchive("a:1", "sha256:1", Path("/a"))
    two = EngineArchive("b:1", "sha256:2", Path("/b"))
    newer = EngineArchive("b:1", "sha256:3", Path("/b"))
    assert template_key("spark:1", [one, two]) == template_key("spark:1", [two, one])
    keys = {template_key("spark:1", images) for images in ([one], [one, two], [one, newer])}
    assert len(keys) == 3
    assert template_key("spark:2", [one]) not in keys


class BusyVolume:
    """A volume that a container uses."""

    name = template_volume("busy")

    def __init__(self, status: int) -> None:
        self.status = status

    def remove(self, force: bool) -> None:
        response = requests.Response()
        response.status_code = self.status
        raise APIError("volume is in use", response=response)


@pytest.mark.parametrize(("status", "outcome"), [(409, nullcontext()), (500, pytest.raises(APIError))])
def test_a_template_that_another_run_uses_stays(status: int, outcome: AbstractContextManager[object]) -> None:
    client = SimpleNamespace(volumes=SimpleNamespace(list=lambda filters: [BusyVolume(status)]))
    with outcome:
        remove_templates(client, "lab/engine-double")
