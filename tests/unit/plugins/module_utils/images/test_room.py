# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Room for an image."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.images.room import FOLDER, too_little

GB = 10**9


def room(docker_free: int, folder_free: int, shared: bool) -> dict[str, Any]:
    return {"docker_root": "/docker", "docker_free": docker_free, "folder_free": folder_free, "shared": shared}


@pytest.mark.parametrize(
    ("free", "unpacked", "found", "wanted"),
    [
        (room(39 * GB, 39 * GB, True), True, f"39.0 GB in {FOLDER} and 39.0 GB in /docker", "40.0 GB, for they are on"),
        (room(40 * GB, 40 * GB, True), True, "", ""),
        (room(19 * GB, 90 * GB, False), True, f"90.0 GB in {FOLDER} and 19.0 GB in /docker", "20.0 GB in each"),
        (room(90 * GB, 19 * GB, False), True, f"19.0 GB in {FOLDER} and 90.0 GB in /docker", "20.0 GB in each"),
        (room(20 * GB, 20 * GB, False), True, "", ""),
        (room(0, 19 * GB, True), False, f"19.0 GB in {FOLDER}", "20.0 GB"),
        (room(0, 20 * GB, True), False, "", ""),
        ({}, True, "", ""),
    ],
    ids=["one disk", "fits", "Docker's", "ours", "two disks", "only the file", "the file fits", "unknown"],
)
def test_too_little(free: dict[str, Any], unpacked: bool, found: str, wanted: str) -> None:
    said = too_little("acme/vllm:1", 20 * GB, free, unpacked)
    assert said.startswith(f"found {found} free for image acme/vllm:1, wanted {wanted}" if found else said)
    assert bool(said) is bool(found)
