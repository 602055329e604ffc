# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which images can go."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.images.prune import Old, old


def image(identity: str, *tags: str, digests: tuple[str, ...] = ()) -> dict[str, Any]:
    return {"Id": identity, "RepoTags": list(tags), "RepoDigests": list(digests), "Size": 7}


NEW = image("new", "acme/vllm:2", digests=("acme/vllm@sha256:2",))
OLD = image("old", "acme/vllm:1", digests=("acme/vllm@sha256:1",))
REPLACED = image("replaced", digests=("acme/vllm@sha256:0",))
LOADED_OVER = image("loaded over")
SHARED = image("shared", "acme/vllm:3", "team/own:3")
OTHER = image("other", "team/own:1")


@pytest.mark.parametrize(
    ("used", "replaced", "expected"),
    [
        ((), (), [Old("old", ("acme/vllm:1",), 7), Old("replaced", ("acme/vllm@sha256:0",), 7)]),
        (("old", "replaced"), (), []),
        (("old", "replaced"), ("loaded over",), [Old("loaded over", ("loaded over",), 7)]),
        (("old", "replaced", "loaded over"), ("loaded over",), []),
    ],
    ids=["not used", "the last good one", "lost its name here", "which still serves"],
)
def test_old(used: tuple[str, ...], replaced: tuple[str, ...], expected: list[Old]) -> None:
    found = old([NEW, OLD, REPLACED, LOADED_OVER, SHARED, OTHER], {"acme/vllm:2"}, used, replaced)
    assert found == expected


def test_the_wanted_one_stays_by_digest_too() -> None:
    assert old([REPLACED], {"acme/vllm@sha256:0"}, (), ()) == []
