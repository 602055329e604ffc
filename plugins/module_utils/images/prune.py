# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which images of a repository can go: those that are not wanted and that no container uses. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.images import names


@dataclass(frozen=True)
class Old:
    """An image that can go.

    :ivar references: names to remove it by; its id where it has none
    :ivar size: bytes; what it shares with others stays
    """

    id: str
    references: tuple[str, ...]
    size: int


def old(
    inspected: Iterable[Mapping[str, Any]], wanted: Collection[str], used: Collection[str], replaced: Collection[str]
) -> list[Old]:
    """Find them.

    :param inspected: all images as ``docker image inspect`` shows them
    :param wanted: names that stay; only images of their repositories are looked at
    :param used: ids of images that containers were made from, whether they run or not
    :param replaced: ids of images whose name this collection has given to another image
    """
    repositories = {names.read(name).same_repository for name in wanted}
    kept = {names.read(name) for name in wanted}
    found = []
    for image in inspected:
        tags = list(image.get("RepoTags") or ())
        digests = list(image.get("RepoDigests") or ())
        read = [names.read(reference) for reference in (*tags, *digests)]
        ours = any(name.same_repository in repositories for name in read) or (not tags and image["Id"] in replaced)
        if not ours or image["Id"] in used or any(name in kept for name in read):
            continue
        # One that has a name elsewhere too is somebody else's as well.
        if all(name.same_repository in repositories for name in read):
            # An image is gone with its last tag, and its digests with it.
            found.append(Old(image["Id"], tuple(tags or digests) or (image["Id"],), int(image.get("Size") or 0)))
    return sorted(found, key=lambda one: one.id)
