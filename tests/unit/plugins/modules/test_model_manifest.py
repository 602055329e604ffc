# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The work of module model_manifest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.background.work import WorkFailed
from ansible_collections.dgxspark.serving.plugins.modules import model_manifest
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.models.model_trees import ID, cached, folder


class Progress:
    """Nobody listens."""

    def tell(self, done: int, total: int) -> None:
        """As the real one."""


def work(model: str, hub: Path | None = None, **options: Any) -> dict[str, Any]:
    given = {"model": model, "cache_dir": str(hub or ""), "hub": "huggingface", "revision": "", "verify": "size"}
    return model_manifest.work({**given, "manifest": None, **options}, Progress())


def refused(model: str, hub: Path | None = None, **options: Any) -> str:
    with pytest.raises(WorkFailed) as caught:
        work(model, hub, **options)
    return str(caught.value)


def test_a_model_and_its_copy(tmp_path: Path) -> None:
    cached(tmp_path / "a")
    cached(tmp_path / "b")
    made = work(ID, tmp_path / "a")
    always = {"manifest", "digest", "wrong", "missing", "extra", "problems", "made", "notes", "seconds"}
    assert made.keys() == always
    held = work(ID, tmp_path / "b", verify="sha256", manifest=made["manifest"])
    assert (held["problems"], held["digest"]) == ([], made["digest"])
    assert work(ID, tmp_path / "b", manifest=made["manifest"])["made"] is False


def test_a_host_without_the_model_lacks_all(tmp_path: Path) -> None:
    cached(tmp_path / "a")
    wanted = work(ID, tmp_path / "a")["manifest"]
    held = work(ID, tmp_path / "b", manifest=wanted)
    assert held["missing"] == [entry["path"] for entry in wanted["entries"]]


def test_a_folder(tmp_path: Path) -> None:
    made = work(str(folder(tmp_path / "tiny")))
    paths = [entry["path"] for entry in made["manifest"]["entries"]]
    assert (paths, made["manifest"]["hub"]) == (["config.json", "model.safetensors", "tokenizer.json"], "path")


def test_no_model() -> None:
    assert refused("no id") == "model is 'no id', wanted an absolute path or an id such as ORG/NAME."


def test_half_a_model(tmp_path: Path) -> None:
    (folder(tmp_path / "tiny") / "tokenizer.json").unlink()
    path = str(tmp_path / "tiny")
    assert refused(path).startswith(f"{path} is not complete: no tokenizer file")


def test_a_manifest_that_leads_outside(tmp_path: Path) -> None:
    path = str(folder(tmp_path / "tiny"))
    wanted = work(path)["manifest"]
    wanted["entries"][0]["path"] = "../x"
    said = f"The manifest of {path} cannot be used: '../x' is no path inside the model's folder."
    assert refused(path, manifest=wanted) == said


def test_a_manifest_of_another_model(tmp_path: Path) -> None:
    path, other = str(folder(tmp_path / "tiny")), str(folder(tmp_path / "other"))
    assert (
        refused(path, manifest=work(other)["manifest"]) == f"The manifest is of {other} (path), not of {path} (path)."
    )
