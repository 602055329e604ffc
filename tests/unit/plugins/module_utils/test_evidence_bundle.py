# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The archive of what can be seen of a host's ranks."""

from __future__ import annotations

import tarfile
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.evidence_bundle import bundle
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.docker_socket import Docker
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.hostpaths import HostPaths

NAME = "dgxspark-big-0-r0"
CANARY = "hf_CANARY123"


@pytest.fixture
def paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> HostPaths:
    """A host with one rank whose container has a token in its environment."""
    inspected: dict[str, Any] = {"Name": f"/{NAME}", "Config": {"Env": [f"HF_TOKEN={CANARY}"], "Cmd": ["serve"]}}
    monkeypatch.setattr(Docker, "inspect", lambda self, name: inspected)
    monkeypatch.setattr(Docker, "logs", lambda self, name, lines: f"INFO started with {CANARY}\n".encode())
    made = HostPaths(tmp_path)
    made.specs.mkdir(parents=True)
    made.spec(NAME).write_text("{}", encoding="utf-8")
    return made


def test_a07_no_value_of_an_environment_variable(paths: HostPaths) -> None:
    saved = paths.evidence(NAME) / "20261129T120000Z-hung"
    saved.mkdir(parents=True)
    (saved / "why.json").write_text("{}", encoding="utf-8")
    path = bundle(paths, "spark1", 0)
    assert path is not None
    assert path.name == "dgxspark-evidence-spark1-19700101T000000Z.tar.gz"
    with tarfile.open(path) as archive:
        names = archive.getnames()
        files = [archive.extractfile(member) for member in archive.getmembers() if member.isfile()]
        assert not any(CANARY.encode() in file.read() for file in files if file)
    top = path.name.removesuffix(".tar.gz")
    assert {f"{top}/now/{NAME}/inspect.json", f"{top}/saved/{NAME}/{saved.name}/why.json"} <= set(names)


def test_one_archive_is_kept(paths: HostPaths) -> None:
    bundle(paths, "spark1", 0)
    newest = bundle(paths, "spark1", 86400)
    assert sorted(paths.states.glob("*.tar.gz")) == [newest]


def test_a_host_without_ranks(tmp_path: Path) -> None:
    assert bundle(HostPaths(tmp_path), "spark1", 0) is None
