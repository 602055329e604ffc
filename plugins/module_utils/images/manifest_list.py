# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""For which machines a registry has an image, by what ``docker manifest inspect`` says (field fault D01). Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

# Endings under which repositories keep a tag's image for one architecture.
TAG_ENDINGS = {"arm64": ("-aarch64", "-arm64"), "amd64": ("-x86_64", "-amd64")}


def platforms(text: str) -> list[str] | None:
    """Platforms such as ``linux/arm64``, sorted; None where the answer does not say, as for a single plain manifest.

    :param text: an index or manifest list, or the answer to ``--verbose``
    :raises ValueError: when it is no JSON
    """
    said = json.loads(text)
    entries: Iterable[Any]
    if isinstance(said, Mapping):
        entries = said.get("manifests") or [said.get("Descriptor")]
    else:
        entries = [entry.get("Descriptor") for entry in said]
    found = set()
    for entry in entries:
        platform = (entry or {}).get("platform") or {}
        # What signs or describes another entry is for no machine.
        if platform.get("architecture", "unknown") != "unknown":
            found.add(f"{platform.get('os') or 'linux'}/{platform['architecture']}")
    return sorted(found) or None


def has(found: Iterable[str], architecture: str) -> bool:
    """Whether an architecture, in Docker's words, is among them."""
    return f"linux/{architecture}" in found


def likely_tags(tag: str, architecture: str) -> list[str]:
    """Tags under which the same image for this architecture may be."""
    others = [ending for known, endings in TAG_ENDINGS.items() if known != architecture for ending in endings]
    stem = next((tag.removesuffix(ending) for ending in others if tag.endswith(ending)), tag)
    return [f"{stem}{ending}" for ending in TAG_ENDINGS.get(architecture, ())] + ([stem] if stem != tag else [])


def refusal(name: str, found: Iterable[str], architecture: str, other_tag: str) -> str:
    """What to say of an image that is for other machines only.

    :param other_tag: a tag that has it; empty when none was found
    """
    remedy = f"Set serving_image to {other_tag}" if other_tag else f"Set serving_image to a tag that has {architecture}"
    return f"Found image {name} for {', '.join(found)} only, wanted linux/{architecture}. {remedy}."
