# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is in a file that ``docker save`` made, without loading it. It reads headers and two small files in it."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.images import names

# Bytes that a manifest or a config may have; they have some thousands.
SMALL = 16 << 20


class NotAnImage(Exception):
    """The file holds no image, or none that can be taken; the text says what it is."""


@dataclass(frozen=True)
class Archive:
    """An image in a file.

    :ivar tags: names that it has there
    :ivar architecture: Docker's word for it
    :ivar layers: SHA-256 of its unpacked layers
    :ivar config: name of its config in the file
    """

    tags: tuple[str, ...]
    architecture: str
    layers: tuple[str, ...]
    config: str


def read(path: Path, wanted: str) -> Archive:
    """Read what is in it.

    :param wanted: the name whose image is taken where there are several
    :raises NotAnImage: when it is no such file
    :raises OSError: when it cannot be read
    """
    try:
        with tarfile.open(path, "r:*") as tar:
            manifest = _json(tar, "manifest.json")
            entry = _choose(manifest, wanted)
            config = _json(tar, entry["Config"])
            layers = tuple(config["rootfs"]["diff_ids"])
            return Archive(tuple(entry.get("RepoTags") or ()), config["architecture"], layers, entry["Config"])
    except (tarfile.TarError, EOFError) as error:
        raise NotAnImage("it is no tar file, or only a part of one") from error
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise NotAnImage("it is a tar file, but docker save did not make it, for its manifest.json is wrong") from error


def _json(tar: tarfile.TarFile, name: str) -> Any:
    """A small file of the archive."""
    try:
        member = tar.getmember(name)
    except KeyError as error:
        raise NotAnImage(f"it is a tar file, but docker save did not make it: it has no {name}") from error
    stream = tar.extractfile(member)
    if stream is None or member.size > SMALL:
        raise NotAnImage(f"it is a tar file, but docker save did not make it: {name} is no small file")
    return json.loads(stream.read())


def _choose(manifest: Sequence[Mapping[str, Any]], wanted: str) -> Mapping[str, Any]:
    """The entry of the wanted name, or the only one."""
    for entry in manifest:
        if any(names.read(tag) == names.read(wanted) for tag in entry.get("RepoTags") or ()):
            return entry
    if len(manifest) == 1:
        return manifest[0]
    found = ", ".join(tag for entry in manifest for tag in entry.get("RepoTags") or ()) or "none with a name"
    raise NotAnImage(f"it has several images, and none is {wanted}: {found}")
