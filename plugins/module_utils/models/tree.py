# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read a model's folder: an edge. Of contents only headers, indexes and configuration are read."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.models import safetensors

# In place of a file that git-lfs did not fetch.
_POINTER = b"version https://git-lfs"
_POINTER_BYTES = range(len(_POINTER), 1025)
# Enough of a model card to see its front matter.
_CARD_BYTES = 65_536


@dataclass(frozen=True)
class Entry:
    """A file of a model.

    :ivar path: relative to the model's folder
    :ivar real: where it really lies
    :ivar size: in bytes; None for a link that leads nowhere
    :ivar modified: seconds since 1970
    :ivar absolute: whether a link on the way to it is absolute
    """

    path: str
    real: str
    size: int | None
    modified: float
    absolute: bool


def files(folder: str) -> list[Entry]:
    """All files below a folder, sorted by path; what tools keep in hidden folders at its top is left out.

    :raises OSError: the folder cannot be read
    """
    return sorted(_below(folder, "", (os.path.realpath(folder),)), key=lambda entry: entry.path)


def _below(folder: str, inside: str, above: tuple[str, ...]) -> Iterator[Entry]:
    with os.scandir(folder) as entries:
        for entry in entries:
            path = os.path.join(inside, entry.name)
            if not os.path.isdir(entry.path):
                yield _entry(path, entry.path)
            elif inside or not entry.name.startswith("."):
                real = os.path.realpath(entry.path)
                if real not in above:
                    yield from _below(entry.path, path, (*above, real))


def _entry(path: str, full: str) -> Entry:
    absolute, step = False, full
    try:
        there = os.stat(full)
        while os.path.islink(step):
            target = os.readlink(step)
            absolute = absolute or target.startswith("/")
            step = os.path.join(os.path.dirname(step), target)
    except PermissionError:
        raise
    except OSError:
        return Entry(path, full, None, 0, absolute=False)
    return Entry(path, os.path.realpath(step), there.st_size, there.st_mtime, absolute)


def incomplete(folder: str) -> dict[str, int]:
    """Parts of unfinished downloads, anywhere below a folder, and their sizes in bytes."""
    found = {}
    for path in sorted(Path(folder).rglob("*.incomplete")):
        # A download that runs takes them away meanwhile.
        with suppress(OSError):
            found[str(path)] = path.stat().st_size
    return found


def read_json(path: str) -> dict[str, Any]:
    """An object of a JSON file.

    :raises ValueError: it holds something else
    :raises OSError: it cannot be read
    """
    text = Path(path).read_bytes()
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise ValueError(f"{os.path.basename(path)} is not a JSON object")
    return found


def read_card(folder: str) -> str:
    """The start of a model's card."""
    try:
        with open(os.path.join(folder, "README.md"), "rb") as stream:
            return stream.read(_CARD_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""


def is_pointer(entry: Entry) -> bool:
    """Whether a file is only git-lfs's note of where the file is."""
    if entry.size not in _POINTER_BYTES:
        return False
    try:
        with open(entry.real, "rb") as stream:
            return stream.read(len(_POINTER)) == _POINTER
    except OSError:
        return False


def header(entry: Entry) -> dict[str, Mapping[str, Any]]:
    """The tensors of a safetensors file, as its header tells them; its contents are not read.

    :raises ValueError: the file is broken, or not as long as the header says
    :raises OSError: it cannot be read
    """
    size = entry.size or 0
    with open(entry.real, "rb", buffering=0) as stream:
        length = safetensors.header_bytes(stream.read(safetensors.LENGTH_BYTES), size)
        text = bytearray(length)
        view, done = memoryview(text), 0
        while done < length and (count := stream.readinto(view[done:])):
            done += count
    return safetensors.tensors(bytes(text), size)
