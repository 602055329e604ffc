# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is moved: the files and links of a manifest, in the order in which every host takes them. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.models import hub_cache
from ansible_collections.dgxspark.serving.plugins.module_utils.models import manifest as manifests
from ansible_collections.dgxspark.serving.plugins.module_utils.models.reference import HUGGING_FACE


@dataclass(frozen=True)
class File:
    """One file.

    :ivar number: its place among the entries, by which hosts ask for it
    :ivar path: relative to the root
    :ivar size: bytes
    :ivar late: whether it must not be seen under its name before all others are there
    """

    number: int
    path: str
    size: int
    sha256: str
    late: bool


@dataclass(frozen=True)
class Payload:
    """What is moved.

    :ivar digest: of the manifest
    :ivar entries: number of its entries
    :ivar repository: the first folder of a model in a Hugging Face cache; empty for a plain folder
    :ivar files: biggest first; all hosts keep to it, so that each finds at the one before it what it asks for next
    :ivar links: path and what it leads to
    """

    digest: str
    entries: int
    repository: str
    files: tuple[File, ...]
    links: tuple[tuple[str, str], ...]

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(file.size for file in self.files)


def payload_of(manifest: Mapping[str, Any]) -> Payload:
    """Read a manifest.

    :raises ValueError: when it is none, or when something of it would not stay in its root
    """
    read = manifests.parse(manifest)
    hub = read["hub"] == HUGGING_FACE
    files = [
        File(number, entry["path"], entry["size"], entry["sha256"], not hub or _late(entry["path"]))
        for number, entry in enumerate(read["entries"])
        if "size" in entry
    ]
    files.sort(key=lambda file: (-file.size, file.path))
    links = tuple((entry["path"], entry["link"]) for entry in read["entries"] if "link" in entry)
    repository = hub_cache.folder(read["model"]) if hub else ""
    return Payload(manifests.digest(read), len(read["entries"]), repository, tuple(files), links)


def _late(path: str) -> bool:
    """Whether a file of a Hugging Face cache makes the model look as if it were there."""
    return path.split("/")[1:2] != ["blobs"]
