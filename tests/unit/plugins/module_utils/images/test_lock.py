# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lock of images."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.images import lock
from ansible_collections.dgxspark.serving.plugins.module_utils.images.image import Image, layers_digest

PULLED = asdict(Image("sha256:1", ("acme/vllm@sha256:aaaa",), "arm64", ("l1", "l2")))
LOADED = asdict(Image("sha256:2", (), "arm64", ("l1", "l2")))
OTHER = asdict(Image("sha256:3", ("acme/vllm@sha256:bbbb",), "arm64", ("l3",)))
MIRRORED = asdict(Image("sha256:4", ("mirror.example/vllm@sha256:aaaa",), "arm64", ()))
ENTRY = lock.entry(PULLED, {"vllm": "0.32.0", "cuda": "13.0"})


def test_entry() -> None:
    assert lock.entry(PULLED, {"vllm": "0.32.0", "cuda": "13.0"}) == {
        "architecture": "arm64",
        "digests": ["sha256:aaaa"],
        "layers": layers_digest(["l1", "l2"]),
        "versions": {"cuda": "13.0", "vllm": "0.32.0"},
    }


@pytest.mark.parametrize(("image", "expected"), [(PULLED, True), (LOADED, True), (MIRRORED, True), (OTHER, False)])
def test_d04_the_locked_image_is_known_by_digest_or_contents(image: dict[str, Any], expected: bool) -> None:
    assert lock.matches(ENTRY, image) is expected


def test_one_that_was_built_here_is_known_by_its_contents() -> None:
    built = lock.entry(LOADED, {})
    assert (lock.matches(built, LOADED), lock.matches(built, OTHER), lock.pull_by("acme/vllm:1", built)) == (
        True,
        False,
        "",
    )
    assert lock.pull_by("acme/vllm:1", ENTRY) == "acme/vllm@sha256:aaaa"


def test_the_refusal_has_both_digests_and_the_way_out() -> None:
    said = lock.refusal("acme/vllm:1", OTHER, ENTRY, "image.lock.yml")
    assert said.startswith("found image acme/vllm:1 with sha256:bbbb, wanted sha256:aaaa as image.lock.yml has it.")
    assert "-e image_update=true" in said
    assert "-e image_from=HOST" in said


@pytest.mark.parametrize(
    ("before", "after", "lines"),
    [
        (None, ENTRY, ["sha256:aaaa, new"]),
        (ENTRY, {**ENTRY, "digests": [], "versions": {}}, []),
        (
            ENTRY,
            lock.entry(OTHER, {"vllm": "0.33.0", "cuda": "13.0", "ray": "2.50"}),
            ["sha256:aaaa -> sha256:bbbb", "ray none -> 2.50", "vllm 0.32.0 -> 0.33.0"],
        ),
    ],
    ids=["new", "same contents", "newer"],
)
def test_changes(before: dict[str, Any] | None, after: dict[str, Any], lines: list[str]) -> None:
    assert lock.changes(before, after) == lines


@pytest.mark.parametrize(
    ("document", "said"),
    [
        (["acme/vllm:1"], "it is no mapping of image names"),
        ({"a:1": ENTRY, "b:1": {"digests": []}, "c:1": None}, "b:1, c:1 has no digests and layers"),
        ({"a:1": {"digests": [], "layers": ""}}, "a:1 has no digests and layers"),
    ],
)
def test_what_is_no_lock(document: Any, said: str) -> None:
    with pytest.raises(lock.NotALock) as caught:
        lock.read(document)
    assert str(caught.value) == said


def test_read() -> None:
    assert lock.read(None) == {}
    assert lock.read({"a:1": ENTRY}) == {"a:1": ENTRY}
