# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the processes of a copy know of each other: memory that they share."""

from __future__ import annotations

import mmap


class Board:
    """Which files are whole, and how far each stream is. Each cell has one writer.

    :param entries: number of entries of the manifest
    :param streams: number of processes that receive
    """

    def __init__(self, entries: int, streams: int) -> None:
        self._streams = streams
        counters = 16 * max(1, streams)
        self._memory = mmap.mmap(-1, counters + max(1, entries))
        # For each stream two numbers: bytes that it has brought, and bytes that it has read or written at all.
        self._counters = memoryview(self._memory)[:counters].cast("q")
        self._whole = memoryview(self._memory)[counters:]

    def set_whole(self, number: int) -> None:
        """Say that a file is there and right."""
        self._whole[number] = 1

    def is_whole(self, number: int) -> bool:
        """Whether a file is there and right."""
        return self._whole[number] == 1

    def add(self, stream: int, size: int) -> None:
        """Count bytes that are there now; fewer than 0 when they had to be thrown away."""
        self._counters[2 * stream] += size
        self._counters[2 * stream + 1] += abs(size)

    @property
    def brought(self) -> int:
        """Bytes that are there by the work of all streams."""
        return sum(self._counters[0::2])

    @property
    def moved(self) -> int:
        """A number that grows as long as any stream does something."""
        return sum(self._counters[1::2])
