# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which small files a model lacks, and how they are brought from its base."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.background.work import WorkFailed
from ansible_collections.dgxspark.serving.plugins.module_utils.download import complete, completion
from ansible_collections.dgxspark.serving.plugins.module_utils.download.refusal import Asked
from ansible_collections.dgxspark.serving.plugins.module_utils.download.work import Wanted

SEES: dict[str, Any] = {"vision_config": {}}
WHOLE = ["config.json", "generation_config.json", "tokenizer.json", "chat_template.jinja"]


@pytest.mark.parametrize(
    ("config", "tokenizer", "names", "wanted"),
    [
        ({}, {}, WHOLE, []),
        ({}, {}, [*WHOLE[:1], *WHOLE[2:]], ["generation_config.json"]),
        ({}, {}, WHOLE[:3], ["chat_template.jinja", "chat_template.json"]),
        ({}, {"chat_template": "{{ x }}"}, WHOLE[:3], []),
        (SEES, {}, [*WHOLE, "preprocessor_config.json"], []),
        (
            SEES,
            {},
            WHOLE,
            ["preprocessor_config.json", "processor_config.json", "video_preprocessor_config.json"],
        ),
    ],
)
def test_only_what_is_missing_and_used(
    config: dict[str, Any], tokenizer: dict[str, Any], names: list[str], wanted: list[str]
) -> None:
    assert completion.lacking(config, tokenizer, names) == wanted


def test_without_a_tokenizer_all_its_files_are_looked_for() -> None:
    wanted = completion.lacking({}, {}, ["config.json", "tokenizer_config.json"])
    assert {"tokenizer.json", "tokenizer.model", "merges.txt"} <= set(wanted)
    assert "tokenizer_config.json" not in wanted


def folder(path: Path, **files: str) -> Path:
    """A folder with files, whose names have two underscores for a dot."""
    path.mkdir(parents=True)
    for name, text in files.items():
        (path / name.replace("__", ".")).write_text(text, encoding="utf-8")
    return path


def base(path: Path) -> Wanted:
    """A base that lies on the host."""
    return Wanted(Asked(str(path), "huggingface"), "", "", "/none", 1)


class Silent:
    """Progress that nobody reads."""

    def tell(self, done: int, total: int, text: str = "") -> None:
        assert (done, total) == (0, 0)


def completed(model: Path, source: Path) -> list[str]:
    """Complete a model."""
    names = complete.lacking(str(model))
    return complete.complete(str(model), names, base(source), Silent())["completed"]  # type: ignore[arg-type]


def test_a_snapshot_gets_links_to_blobs_and_a_note(tmp_path: Path) -> None:
    repository = tmp_path / "models--acme--tiny"
    model = folder(repository / "snapshots/aaaa1111", config__json=json.dumps(SEES), tokenizer__json="{}")
    source = folder(tmp_path / "base", preprocessor_config__json='{"a": 1}', config__json="{}", tokenizer__json="{1}")
    assert completed(model, source) == ["preprocessor_config.json"]
    link = model / "preprocessor_config.json"
    assert link.is_symlink() and not link.readlink().is_absolute()
    assert link.resolve().parent == (repository / "blobs").resolve()
    assert link.read_text(encoding="utf-8") == '{"a": 1}'
    assert (model / "tokenizer.json").read_text(encoding="utf-8") == "{}"
    note = json.loads((repository / ".dgxspark-serving/aaaa1111.completed.json").read_text(encoding="utf-8"))
    assert note == {"files": {"preprocessor_config.json": str(source)}}
    assert sorted(path.name for path in model.iterdir()) == [
        "config.json",
        "preprocessor_config.json",
        "tokenizer.json",
    ]
    assert [path.name for path in model.parent.iterdir()] == ["aaaa1111"]


def test_a_folder_gets_files_and_its_notes_add_up(tmp_path: Path) -> None:
    model = folder(tmp_path / "tiny", config__json="{}", tokenizer__json="{}", chat_template__jinja="")
    first = folder(tmp_path / "first", generation_config__json="{}")
    assert completed(model, first) == ["generation_config.json"]
    (model / "chat_template.jinja").unlink()
    second = folder(tmp_path / "second", chat_template__jinja="x")
    assert completed(model, second) == ["chat_template.jinja"]
    note = json.loads((tmp_path / ".dgxspark-serving.tiny.completed.json").read_text(encoding="utf-8"))
    assert note["files"] == {"chat_template.jinja": str(second), "generation_config.json": str(first)}
    assert not (model / "generation_config.json").is_symlink()
    assert complete.lacking(str(model)) == []


def test_a_base_without_any_of_them_is_refused(tmp_path: Path) -> None:
    model = folder(tmp_path / "tiny", config__json="{}", tokenizer__json="{}", chat_template__jinja="")
    source = folder(tmp_path / "base", config__json="{}")
    with pytest.raises(WorkFailed) as caught:
        completed(model, source)
    assert str(caught.value) == f"{source} has none of generation_config.json: set model_base to another model."


def test_a_config_that_is_no_json_is_named(tmp_path: Path) -> None:
    model = folder(tmp_path / "tiny", config__json="{")
    with pytest.raises(OSError, match=r"config\.json is not a JSON object"):
        complete.lacking(str(model))
