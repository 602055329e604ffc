# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Content-addressed cache for everything that the lab builds.

An entry is a file or a folder `<root>/<kind>/<key>`, where the key is a hash of all that went into it. It gets this
name only when it is complete; builders of one entry, in this or another process, wait for each other.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

KEY_LENGTH = 20  # hex digits, 80 bits: no accidental collision, and names stay readable


def cache_root() -> Path:
    """Return the cache folder: $DGXSPARK_CACHE, else dgxspark-serving under $XDG_CACHE_HOME or ~/.cache."""
    own = os.environ.get("DGXSPARK_CACHE")
    if own:
        return Path(own).expanduser().absolute()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base).expanduser() if base else Path.home() / ".cache").absolute() / "dgxspark-serving"


def _files_below(folder: Path) -> Iterator[Path]:
    """Yield everything below a folder in a stable order, without what Python leaves behind when it runs."""
    for path in sorted(folder.rglob("*"), key=lambda item: item.relative_to(folder).as_posix()):
        if "__pycache__" not in path.relative_to(folder).parts:
            yield path


def _add(digest: hashlib._Hash, tag: bytes, data: bytes) -> None:
    """Feed one tagged, length-prefixed piece, so that two different lists of pieces never look the same."""
    digest.update(tag + len(data).to_bytes(8, "big") + data)


def _add_path(digest: hashlib._Hash, path: Path, name: str) -> None:
    """Feed name, kind, mode and content of one file, link or folder (without what is below it)."""
    info = path.lstat()
    _add(digest, b"name", name.encode())
    if stat.S_ISLNK(info.st_mode):
        _add(digest, b"link", str(path.readlink()).encode())
    elif stat.S_ISDIR(info.st_mode):
        _add(digest, b"mode", b"d%o" % stat.S_IMODE(info.st_mode))
    else:
        # Only the executable bit counts of a file: the rest is the umask of whoever made the checkout.
        _add(digest, b"mode", b"x" if info.st_mode & stat.S_IXUSR else b"-")
        file_digest = hashlib.sha256()
        with path.open("rb") as stream:
            while block := stream.read(1 << 20):
                file_digest.update(block)
        _add(digest, b"data", file_digest.digest())


def content_key(*parts: bytes | str | Path) -> str:
    """Return the key for a list of inputs, in their order.

    A Path stands for its content: a file with its name and executable bit, a folder with all that is below it (names
    relative to it, so that the place of a checkout does not matter). Raises FileNotFoundError for a missing path.
    """
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, Path):
            if part.is_dir():
                _add(digest, b"tree", part.name.encode())
                for path in _files_below(part):
                    _add_path(digest, path, path.relative_to(part).as_posix())
            else:
                _add_path(digest, part, part.name)
        elif isinstance(part, bytes):
            _add(digest, b"bytes", part)
        else:
            _add(digest, b"text", part.encode())
    return digest.hexdigest()[:KEY_LENGTH]


def remove(path: Path) -> None:
    """Remove a file or a folder tree; nothing there is fine."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


@contextmanager
def file_lock(path: Path) -> Iterator[None]:
    """Hold an exclusive lock on a file, waiting for other holders; it ends with the process at the latest."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def cached(kind: str, key: str, build: Callable[[Path], None]) -> Path:
    """Return `<root>/<kind>/<key>`, made by `build(temporary path)` if it is not there yet.

    `build` makes a file or a folder at the path it is given; whatever it raises goes through and leaves no entry.
    """
    folder = cache_root() / kind
    entry = folder / key
    if entry.exists():
        return entry
    with file_lock(folder / f".{key}.lock"):
        if entry.exists():
            return entry
        # The lock is ours: a temporary of this name is what a killed builder left.
        temporary = folder / f".{key}.part"
        remove(temporary)
        try:
            build(temporary)
            temporary.rename(entry)
        except BaseException:
            remove(temporary)
            raise
    return entry
