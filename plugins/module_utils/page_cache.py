# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Keep big files out of the page cache, which an engine counts as used memory: an edge, it calls the C library."""

from __future__ import annotations

import ctypes
import errno
import os

# All streams of a copy together may leave so many bytes in the page cache of a host; half of what is allowed.
BUDGET = 512 << 20
LARGEST_WINDOW, SMALLEST_WINDOW = 16 << 20, 1 << 20
_KEEP_SIZE = 1  # FALLOC_FL_KEEP_SIZE
_WRITE = 2  # SYNC_FILE_RANGE_WRITE
_WRITE_AND_WAIT = 7  # and both SYNC_FILE_RANGE_WAIT_*
_LIBC = ctypes.CDLL(None, use_errno=True)


def window_of(streams: int) -> int:
    """Bytes that a stream writes before they are sent to the disk; up to four of them are in the cache."""
    return max(SMALLEST_WINDOW, min(LARGEST_WINDOW, BUDGET // max(1, streams) // 4))


def preallocate(descriptor: int, size: int) -> None:
    """Have room for a file; its size stays what has been written. A file system that cannot is left alone.

    :raises OSError: when there is no room
    """
    if not hasattr(_LIBC, "fallocate64") or size == 0:
        return
    if _LIBC.fallocate64(descriptor, _KEEP_SIZE, ctypes.c_int64(0), ctypes.c_int64(size)):
        number = ctypes.get_errno()
        if number in (errno.ENOSPC, errno.EDQUOT):
            raise OSError(number, os.strerror(number))


def drop(descriptor: int, offset: int, length: int) -> None:
    """Drop a part of a file that is on the disk from the cache; a length of 0 is all of the rest."""
    os.posix_fadvise(descriptor, offset, length, os.POSIX_FADV_DONTNEED)


class Behind:
    """Writes what a stream has written to the disk in windows, and drops each from the cache.

    A window stays for as long as the next one is written: the host after this one reads it meanwhile.
    """

    def __init__(self, descriptor: int, offset: int, window: int) -> None:
        self._descriptor = descriptor
        self._window = window
        self._start = offset  # of the window that is being written

    def wrote(self, end: int) -> None:
        """Say up to where the file has been written.

        :raises OSError: when the disk refuses
        """
        while end - self._start >= self._window:
            self._sync(self._start, _WRITE)
            before = self._start - self._window
            if before >= 0:
                self._sync(before, _WRITE_AND_WAIT)
                drop(self._descriptor, max(0, before - self._window), self._window)
            self._start += self._window

    def _sync(self, offset: int, flags: int) -> None:
        """Write a window to the disk; where a range cannot be, all of the file."""
        if hasattr(_LIBC, "sync_file_range"):
            start, length = ctypes.c_int64(offset), ctypes.c_int64(self._window)
            if _LIBC.sync_file_range(self._descriptor, start, length, ctypes.c_uint(flags)) == 0:
                return
            number = ctypes.get_errno()
            if number in (errno.EIO, errno.ENOSPC, errno.EDQUOT):
                raise OSError(number, os.strerror(number))
        if flags == _WRITE_AND_WAIT:
            os.fdatasync(self._descriptor)
