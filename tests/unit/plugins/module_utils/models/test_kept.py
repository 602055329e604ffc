# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Manifests that are kept beside models."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.models import kept, manifest

HASH = "a" * 64
ENTRIES = [{"path": "a", "size": 1}, {"path": "b", "size": 2}, {"path": "c", "link": "a"}]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A folder with two files and a link."""
    folder = tmp_path / "tiny"
    folder.mkdir()
    (folder / "a").write_bytes(b"1")
    (folder / "b").write_bytes(b"22")
    (folder / "c").symlink_to("a")
    return folder


def made(model: Path) -> dict[str, Any]:
    return manifest.make(str(model), "path", "", ENTRIES, {"a": HASH, "b": HASH})


def keep(model: Path) -> str:
    """Keep its manifest and say where."""
    assert kept.write(str(model), made(model), kept.seen(str(model), ENTRIES)) == ""
    return str(model.parent / ".dgxspark-serving.tiny.json")


def digest(model: Path, entries: list[dict[str, Any]] | None = None) -> str:
    return kept.digest(str(model), "path", str(model), "", entries or ENTRIES)


@pytest.mark.parametrize(
    ("root", "hub", "model", "revision", "expected"),
    [
        ("/hub", "huggingface", "acme/tiny", "abc", "/hub/models--acme--tiny/.dgxspark-serving/abc.json"),
        ("/data/tiny/", "path", "/data/tiny", "", "/data/.dgxspark-serving.tiny.json"),
        ("/m/acme/ti___ny", "modelscope", "acme/ti.ny", "", "/m/acme/.dgxspark-serving.ti___ny.json"),
    ],
)
def test_where_it_is_kept(root: str, hub: str, model: str, revision: str, expected: str) -> None:
    assert kept.path_of(root, hub, model, revision) == expected


def test_what_is_written_is_read(model: Path) -> None:
    path = keep(model)
    now = kept.seen(str(model), ENTRIES)
    assert kept.load(path) == {"manifest": made(model), "seen": now}
    assert now == {name: [size, (model / name).stat().st_mtime_ns] for name, size in (("a", 1), ("b", 2))}
    assert os.stat(path).st_mode & 0o777 == 0o644
    assert sorted(os.listdir(model.parent)) == [".dgxspark-serving.tiny.json", "tiny"]


def test_its_digest_while_nothing_changed(model: Path) -> None:
    assert digest(model) == ""
    keep(model)
    assert digest(model) == manifest.digest(made(model))


def test_no_digest_when_a_file_changed(model: Path) -> None:
    path = keep(model)
    (model / "a").write_bytes(b"x")
    os.utime(model / "a", ns=(0, 1))
    assert digest(model) == ""
    # It still vouches for the other file.
    now = kept.seen(str(model), ENTRIES)
    assert kept.vouched(kept.load(path), now) == {"b": HASH}
    assert kept.expected(kept.load(path), now) == {"a": HASH, "b": HASH}


def test_no_digest_when_files_are_others(model: Path) -> None:
    keep(model)
    assert digest(model, [*ENTRIES, {"path": "d", "size": 1}]) == ""
    assert digest(model, [*ENTRIES[:2], {"path": "c", "link": "b"}]) == ""
    assert digest(model, ENTRIES[:2]) == ""


def test_what_has_another_size_or_is_gone_is_not_expected(model: Path) -> None:
    path = keep(model)
    (model / "a").write_bytes(b"longer")
    (model / "b").unlink()
    assert kept.expected(kept.load(path), kept.seen(str(model), ENTRIES)) == {}


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"manifest": {}, "seen": {}}', '{"manifest": 1, "seen": 2}', "\x00"]
)
def test_a_record_that_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "x").write_text(text)
    assert kept.load(str(tmp_path / "x")) is None


def test_a_record_that_leads_outside_is_none(model: Path) -> None:
    path = keep(model)
    record = json.loads(Path(path).read_text(encoding="utf-8"))
    record["manifest"]["entries"][0]["path"] = "../a"
    Path(path).write_text(json.dumps(record), encoding="utf-8")
    assert kept.load(path) is None


def test_a_place_that_cannot_be_written_is_a_note(tmp_path: Path) -> None:
    (tmp_path / "models--acme--tiny").write_text("no folder")
    data = manifest.make("acme/tiny", "huggingface", "rev", [], {})
    note = kept.write(str(tmp_path), data, {})
    path = tmp_path / "models--acme--tiny/.dgxspark-serving/rev.json"
    assert note == f"The manifest cannot be kept as {path} (Not a directory), so the files are hashed again each time."
