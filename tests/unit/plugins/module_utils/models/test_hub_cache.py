# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the Hugging Face cache is, and which snapshot counts."""

from __future__ import annotations

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.models import hub_cache

ENVIRONMENT = {
    "HF_HUB_CACHE": "/a",
    "HUGGINGFACE_HUB_CACHE": "/b",
    "HF_HOME": "/c",
    "XDG_CACHE_HOME": "/d",
}


@pytest.mark.parametrize(
    ("explicit", "gone", "root"),
    [
        ("/mine", 0, "/mine"),
        ("~/mine", 0, "/home/me/mine"),
        ("", 0, "/a"),
        ("", 1, "/b"),
        ("", 2, "/c/hub"),
        ("", 3, "/d/huggingface/hub"),
        ("", 4, "/home/me/.cache/huggingface/hub"),
    ],
)
def test_root_m04(explicit: str, gone: int, root: str) -> None:
    """The order of huggingface_hub: with each variable taken away, the next one counts."""
    assert hub_cache.root(explicit, dict(list(ENVIRONMENT.items())[gone:]), "/home/me") == root


@pytest.mark.parametrize(
    ("reference", "snapshots", "chosen"),
    [
        ("abc", ["abc", "def"], "abc"),
        ("abc", ["def"], ""),
        ("", ["def"], "def"),
        ("", ["abc", "def"], ""),
        ("", [], ""),
    ],
)
def test_snapshot(reference: str, snapshots: list[str], chosen: str) -> None:
    assert hub_cache.snapshot(reference, snapshots) == chosen
