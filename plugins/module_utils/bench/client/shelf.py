# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where replies wait until they are read: the first ones in memory, the others in a file that nobody sees. An edge.

The memory of a host is its GPU's as well: a long round must not take from the model that it measures.
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


class Shelf:
    """Keeps the bytes of replies that have ended; to be closed."""

    def __init__(self) -> None:
        self._held = 0
        self._open = contextlib.ExitStack()
        self._file: BinaryIO | None = None
        self._full = False
        self._places: dict[int, tuple[int, int]] = {}

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
        self._places[id(reply)] = (place, size)
        reply.raw = bytearray()

    def take(self, reply: Reply) -> None:
        """Give a reply its bytes back."""
        place, size = self._places.pop(id(reply), (0, 0))
        if size and self._file is not None:
            reply.raw = bytearray(os.pread(self._file.fileno(), size, place))
