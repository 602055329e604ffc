# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of images as Docker reads them."""

from __future__ import annotations

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.images import names
from ansible_collections.dgxspark.serving.plugins.module_utils.images.names import Name

DIGEST = "sha256:" + "a" * 64


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ubuntu", Name("docker.io", "library/ubuntu", "latest")),
        ("docker.io/library/ubuntu:latest", Name("docker.io", "library/ubuntu", "latest")),
        ("acme/vllm:v1", Name("docker.io", "acme/vllm", "v1")),
        ("localhost:5000/acme/vllm", Name("localhost:5000", "acme/vllm", "latest")),
        ("registry.example/team/acme/vllm:v1", Name("registry.example", "team/acme/vllm", "v1")),
        (f"acme/vllm@{DIGEST}", Name("docker.io", "acme/vllm", "", DIGEST)),
        (f"localhost:5000/vllm:v1@{DIGEST}", Name("localhost:5000", "vllm", "v1", DIGEST)),
    ],
)
def test_read(name: str, expected: Name) -> None:
    assert names.read(name) == expected


@pytest.mark.parametrize(
    ("name", "loopback"), [("localhost:5000/x", True), ("127.0.0.1:5000/x", True), ("acme/x", False)]
)
def test_loopback(name: str, loopback: bool) -> None:
    assert names.read(name).loopback is loopback


@pytest.mark.parametrize(
    ("mirror", "name", "expected"),
    [
        ("mirror.example", "ubuntu", "mirror.example/library/ubuntu:latest"),
        ("https://mirror.example/", "acme/vllm:v1", "mirror.example/acme/vllm:v1"),
        ("mirror.example/hub", "registry.example/acme/vllm:v1", "mirror.example/hub/acme/vllm:v1"),
        ("mirror.example:5000", f"acme/vllm@{DIGEST}", f"mirror.example:5000/acme/vllm@{DIGEST}"),
    ],
)
def test_at_mirror_keeps_tag_and_digest(mirror: str, name: str, expected: str) -> None:
    assert names.at_mirror(mirror, name) == expected


@pytest.mark.parametrize("name", ["localhost:5000/acme/vllm", "localhost:5000/acme/vllm:v1"])
def test_by_digest(name: str) -> None:
    assert names.by_digest(name, DIGEST) == f"localhost:5000/acme/vllm@{DIGEST}"
