# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the files of a payload lie on one host, finished and not: an edge, it looks, opens, renames and removes.

Nothing that is half there has a final name. In a Hugging Face cache a blob is received beside its place, and what makes
the model visible (``snapshots``, ``refs``) in a folder of ours; a plain folder is received beside its place.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
from collections.abc import Collection
from contextlib import suppress

from ansible_collections.dgxspark.serving.plugins.module_utils.fanout.payload import File, Payload
from ansible_collections.dgxspark.serving.plugins.module_utils.models.manifest import OURS

PART = ".part"
# Bytes up to which a file is read to see whether it is right: two refs, or two configurations, easily have one size.
SMALL = 1 << 16
# What becomes visible after all the rest, in this order.
_LAST = ("snapshots", "refs")


class Place:
    """One host's files.

    :param root: the Hugging Face cache, or the folder of the model
    :param distrust: paths of files that are wrong although their size is right
    """

    def __init__(self, root: str, payload: Payload, distrust: Collection[str] = ()) -> None:
        self.root = os.path.normpath(root)
        self._payload = payload
        self.staging = _staging(self.root, payload.repository)
        self._staged = os.path.join(self.staging, payload.digest[:16])
        self._distrust = frozenset(distrust)

    def final(self, path: str) -> str:
        """Where it is seen in the end."""
        return os.path.join(self.root, path)

    def done(self, file: File) -> str:
        """Where it lies when it is whole, before all is."""
        return os.path.join(self._staged, file.path) if file.late else self.final(file.path)

    def part(self, file: File) -> str:
        """Where it is received."""
        return self.done(file) + PART

    def is_there(self, file: File) -> bool:
        """Whether it needs no copy: it has its size, and nobody says that it is wrong. Small files are read."""
        if file.late and _size(self.done(file)) == file.size:
            return True
        final = self.final(file.path)
        if file.path in self._distrust or _size(final) != file.size:
            return False
        return file.size > SMALL or _sha256(final) == file.sha256

    def received(self, file: File) -> tuple[int, int]:
        """Bytes of an unfinished file that are there, and bytes of the disk that it has taken for itself."""
        try:
            there = os.stat(self.part(file))
        except OSError:
            return 0, 0
        return min(there.st_size, file.size), min(max(there.st_blocks * 512, there.st_size), file.size)

    def open(self, file: File, whole: bool) -> int:
        """Open a file to send it.

        :param whole: whether it is whole, wherever it lies by now
        :raises FileNotFoundError: when nothing of it is there yet
        """
        ways = [self.part(file)]
        if whole:
            # It may move from the first to the second meanwhile.
            ways = [self.done(file), self.final(file.path)] if file.late else [self.final(file.path)]
        for way in ways:
            with suppress(FileNotFoundError):
                return os.open(way, os.O_RDONLY | os.O_CLOEXEC)
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), file.path)

    def forget_others(self) -> None:
        """Remove what an interrupted copy of something else has left in our folder."""
        with suppress(FileNotFoundError):
            for name in os.listdir(self.staging):
                if name != os.path.basename(self._staged):
                    shutil.rmtree(os.path.join(self.staging, name), ignore_errors=True)

    def links_missing(self) -> list[tuple[str, str]]:
        """The links that are not there, or lead elsewhere."""
        return [
            (path, target)
            for path, target in self._payload.links
            if not os.path.islink(self.final(path)) or os.readlink(self.final(path)) != target
        ]

    def settle(self) -> None:
        """Make everything visible, when all files are whole.

        :raises OSError: when something is in the way
        """
        for path, target in self.links_missing():
            staged = os.path.join(self._staged, path)
            os.makedirs(os.path.dirname(staged), exist_ok=True)
            with suppress(FileNotFoundError):
                os.unlink(staged)
            os.symlink(target, staged)
        if os.path.isdir(self._staged):
            os.makedirs(os.path.dirname(self.root), exist_ok=True)
            _move(self._staged, self.root)
        shutil.rmtree(self.staging, ignore_errors=True)


def _staging(root: str, repository: str) -> str:
    """Our folder on the file system of the root."""
    if repository:
        return os.path.join(root, repository, OURS, "parts")
    parent, name = os.path.split(root)
    beside = os.path.join(parent, f"{OURS}.{name}{PART}")
    if os.path.isdir(root):
        apart = _device(root) != _device(parent) or not os.access(parent, os.W_OK)
        return os.path.join(root, OURS + PART) if apart else beside
    return beside


def _device(path: str) -> int:
    return os.stat(path).st_dev


def _size(path: str) -> int:
    """Bytes of a file, wherever links lead; -1 when there is none."""
    try:
        return os.stat(path).st_size
    except OSError:
        return -1


def _sha256(path: str) -> str:
    """SHA-256 of a small file; empty when it cannot be read."""
    try:
        with open(path, "rb") as stream:
            return hashlib.sha256(stream.read()).hexdigest()
    except OSError:
        return ""


def _move(staged: str, final: str) -> None:
    """Rename a folder to its place, or, where there is one, what is in it."""
    inner = os.path.isdir(staged) and not os.path.islink(staged)
    try:
        os.replace(staged, final)
    except OSError as error:
        into = inner and os.path.isdir(final)
        if not into or error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.EINVAL, errno.ENOTDIR, errno.EBUSY):
            raise
        for name in sorted(os.listdir(staged), key=lambda name: (name in _LAST, name == _LAST[-1], name)):
            _move(os.path.join(staged, name), os.path.join(final, name))
        os.rmdir(staged)
