# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading a model's folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.models import tree
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.models.model_trees import shard


def entry(path: Path) -> tree.Entry:
    """A file as the folder's listing has it."""
    return next(found for found in tree.files(str(path.parent)) if found.path == path.name)


def test_all_files_with_what_links_lead_to(tmp_path: Path) -> None:
    (tmp_path / "model" / "sub").mkdir(parents=True)
    (tmp_path / "model" / ".cache").mkdir()
    (tmp_path / "model" / ".cache" / "x").touch()
    blob = tmp_path / "blob"
    blob.write_bytes(b"12345")
    model = tmp_path / "model"
    (model / ".gitattributes").touch()
    (model / "sub" / "far").symlink_to("../../blob")
    (model / "here").symlink_to(model / "sub" / "far")
    (model / "gone").symlink_to("nowhere")
    (model / "round").symlink_to("round")
    (model / "sub" / "again").symlink_to("..")
    found = {one.path: (one.size, one.real, one.absolute) for one in tree.files(str(model))}
    assert found == {
        ".gitattributes": (0, str(model / ".gitattributes"), False),
        "gone": (None, str(model / "gone"), False),
        "here": (5, str(blob), True),
        "round": (None, str(model / "round"), False),
        "sub/far": (5, str(blob), False),
    }


def test_json(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text('{"a": 1}')
    assert tree.read_json(str(path)) == {"a": 1}
    for text in ("", "[]", '{"a":', "\0", "[" * 100_000):
        path.write_text(text)
        with pytest.raises(ValueError, match=r"^config\.json is not a JSON object$"):
            tree.read_json(str(path))


@pytest.mark.parametrize(
    ("content", "pointer"),
    [
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:12\nsize 4\n", True),
        (b"version https://git-lfs" + bytes(2000), False),
        (b"version 2 of something else", False),
        (b"", False),
    ],
)
def test_notes_of_git_lfs(tmp_path: Path, content: bytes, pointer: bool) -> None:
    (tmp_path / "a").write_bytes(content)
    assert tree.is_pointer(entry(tmp_path / "a")) is pointer


def test_a_header_is_read_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    path.write_bytes(shard(1000))
    assert tree.header(entry(path)) == {"w": {"dtype": "U8", "shape": [1000], "data_offsets": [0, 1000]}}
    with path.open("r+b") as stream:
        stream.truncate(500)
    with pytest.raises(ValueError, match="^500 bytes, wanted "):
        tree.header(entry(path))


def test_the_start_of_the_card(tmp_path: Path) -> None:
    assert tree.read_card(str(tmp_path)) == ""
    (tmp_path / "README.md").write_bytes(b"---\n\xff" + b"x" * 100_000)
    assert tree.read_card(str(tmp_path)).startswith("---\n")
    assert len(tree.read_card(str(tmp_path))) == 65_536


def test_unfinished_downloads(tmp_path: Path) -> None:
    (tmp_path / ".cache").mkdir()
    for name in (".cache/a.incomplete", "b.incomplete", "c"):
        (tmp_path / name).write_bytes(b"12345")
    (tmp_path / "gone.incomplete").symlink_to("nowhere")
    assert tree.incomplete(str(tmp_path)) == {
        f"{tmp_path}/.cache/a.incomplete": 5,
        f"{tmp_path}/b.incomplete": 5,
    }
