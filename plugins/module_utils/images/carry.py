# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An image as a file and back: ``docker save`` with its SHA-256 in one go, ``docker load``. An edge, it moves bytes."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

from ansible_collections.dgxspark.serving.plugins.module_utils import page_cache
from ansible_collections.dgxspark.serving.plugins.module_utils.background.work import WorkFailed
from ansible_collections.dgxspark.serving.plugins.module_utils.images.docker_process import (
    DockerProcess,
    room_for_images,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.images.image import Image, layers_digest
from ansible_collections.dgxspark.serving.plugins.module_utils.images.replaced import remember
from ansible_collections.dgxspark.serving.plugins.module_utils.images.room import FOLDER, too_little
from ansible_collections.dgxspark.serving.plugins.module_utils.models import kept

BLOCK = 4 << 20
# Bytes after which what was written is put on the disk and out of the page cache, which the engines need.
WINDOW = 256 << 20
Tell = Callable[[int, int, str], None]


def file_of(key: str, folder: Path = Path(FOLDER)) -> Path:
    """Where the image of a key lies while it is copied."""
    return folder / f"{key}.tar"


def leftovers(folder: Path = Path(FOLDER), key: str = "") -> list[Path]:
    """What earlier runs have left, but for what belongs to a key."""
    files = [path for path in folder.iterdir() if path.is_file()] if folder.is_dir() else []
    return [path for path in files if not (key and path.name.startswith((f"{key}.", f".{key}.")))]


def tidy(folder: Path = Path(FOLDER), key: str = "") -> None:
    """Remove that, what the fan-out noted about it, and the folder when it is empty."""
    for path in leftovers(folder, key):
        path.unlink()
    Path(kept.path_of(str(folder), "path", "", "")).unlink(missing_ok=True)
    with suppress(OSError):
        folder.rmdir()


def save(docker: DockerProcess, name: str, key: str, tell: Tell, folder: Path = Path(FOLDER)) -> dict[str, Any]:
    """Write an image into our folder.

    :returns: ``manifest`` for the fan-out, and ``changed``
    :raises WorkFailed: when there is too little room, or Docker does not give it
    """
    tidy(folder, key)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path, record = file_of(key, folder), folder / f"{key}.json"
    digest = _recorded(path, record)
    if digest:
        return {"changed": False, "manifest": _manifest(name, path, digest)}
    image = docker.image(name)
    if image is None:
        raise WorkFailed(f"Found no image {name} to copy. Run again.")
    short = too_little(name, image.size, room_for_images(docker.root()), unpacked=False)
    if short:
        raise WorkFailed(short[0].upper() + short[1:])
    digest = _write(docker, name, path, image.size, tell)
    seen = path.stat()
    record.write_text(json.dumps({"seen": [seen.st_size, seen.st_mtime_ns], "sha256": digest}), encoding="ascii")
    return {"changed": True, "manifest": _manifest(name, path, digest)}


def _manifest(name: str, path: Path, digest: str) -> dict[str, Any]:
    entry = {"path": path.name, "size": path.stat().st_size, "sha256": digest}
    return {"format": 1, "model": f"image {name}", "hub": "path", "revision": "", "entries": [entry]}


def _recorded(path: Path, record: Path) -> str:
    """SHA-256 of a file that an interrupted run has written to its end; empty when there is none."""
    try:
        known, seen = json.loads(record.read_text(encoding="ascii")), path.stat()
        return str(known["sha256"]) if known["seen"] == [seen.st_size, seen.st_mtime_ns] else ""
    except (FileNotFoundError, ValueError, KeyError):
        return ""


def _write(docker: DockerProcess, name: str, path: Path, size: int, tell: Tell) -> str:
    part = path.with_name(f".{path.name}.part")
    digest, written = hashlib.sha256(), 0
    try:
        with (
            open(part, "wb") as stream,
            docker.process(["save", name], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process,
        ):
            out, said = cast("Any", process.stdout), cast("Any", process.stderr)
            while block := out.read(BLOCK):
                stream.write(block)
                digest.update(block)
                written += len(block)
                if written % WINDOW < len(block):
                    _settle(stream.fileno())
                tell(written, max(size, written), "")
            error = said.read().decode(errors="replace")
            stream.flush()
            _settle(stream.fileno())
        if process.returncode:
            raise WorkFailed(f"docker save {name} failed: {' '.join(error.split())}.")
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return digest.hexdigest()


def _settle(descriptor: int) -> None:
    os.fdatasync(descriptor)
    page_cache.drop(descriptor, 0, 0)


@dataclass(frozen=True)
class Load:
    """What to load.

    :ivar name: that the image is to have
    :ivar path: the file
    :ivar layers: what :func:`image.layers_digest` says of the image that is expected; empty when it does not matter
    :ivar architecture: that it must have, in Docker's words
    :ivar keep: whether the file stays
    """

    name: str
    path: Path
    layers: str
    architecture: str
    keep: bool


def load(docker: DockerProcess, wanted: Load, tell: Tell, folder: Path = Path(FOLDER)) -> dict[str, Any]:
    """Load an image from its file, and see that it is the right one.

    :returns: ``image`` and ``changed``
    :raises WorkFailed: when Docker does not take it, or it is another one
    """
    if not wanted.path.is_file():
        raise WorkFailed(f"Found no file {wanted.path} to load image {wanted.name} from. Run again.")
    before = docker.image(wanted.name)
    said = _feed(docker, wanted.path, tell)
    image = _named(docker, wanted, before, said)
    if image is None:
        raise WorkFailed(f"Found no image in {wanted.path} for {wanted.name}: {' '.join(said.split())}.")
    if image.architecture != wanted.architecture:
        found = f"Found an image for {image.architecture} in {wanted.path}, wanted {wanted.architecture}"
        raise WorkFailed(f"{found}. Save one for {wanted.architecture}.")
    if wanted.layers and layers_digest(image.layers) != wanted.layers:
        raise WorkFailed(f"Found another image {wanted.name} after the copy than was sent. Run again.")
    if before and before.id != image.id:
        remember(before.id, folder.parent)
    if not wanted.keep:
        tidy(folder)
    return {"changed": before is None or before.id != image.id, "image": asdict(image)}


def _feed(docker: DockerProcess, path: Path, tell: Tell) -> str:
    """Give Docker the file, and return what it says.

    :raises WorkFailed: when it does not take it
    """
    size, given = path.stat().st_size, 0
    with (
        open(path, "rb") as stream,
        docker.process(["load"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process,
    ):
        into, out = cast("Any", process.stdin), cast("Any", process.stdout)
        # Docker says why it does not read on.
        with suppress(BrokenPipeError):
            while block := stream.read(BLOCK):
                into.write(block)
                given += len(block)
                if given % WINDOW < len(block):
                    page_cache.drop(stream.fileno(), 0, given)
                tell(given, size, "")
        with suppress(BrokenPipeError):
            into.close()
        said = out.read().decode(errors="replace")
    if process.returncode:
        raise WorkFailed(f"docker load of {path} failed: {' '.join(said.split())}.")
    return said


def _named(docker: DockerProcess, wanted: Load, before: Image | None, said: str) -> Image | None:
    """The image that was loaded, under the wanted name."""
    loaded = re.findall(r"Loaded image(?: ID)?: (\S+)", said)
    if wanted.name not in loaded and len(loaded) == 1:
        docker.run("tag", loaded[0], wanted.name)
    elif wanted.name not in loaded and before:
        return None
    return docker.image(wanted.name)
