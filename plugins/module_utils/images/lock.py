# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lock: which image a name stands for, so that all hosts and all later runs have the same one. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.images import names
from ansible_collections.dgxspark.serving.plugins.module_utils.images.image import layers_digest, registry_digests

HEADER = "# Which image each name stands for, written by dgxspark.serving. Take newer ones with: -e image_update=true\n"

Locks = Mapping[str, Mapping[str, Any]]


class NotALock(Exception):
    """The file cannot be used; the text says why."""


def read(document: Any) -> dict[str, dict[str, Any]]:
    """Check what was in the file.

    :param document: the file's YAML; None when it is empty
    :raises NotALock: naming every entry that is wrong
    """
    if document is None:
        return {}
    if not isinstance(document, Mapping):
        raise NotALock("it is no mapping of image names")
    wrong = [str(name) for name, entry in document.items() if not _is_entry(entry)]
    if wrong:
        raise NotALock(f"{', '.join(wrong)} has no digests and layers")
    return {str(name): dict(entry) for name, entry in document.items()}


def _is_entry(entry: Any) -> bool:
    if not isinstance(entry, Mapping):
        return False
    digests = entry.get("digests")
    return isinstance(digests, list) and isinstance(entry.get("layers"), str) and bool(digests or entry["layers"])


def entry(image: Mapping[str, Any], versions: Mapping[str, str]) -> dict[str, Any]:
    """What the lock says of an image.

    :param versions: of what is in it, by name
    """
    return {
        "architecture": image["architecture"],
        "digests": sorted(registry_digests(image)),
        "layers": layers_digest(image["layers"]),
        "versions": dict(sorted(versions.items())),
    }


def matches(locked: Mapping[str, Any], image: Mapping[str, Any]) -> bool:
    """Whether an image is the locked one, by a digest of a registry or by its contents."""
    if registry_digests(image) & set(locked["digests"]):
        return True
    return bool(locked["layers"]) and layers_digest(image["layers"]) == locked["layers"]


def pull_by(name: str, locked: Mapping[str, Any]) -> str:
    """What to pull to get the locked image; empty when no registry knows it."""
    return names.by_digest(name, locked["digests"][0]) if locked["digests"] else ""


def shown(locked: Mapping[str, Any]) -> str:
    """The locked image for people, in full, for they search for it."""
    return locked["digests"][0] if locked["digests"] else f"layers {locked['layers']}"


def shown_image(image: Mapping[str, Any]) -> str:
    """An image in the same words."""
    digests = sorted(registry_digests(image))
    return digests[0] if digests else f"layers {layers_digest(image['layers'])}"


def refusal(name: str, image: Mapping[str, Any], locked: Mapping[str, Any], path: str) -> str:
    """What to say of a host whose image is another one."""
    return (
        f"found image {name} with {shown_image(image)}, wanted {shown(locked)} as {path} has it."
        " Take the newer one everywhere with -e image_update=true, copy the right one from a host that has it with"
        f" -e image_from=HOST, or remove this one with: docker image rm {name}."
    )


def changes(before: Mapping[str, Any] | None, after: Mapping[str, Any]) -> list[str]:
    """What an update changes, one line each; nothing when it changes nothing.

    :param before: the entry until now; None when there was no image
    :param after: the entry from now on
    """
    if before is None:
        return [f"{shown(after)}, new"]
    if set(before["digests"]) & set(after["digests"]) or (before["layers"] and before["layers"] == after["layers"]):
        return []
    lines = [f"{shown(before)} -> {shown(after)}"]
    versions = [before["versions"], after["versions"]]
    for name in sorted({*versions[0], *versions[1]}):
        old, new = (known.get(name, "none") for known in versions)
        if old != new:
            lines.append(f"{name} {old} -> {new}")
    return lines
