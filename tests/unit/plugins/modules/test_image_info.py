# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is said of a file of an image."""

from __future__ import annotations

from pathlib import Path

from ansible_collections.dgxspark.serving.plugins.modules.image_info import look_into
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.images import archives


def test_a_host_without_the_file(tmp_path: Path) -> None:
    assert look_into(tmp_path / "x.tar", "acme/vllm:1") is None
    assert look_into(tmp_path, "acme/vllm:1") is None


def test_an_image(tmp_path: Path) -> None:
    found = look_into(archives.image(tmp_path / "x.tar", "acme/vllm:1"), "acme/vllm:1")
    assert found is not None
    assert (found["architecture"], found["layers"], found["problem"]) == ("arm64", ("sha256:l1", "sha256:l2"), "")


def test_no_image(tmp_path: Path) -> None:
    path = tmp_path / "x.tar"
    path.write_bytes(b"no tar")
    found = look_into(path, "acme/vllm:1")
    assert found is not None
    assert found["problem"] == "it is no tar file, or only a part of one"
    assert found["layers"] == []
