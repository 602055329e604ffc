# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module model_download: what it makes of its options."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.dgxspark.serving.plugins.doc_fragments import background
from ansible_collections.dgxspark.serving.plugins.module_utils.download.work import Wanted
from ansible_collections.dgxspark.serving.plugins.modules import model_download
from ansible_collections.dgxspark.serving.tests.unit.plugins.modules.fake_module import Ended, FakeModule


def call(monkeypatch: pytest.MonkeyPatch, **params: Any) -> dict[str, Any]:
    """Run the module with its own defaults; the work itself is not begun, it is returned with what it would do."""

    def made(argument_spec: dict[str, dict[str, Any]], **_options: Any) -> FakeModule:
        texts = (model_download.DOCUMENTATION, background.ModuleDocFragment.DOCUMENTATION)
        documented = {name: option for text in texts for name, option in yaml.safe_load(text)["options"].items()}
        assert {name: option.get("default") for name, option in documented.items()} == {
            name: option.get("default") for name, option in argument_spec.items()
        }
        return FakeModule({name: option.get("default") for name, option in argument_spec.items()} | params)

    def run_job(_module: FakeModule, work: Callable[[None], dict[str, Any]]) -> None:
        raise Ended(work(None))

    monkeypatch.setattr(model_download, "AnsibleModule", made)
    monkeypatch.setattr(model_download, "run_job", run_job)
    monkeypatch.setattr(model_download, "download", lambda wanted, progress: {"wanted": wanted})
    monkeypatch.setattr(
        model_download, "complete", lambda path, names, base, progress: {"path": path, "names": names, "wanted": base}
    )
    with pytest.raises(Ended) as ended:
        model_download.main()
    return ended.value.result


@pytest.mark.parametrize(
    ("hub", "root", "endpoint"),
    [("huggingface", "", "http://mirror.example"), ("modelscope", "/models/acme/Tiny-1___5B", "")],
)
def test_m12_a_model_goes_where_its_library_looks(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, hub: str, root: str, endpoint: str
) -> None:
    options = {"cache_dir": str(tmp_path), "hub": hub, "revision": "v2", "hf_endpoint": "http://mirror.example"}
    wanted: Wanted = call(monkeypatch, model="acme/Tiny-1.5B", token="secret", **options)["wanted"]
    assert (wanted.root, wanted.token, wanted.workers) == (f"{tmp_path}{root}", "secret", 8)
    assert (wanted.asked.model, wanted.asked.revision, wanted.asked.endpoint) == ("acme/Tiny-1.5B", "v2", endpoint)


@pytest.mark.parametrize("hub", ["huggingface", "modelscope"])
def test_m04_the_cache_that_is_named_is_filled_though_another_has_a_part(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, hub: str
) -> None:
    named, other = tmp_path / "named", tmp_path / "other"
    for variable in ("HF_HUB_CACHE", "MODELSCOPE_CACHE"):
        monkeypatch.setenv(variable, str(other))
    part = {"huggingface": "models--acme--tiny", "modelscope": "models/acme/tiny"}[hub]
    (other / part).mkdir(parents=True)
    whole = {"huggingface": "", "modelscope": "/models/acme/tiny"}[hub]
    assert call(monkeypatch, model="acme/tiny", hub=hub)["wanted"].root == f"{other}{whole}"
    assert call(monkeypatch, model="acme/tiny", hub=hub, cache_dir=str(named))["wanted"].root == f"{named}{whole}"
    (named / "hub" / part).mkdir(parents=True)
    there = call(monkeypatch, model="acme/tiny", hub=hub, cache_dir=str(named))["wanted"].root
    assert there == f"{named}/hub{whole}"


@pytest.mark.parametrize("model", ["/data/tiny", "tiny", ""])
def test_what_no_hub_knows_is_refused(monkeypatch: pytest.MonkeyPatch, model: str) -> None:
    assert call(monkeypatch, model=model) == {
        "failed": True,
        "msg": f"model is '{model}', wanted an id such as ORG/NAME.",
    }


def test_a_model_is_completed_with_what_it_lacks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"vision_config": {}}), encoding="utf-8")
    (tmp_path / "tokenizer.json").write_text("{}", encoding="utf-8")
    (tmp_path / "chat_template.jinja").write_text("", encoding="utf-8")
    options = {"state": "completed", "model": "acme/tiny", "path": str(tmp_path), "base": "acme/base"}
    result = call(monkeypatch, **options)
    assert (result["path"], result["wanted"].asked.model) == (str(tmp_path), "acme/base")
    assert "preprocessor_config.json" in result["names"] and "tokenizer.json" not in result["names"]
    for name in ("generation_config.json", "preprocessor_config.json"):
        (tmp_path / name).write_text("{}", encoding="utf-8")
    assert call(monkeypatch, **options) == {"changed": False, "folder": str(tmp_path), "completed": []}


def test_a_folder_that_cannot_be_read_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    options = {"state": "completed", "model": "acme/tiny", "path": str(tmp_path / "none"), "base": "acme/base"}
    assert call(monkeypatch, **options)["msg"].startswith("The model's folder cannot be read: [Errno 2] No such file")
