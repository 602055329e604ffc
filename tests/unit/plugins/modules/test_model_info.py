# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module model_info."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.dgxspark.serving.plugins.module_utils.models.look import Found
from ansible_collections.dgxspark.serving.plugins.modules import model_info
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.models.model_trees import ID, cached, folder
from ansible_collections.dgxspark.serving.tests.unit.plugins.modules.fake_module import Ended, FakeModule


class FolderModule(FakeModule):
    """Adds to a result with a path what Ansible does."""

    def add_path_info(self, result: dict[str, Any]) -> dict[str, Any]:
        """As Ansible does it."""
        return {**result, "size": 4096}

    def exit_json(self, **result: Any) -> None:
        super().exit_json(**self.add_path_info(result))


def call(monkeypatch: pytest.MonkeyPatch, **params: Any) -> dict[str, Any]:
    """Run the module with its own defaults."""

    def made(argument_spec: dict[str, dict[str, Any]], supports_check_mode: bool) -> FakeModule:
        assert supports_check_mode
        assert set(params) <= set(argument_spec)
        assert params.get("hub", "huggingface") in argument_spec["hub"]["choices"]
        return FolderModule({name: option.get("default") for name, option in argument_spec.items()} | params)

    monkeypatch.setattr(model_info, "AnsibleModule", made)
    with pytest.raises(Ended) as ended:
        model_info.main()
    return ended.value.result


def test_a_model_by_id(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    repository = cached(tmp_path)
    result = call(monkeypatch, model=ID, cache_dir=str(tmp_path))
    assert json.loads(json.dumps(result)) == result
    assert (result["changed"], result["problems"], result["mount"]) == (False, [], str(tmp_path))
    assert result["path"] == str(repository / "snapshots/aaaa1111")


def test_the_size_is_the_models(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = folder(tmp_path)
    # As a plan says it.
    result = call(monkeypatch, model=str(path), hub="path")
    assert result["hub"] == "path"
    assert result["size"] == sum(file.stat().st_size for file in path.iterdir())


def test_hub_and_revision(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = folder(tmp_path / "models/acme--tiny/snapshots/v2")
    folder(tmp_path / "models/acme--tiny/snapshots/v1")
    result = call(monkeypatch, model=ID, cache_dir=str(tmp_path), hub="modelscope", revision="v2")
    assert (result["hub"], result["revision"], result["root"]) == ("modelscope", "v2", str(path))


def test_neither_a_path_nor_an_id(monkeypatch: pytest.MonkeyPatch) -> None:
    assert call(monkeypatch, model="tiny") == {
        "failed": True,
        "msg": "model is 'tiny', wanted an absolute path or an id such as ORG/NAME.",
    }


def test_all_that_it_returns_is_documented() -> None:
    assert list(yaml.safe_load(model_info.RETURN)) == [field.name for field in fields(Found)]
