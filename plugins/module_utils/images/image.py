# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Images as Docker shows them, and when two hosts have the same one."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Image:
    """An image as ``docker image inspect`` shows it.

    :ivar id: ``sha256:...``; what it is the digest of depends on the store of the Docker that was asked
    :ivar repo_digests: ``NAME@sha256:...`` as registries know it; empty for one that was built or loaded here
    :ivar architecture: Docker's word for it, such as ``arm64``
    :ivar layers: SHA-256 of its unpacked layers, which are the same in every store and after save and load
    :ivar size: bytes, as Docker counts them; stores count differently
    :ivar entrypoint: what it runs when nothing else is said
    """

    id: str
    repo_digests: tuple[str, ...]
    architecture: str
    layers: tuple[str, ...] = ()
    size: int = 0
    entrypoint: tuple[str, ...] = ()


def read_images(inspected: Iterable[Mapping[str, Any]]) -> list[Image]:
    """Read the answer of ``docker image inspect``."""
    return [
        Image(
            entry["Id"],
            tuple(sorted(entry.get("RepoDigests") or ())),
            entry.get("Architecture", ""),
            tuple((entry.get("RootFS") or {}).get("Layers") or ()),
            int(entry.get("Size") or 0),
            tuple((entry.get("Config") or {}).get("Entrypoint") or ()),
        )
        for entry in inspected
    ]


def registry_digests(image: Mapping[str, Any]) -> set[str]:
    """``sha256:...`` as registries know it, under whatever names."""
    return {digest.rpartition("@")[2] for digest in image["repo_digests"]}


def same_image(one: Mapping[str, Any] | None, other: Mapping[str, Any] | None) -> bool:
    """Say whether two hosts have the same image.

    Ids differ between Docker's two image stores, digests of a registry do not (field fault D04). The same image can
    have come from two registries, so that the names before the digests do not count. One that was built or loaded has
    no digest, so that its layers speak for it.

    :param one: an :class:`Image` as a mapping, as modules return it; None when the host does not have it
    """
    if not one or not other:
        return one == other
    if one["id"] == other["id"] or registry_digests(one) & registry_digests(other):
        return True
    layers = [tuple(image.get("layers") or ()) for image in (one, other)]
    return bool(layers[0]) and layers[0] == layers[1] and one["architecture"] == other["architecture"]


def layers_digest(layers: Iterable[str]) -> str:
    """One digest for all layers of an image, in their order; empty when they are not known."""
    text = "\n".join(layers)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}" if text else ""


def shown(image: Mapping[str, Any]) -> str:
    """An image for people: the digest of a registry, or its id, short."""
    digest = min(registry_digests(image), default="") or image["id"]
    kind = "digest" if image["repo_digests"] else "id"
    return f"{kind} {digest.partition(':')[2][:12]}"
