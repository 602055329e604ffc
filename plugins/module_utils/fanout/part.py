# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A file that is being received: an edge. It is hashed on its way, and gets its name when it is right."""

from __future__ import annotations

import fcntl
import hashlib
import os
from types import TracebackType

from ansible_collections.dgxspark.serving.plugins.module_utils import page_cache

# Bytes that are received, hashed and written while they are still in the core's own cache.
BLOCK = 256 << 10


class Part:
    """An unfinished file, locked against other copies.

    :param window: as ``page_cache.window_of`` gives it
    :raises BlockingIOError: another copy writes it
    :raises OSError: it cannot be made, or the disk has no room for it
    """

    def __init__(self, path: str, size: int, window: int) -> None:
        self.path = path
        self.size = size
        self.at = 0  # bytes that are there and hashed
        self._window = window
        self._hash = hashlib.sha256()
        os.makedirs(os.path.dirname(path), exist_ok=True)
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(self._file).st_size > size:
                os.ftruncate(self._file, 0)
            page_cache.preallocate(self._file, size)
        except OSError:
            os.close(self._file)
            raise
        self._behind = page_cache.Behind(self._file, 0, window)

    def __enter__(self) -> Part:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._file)

    def reread(self, buffer: memoryview) -> int:
        """Hash the next of the bytes that were there before; how many, 0 when that is done."""
        size = os.preadv(self._file, [buffer], self.at)
        if size:
            self._hash.update(buffer[:size])
            page_cache.drop(self._file, self.at, size)
            self.at += size
        else:
            self._behind = page_cache.Behind(self._file, self.at, self._window)
        return size

    def write(self, data: memoryview) -> None:
        """Add what has arrived.

        :raises OSError: when the disk refuses
        """
        self._hash.update(data)
        sent = 0
        while sent < len(data):
            sent += os.pwrite(self._file, data[sent:], self.at + sent)
        self.at += len(data)
        self._behind.wrote(self.at)

    def is_right(self, sha256: str) -> bool:
        """Whether all of it has arrived as it was sent."""
        return self._hash.hexdigest() == sha256

    def keep(self, name: str) -> None:
        """Give it its name.

        :raises OSError: when the disk refuses, or something is in the way
        """
        os.fsync(self._file)
        os.replace(self.path, name)
        page_cache.drop(self._file, 0, 0)

    def discard(self) -> None:
        """Remove it; hosts that read it see that it never becomes whole."""
        os.unlink(self.path)
