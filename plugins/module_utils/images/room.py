# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Room for an image: where Docker keeps images, and where the file lies that an image crosses the fabric in. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils import sizes

FOLDER = "/var/lib/dgxspark-serving/images"


def too_little(name: str, size: int, room: Mapping[str, Any], unpacked: bool = True) -> str:
    """What keeps an image from being taken, in a sentence; empty when there is room, or when nobody knows.

    :param size: bytes of the image
    :param room: ``docker_root``, bytes free there and in our folder (``docker_free``, ``folder_free``), and whether
        both are on one file system (``shared``)
    :param unpacked: whether Docker takes it too, or only its file is written
    """
    if not room:
        return ""
    wanted = {FOLDER: size, **({room["docker_root"]: size} if unpacked else {})}
    free = {FOLDER: room["folder_free"], room["docker_root"]: room["docker_free"]}
    shared = unpacked and room["shared"]
    short = sum(wanted.values()) > room["folder_free"] if shared else any(free[at] < wanted[at] for at in wanted)
    if not short:
        return ""
    found = " and ".join(f"{sizes.size(free[at])} in {at}" for at in wanted)
    needs = f"{sizes.size(sum(wanted.values()))}, for they are on one disk" if shared else f"{sizes.size(size)} in each"
    if not unpacked:
        needs = f"{sizes.size(size)}"
    return f"found {found} free for image {name}, wanted {needs}. Make room there."
