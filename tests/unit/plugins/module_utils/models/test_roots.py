# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Folders that variables name."""

from __future__ import annotations

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.models import roots


def test_variables_of_a_file() -> None:
    text = '# ours\n\nHF_HOME="/data/hf"\nexport XDG_CACHE_HOME=\'/x y\'\nA=b"\nPATH\nB=\n'
    assert roots.environment(text) == {"HF_HOME": "/data/hf", "XDG_CACHE_HOME": "/x y", "A": 'b"', "B": ""}


@pytest.mark.parametrize(
    ("folder", "expanded"),
    [
        ("~", "/home/dev"),
        ("~/x/", "/home/dev/x"),
        ("$HOME/x", "/home/dev/x"),
        ("${HOME}/x", "/home/dev/x"),
        ("/a/./~/b", "/a/~/b"),
        ("~other/x", "~other/x"),
    ],
)
def test_expand_m03(folder: str, expanded: str) -> None:
    assert roots.expand(folder, "/home/dev") == expanded


def test_no_folder_twice() -> None:
    assert roots.in_order(["/a", "", "/b", "/a/"], "/h") == ["/a", "/b"]
