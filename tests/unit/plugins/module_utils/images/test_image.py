# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether two hosts have the same image."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.images.image import (
    Image,
    layers_digest,
    read_images,
    same_image,
)

A = "acme/vllm@sha256:aaaa"
B = "acme/vllm@sha256:bbbb"


def image(identity: str, *digests: str) -> dict:
    return asdict(Image(identity, digests, "arm64"))


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (image("sha256:1111", A), image("sha256:aaaa", A), True),
        (image("sha256:1111", A), image("sha256:1111"), True),
        (image("sha256:1111", A), image("sha256:2222", B), False),
        (image("sha256:1111"), image("sha256:2222"), False),
        (image("sha256:1111", A, B), image("sha256:2222", "mirror.example/vllm@sha256:bbbb"), True),
        (None, image("sha256:1111"), False),
        (None, None, True),
    ],
    ids=["two stores", "built here", "two builds", "two local builds", "two registries", "one has none", "none"],
)
def test_d04_digests_of_a_registry_count_and_ids_are_the_fallback(
    one: dict | None, other: dict | None, expected: bool
) -> None:
    assert same_image(one, other) is expected
    swapped = {"one": other, "other": one}
    assert same_image(**swapped) is expected


@pytest.mark.parametrize(
    ("layers", "architecture", "expected"),
    [
        (("l1", "l2"), "arm64", True),
        (("l2", "l1"), "arm64", False),
        ((), "arm64", False),
        (("l1", "l2"), "amd64", False),
    ],
)
def test_d04_equal_contents_are_the_same_after_save_and_load(
    layers: tuple[str, ...], architecture: str, expected: bool
) -> None:
    pulled = asdict(Image("sha256:1111", (A,), "arm64", ("l1", "l2")))
    loaded = asdict(Image("sha256:2222", (), architecture, layers))
    assert same_image(pulled, loaded) is expected
    assert not same_image(asdict(Image("sha256:3333", (), "arm64")), loaded)


def test_read_images() -> None:
    inspected = [
        {"Id": "sha256:1111", "RepoDigests": None, "Architecture": "arm64", "Size": 1},
        {"Id": "sha256:2", "RepoDigests": [B, A], "RootFS": {"Layers": ["l1"]}, "Config": {"Entrypoint": ["vllm"]}},
    ]
    assert read_images(inspected) == [
        Image("sha256:1111", (), "arm64", size=1),
        Image("sha256:2", (A, B), "", ("l1",), entrypoint=("vllm",)),
    ]


def test_layers_digest_depends_on_the_order() -> None:
    assert layers_digest(["l1", "l2"]) != layers_digest(["l2", "l1"])
    assert layers_digest([]) == ""
