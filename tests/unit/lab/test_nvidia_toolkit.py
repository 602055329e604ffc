# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stand-ins of the package nvidia-container-toolkit: nvidia-ctk, and what `--gpus all` runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lab.host_image import nvidia_ctk, nvidia_hook


@pytest.mark.parametrize(
    ("before", "others"),
    [
        (None, {}),
        ("", {}),
        ("{}", {}),
        ('{"data-root": "/data", "runtimes": {"crun": {"path": "crun"}}}', {"data-root"}),
    ],
)
def test_runtime_is_added_to_what_docker_was_told(tmp_path: Path, before: str | None, others: set[str]) -> None:
    config = tmp_path / "docker" / "daemon.json"
    if before is not None:
        config.parent.mkdir()
        config.write_text(before, encoding="utf-8")
    assert nvidia_ctk.main(["runtime", "configure", "--runtime=docker", f"--config={config}"]) == 0
    document = json.loads(config.read_text(encoding="utf-8"))
    assert document["runtimes"]["nvidia"] == {"args": [], "path": "nvidia-container-runtime"}
    assert set(document) == {"runtimes", *others}
    assert ("crun" in document["runtimes"]) == ("crun" in (before or ""))


def test_runtime_can_be_made_the_default(tmp_path: Path) -> None:
    config = tmp_path / "daemon.json"
    nvidia_ctk.main(["runtime", "configure", "--set-as-default", f"--config={config}"])
    assert json.loads(config.read_text(encoding="utf-8"))["default-runtime"] == "nvidia"


def test_version_and_what_it_does_not_know(capsys: pytest.CaptureFixture) -> None:
    with pytest.raises(SystemExit) as ended:
        nvidia_ctk.main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("NVIDIA Container Toolkit CLI version ")
    with pytest.raises(SystemExit) as ended:
        nvidia_ctk.main(["cdi", "generate"])
    assert ended.value.code != 0


@pytest.mark.parametrize(("path", "root"), [("rootfs", "bundle/rootfs"), ("/merged", "/merged")])
def test_root_of_a_bundle(tmp_path: Path, path: str, root: str) -> None:
    bundle = tmp_path / "bundle"
    bundle.mkdir()
    (bundle / "config.json").write_text(json.dumps({"root": {"path": path}}), encoding="utf-8")
    assert nvidia_hook.root_of(bundle) == tmp_path / root


def test_program_and_answers_are_laid_into_the_container(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bound: list[tuple[str, str]] = []
    monkeypatch.setattr(nvidia_hook, "bind", lambda source, target: bound.append((str(source), str(target))))
    nvidia_hook.lay_in(tmp_path)
    assert bound == [
        ("/usr/local/lib/dgxspark-lab/nvidia_smi", f"{tmp_path}/usr/bin/nvidia-smi"),
        ("/etc/dgxspark-lab", f"{tmp_path}/etc/dgxspark-lab"),
    ]
    assert all(Path(target).exists() for _source, target in bound)
