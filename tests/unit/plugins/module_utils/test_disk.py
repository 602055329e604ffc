# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests of room on disks."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils import disk


def test_a_folder_that_is_not_there_yet(tmp_path: Path) -> None:
    below = str(tmp_path / "not" / "there")
    assert disk.nearest(below) == str(tmp_path)
    assert disk.nearest("/not/there") == "/"
    assert disk.free(below) is not None


@pytest.mark.parametrize(("blocks", "available", "free"), [(10, 2, 8192), (10, 0, 0), (0, 0, None)])
def test_m08_a_file_system_of_no_size_says_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, blocks: int, available: int, free: int | None
) -> None:
    there = SimpleNamespace(f_blocks=blocks, f_bavail=available, f_frsize=4096)
    monkeypatch.setattr(disk.os, "statvfs", lambda path: there)
    assert disk.free(str(tmp_path)) == free
    assert disk.room(str(tmp_path)) == (None if free is None else (free, 10 * 4096))
