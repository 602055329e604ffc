# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Images as Docker shows them, and when two hosts have the same one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Image:
    """An image as ``docker image inspect`` shows it.

    :ivar id: ``sha256:...``; what it is the digest of depends on the store of the Docker that was asked
    :ivar repo_digests: ``NAME@sha256:...`` as registries know it; empty for one that was built or loaded here
    :ivar architecture: Docker's word for it, such as ``arm64``
    """

    id: str
    repo_digests: tuple[str, ...]
    architecture: str


def read_images(inspected: Iterable[Mapping[str, Any]]) -> list[Image]:
    """Read the answer of ``docker image inspect``."""
    return [
        Image(entry["Id"], tuple(sorted(entry.get("RepoDigests") or ())), entry.get("Architecture", ""))
        for entry in inspected
    ]


def same_image(one: Mapping[str, Any] | None, other: Mapping[str, Any] | None) -> bool:
    """Say whether two hosts have the same image.

    Ids differ between Docker's two image stores, digests of a registry do not (field fault D04). The same image can
    have come from two registries, so that the names before the digests do not count.

    :param one: an :class:`Image` as a mapping, as modules return it; None when the host does not have it
    """
    if not one or not other:
        return one == other
    digests = [{digest.rpartition("@")[2] for digest in image["repo_digests"]} for image in (one, other)]
    return one["id"] == other["id"] or bool(digests[0] & digests[1])
