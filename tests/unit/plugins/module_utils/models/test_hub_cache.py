# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where Hugging Face caches may lie."""

from __future__ import annotations

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.models import hub_cache

HOME = "/home/me"
LAST = ["/home/me/.cache/huggingface/hub", "/home/me/.cache/huggingface", "/home/me/.cache/huggingface/transformers"]


@pytest.mark.parametrize(
    ("explicit", "environ", "roots"),
    [
        ("", {}, LAST),
        ("/mine", {}, ["/mine", "/mine/hub", *LAST]),
        ("~/mine", {}, ["/home/me/mine", "/home/me/mine/hub", *LAST]),
        ("", {"HF_HUB_CACHE": "/a", "HUGGINGFACE_HUB_CACHE": "/b"}, ["/a", "/b", *LAST]),
        ("", {"HF_HOME": "/c"}, ["/c/hub", LAST[0], "/c", LAST[1], "/c/transformers", LAST[2]]),
        (
            "",
            {"XDG_CACHE_HOME": "/d", "TRANSFORMERS_CACHE": "/t"},
            ["/d/huggingface/hub", LAST[0], "/t", "/d/huggingface", LAST[1], "/d/huggingface/transformers", LAST[2]],
        ),
        ("", {"HF_HUB_CACHE": "", "HF_HOME": ""}, LAST),
    ],
    ids=["default", "explicit", "home", "variables", "HF_HOME", "XDG and old", "empty"],
)
def test_roots_m04(explicit: str, environ: dict[str, str], roots: list[str]) -> None:
    assert hub_cache.roots(explicit, environ, HOME) == roots


def test_the_order_of_huggingface_hub_m04() -> None:
    """With each variable taken away the next one counts."""
    environ = {"HF_HUB_CACHE": "/a", "HUGGINGFACE_HUB_CACHE": "/b", "HF_HOME": "/c", "XDG_CACHE_HOME": "/d"}
    firsts = [hub_cache.roots("", dict(list(environ.items())[gone:]), HOME)[0] for gone in range(5)]
    assert firsts == ["/a", "/b", "/c/hub", "/d/huggingface/hub", LAST[0]]


@pytest.mark.parametrize(
    ("path", "settings"),
    [
        ("/data/hub/models--acme--tiny", "serving_model: acme/tiny, model_cache_dir: /data/hub"),
        (
            "/data/hub/models--acme--tiny/snapshots/abc",
            "serving_model: acme/tiny, model_cache_dir: /data/hub, serving_model_revision: abc",
        ),
        ("/data/tiny", ""),
        ("/data/hub/models--acme--tiny/blobs", ""),
    ],
)
def test_what_to_set_in_place_of_a_path_m16(path: str, settings: str) -> None:
    assert hub_cache.settings_for(path) == settings
