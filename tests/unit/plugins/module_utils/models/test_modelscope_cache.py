# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where ModelScope keeps models."""

from __future__ import annotations

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.models import modelscope_cache

DEFAULT = ["/home/me/.cache/modelscope/hub", "/home/me/.cache/modelscope"]


@pytest.mark.parametrize(
    ("explicit", "environ", "roots"),
    [
        ("", {}, DEFAULT),
        ("", {"MODELSCOPE_CACHE": "/data/ms"}, ["/data/ms", "/data/ms/hub", *DEFAULT]),
        ("~/ms", {"MODELSCOPE_CACHE": "/e"}, ["/home/me/ms", "/home/me/ms/hub", "/e", "/e/hub", *DEFAULT]),
    ],
)
def test_roots_m13(explicit: str, environ: dict[str, str], roots: list[str]) -> None:
    assert modelscope_cache.roots(explicit, environ, "/home/me") == roots


def test_folders_m12() -> None:
    assert modelscope_cache.folders("/r", "Ac.me/Tiny-1.5B") == [
        "/r/models/Ac___me/Tiny-1___5B",
        "/r/models/Ac.me/Tiny-1.5B",
        "/r/Ac___me/Tiny-1___5B",
        "/r/Ac.me/Tiny-1.5B",
    ]
    assert modelscope_cache.folders("/r", "acme/tiny") == ["/r/models/acme/tiny", "/r/acme/tiny"]
    assert modelscope_cache.new_folder("/r", "acme/tiny-1.5") == "/r/models/acme/tiny-1___5"
    assert modelscope_cache.snapshots("/r", "Acme/Tiny-1.5B") == "/r/models/Acme--Tiny-1.5B/snapshots"
