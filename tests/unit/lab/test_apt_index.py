# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The index of a host's own package repository."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from lab.host_image import apt_index


def test_each_package_is_in_the_index_with_its_place_and_digest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(apt_index, "SOURCES", tmp_path / "sources.list.d" / "lab.sources")
    monkeypatch.setattr(apt_index, "control_of", lambda package: f"Package: {package.name[0]}\nVersion: 1\n\n")
    for name in ("b_1_all.deb", "a_1_all.deb"):
        (tmp_path / name).write_bytes(name.encode())
    apt_index.main(tmp_path)
    first, second = (tmp_path / "Packages").read_text(encoding="utf-8").split("\n\n")
    assert first.splitlines() == [
        "Package: a",
        "Version: 1",
        "Filename: ./a_1_all.deb",
        "Size: 11",
        f"SHA256: {hashlib.sha256(b'a_1_all.deb').hexdigest()}",
    ]
    assert second.startswith("Package: b\n")
    assert f"URIs: file:{tmp_path}\n" in apt_index.SOURCES.read_text(encoding="utf-8")
