# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where replies wait until they are read: the first ones in memory, the others in a file that nobody sees. An edge.

The memory of a host is its GPU's as well: a long round must not take from the model that it measures, nor many long
answers that are under way.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from types import TracebackType
from typing import BinaryIO

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.reply import Reply

# Bytes that are kept in memory.
IN_MEMORY = 1_000_000
# Bytes that all replies under way may have in memory; each at least so many, or writing would take more than it saves.
UNDER_WAY = 2_000_000
LEAST_PART = 4096


class Shelf:
    """Keeps the bytes of replies that have ended; to be closed."""

    def __init__(self) -> None:
        self._held = 0
        self._open = contextlib.ExitStack()
        self._file: BinaryIO | None = None
        self._full = False
        self._places: dict[int, list[tuple[int, int]]] = {}

    def __enter__(self) -> Shelf:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _fault: BaseException | None, _at: TracebackType | None
    ) -> None:
        self._open.close()

    def put(self, reply: Reply) -> None:
        """Take the bytes of a reply away from it, unless there is room for them in memory or nowhere else."""
        size = len(reply.raw)
        if self._held + size <= IN_MEMORY or self._full:
            self._held += size
        else:
            self.put_part(reply)

    def put_part(self, reply: Reply) -> None:
        """Take from a reply what it has got so far."""
        size = len(reply.raw)
        if self._full:
            return
        try:
            if self._file is None:
                self._file = self._open.enter_context(tempfile.TemporaryFile(buffering=0))  # noqa: SIM115 - closed with us
            place = self._file.tell()
            if self._file.write(reply.raw) != size:
                raise OSError("the disk is full")
        except OSError:
            # Without room on the disk they stay in memory.
            self._full = True
            return
        self._places.setdefault(id(reply), []).append((place, size))
        # It is emptied in place: while the reply is under way others hold it, too.
        reply.raw.clear()

    def take(self, reply: Reply) -> None:
        """Give a reply its bytes back."""
        places = self._places.pop(id(reply), [])
        if places and self._file is not None:
            parts = [os.pread(self._file.fileno(), size, place) for place, size in places]
            reply.raw = bytearray(b"".join([*parts, reply.raw]))


def part_for(users: int) -> int:
    """From how many bytes on a reply under way is put aside, when there are so many of them."""
    return max(LEAST_PART, UNDER_WAY // max(1, users))
