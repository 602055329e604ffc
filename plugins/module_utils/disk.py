# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Room on disks: an edge, it asks file systems."""

from __future__ import annotations

import os


def nearest(path: str) -> str:
    """A folder, or the first one above it that is there."""
    while not os.path.isdir(path):
        path = os.path.dirname(path) or "/"
    return path


def free(path: str) -> int | None:
    """Bytes that this user may still write below a path, which need not be there yet.

    None for a file system that reports a size of 0, as some network ones do (field fault M08).
    """
    there = os.statvfs(nearest(path))
    return there.f_bavail * there.f_frsize if there.f_blocks else None


def room(path: str) -> tuple[int, int] | None:
    """Bytes that this user may still write below a path, and of the whole file system; None as in :func:`free`.

    :raises OSError: the file system does not answer
    """
    there = os.statvfs(nearest(path))
    return (there.f_bavail * there.f_frsize, there.f_blocks * there.f_frsize) if there.f_blocks else None
