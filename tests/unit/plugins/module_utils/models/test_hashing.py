# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""SHA-256 of real files."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.models import hashing


def nothing(done: int, total: int) -> None:
    """Nobody listens."""


def test_hashes_of_any_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hashing, "CHUNK", 4)
    monkeypatch.setattr(hashing, "WINDOW", 8)
    contents = {str(size): bytes(range(size)) for size in (0, 1, 4, 5, 8, 100)}
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    expected = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
    assert hashing.sha256_of(str(tmp_path), contents, nothing) == (expected, {})


def test_it_says_how_far_it_is(tmp_path: Path) -> None:
    for name, size in (("a", 3), ("b", 5)):
        (tmp_path / name).write_bytes(bytes(size))
    told: list[tuple[int, int]] = []
    hashing.sha256_of(str(tmp_path), ["a", "b"], lambda done, total: told.append((done, total)))
    assert told[-1] == (8, 8)
    assert told == sorted(told)


def test_all_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "a").write_bytes(b"")
    hashes, broken = hashing.sha256_of(str(tmp_path), ["gone", "folder", "a"], nothing)
    assert list(hashes) == ["a"]
    assert broken == {"gone": "No such file or directory", "folder": "Is a directory"}


def test_no_files(tmp_path: Path) -> None:
    assert hashing.sha256_of(str(tmp_path), [], nothing) == ({}, {})
