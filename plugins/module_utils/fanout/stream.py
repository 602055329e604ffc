# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One stream: it takes file after file from the hosts above, hashes each on its way, and names it when it is right."""

from __future__ import annotations

from ansible_collections.dgxspark.serving.plugins.module_utils import page_cache
from ansible_collections.dgxspark.serving.plugins.module_utils.fanout.board import Board
from ansible_collections.dgxspark.serving.plugins.module_utils.fanout.order import Order
from ansible_collections.dgxspark.serving.plugins.module_utils.fanout.part import BLOCK, Part
from ansible_collections.dgxspark.serving.plugins.module_utils.fanout.payload import File
from ansible_collections.dgxspark.serving.plugins.module_utils.fanout.protocol import BadAnswer
from ansible_collections.dgxspark.serving.plugins.module_utils.fanout.routes import Routes
from ansible_collections.dgxspark.serving.plugins.module_utils.fanout.upstream import Stalled, Upstream


class WrongContent(Exception):
    """A file never arrived as the manifest has it; the text names it."""


class DiskFailed(Exception):
    """This host cannot write; the text says where and why."""


class Stream:
    """One of the streams of a copy.

    :param number: which one
    :param patience: seconds in which the hosts above may still be starting
    """

    def __init__(self, order: Order, board: Board, number: int, patience: float) -> None:
        self._order = order
        self._board = board
        self._number = number
        self._routes = Routes(order.upstreams, number, patience)
        self._upstream: Upstream | None = None
        self._resumed = False  # whether an earlier run has begun the current file
        self._window = page_cache.window_of(order.streams)
        self._buffer = memoryview(bytearray(BLOCK))

    def fetch(self, file: File) -> None:
        """Have a file, whole and right.

        :raises WrongContent: every host above gives something else
        :raises NobodyLeft: no host above gives anything
        :raises DiskFailed: this host cannot write
        """
        wrong = 0
        while not self._attempt(file):
            # What was there from an earlier run may have been what is wrong.
            wrong += 0 if self._resumed else 1
            if wrong >= max(2, self._routes.hosts):
                raise WrongContent(
                    f"{file.path} arrives with another SHA-256 than the manifest has: its source was changed, or a disk"
                    " or memory is failing. Run again with model_verify=sha256."
                )
            self._disconnect()
            self._routes.other_host()

    def _attempt(self, file: File) -> bool:
        """Receive a file; whether it was right. What is wrong is removed."""
        path = self._order.place.part(file)
        try:
            with Part(path, file.size, self._window) as part:
                while size := part.reread(self._buffer):
                    self._board.add(self._number, size)
                self._resumed = part.at > 0
                while part.at < file.size:
                    self._receive(file, part)
                if part.is_right(file.sha256):
                    part.keep(self._order.place.done(file))
                    self._board.set_whole(file.number)
                    return True
                part.discard()
                self._board.add(self._number, -part.at)
                return False
        except BlockingIOError as error:
            raise DiskFailed(f"Another copy is writing {path}. Wait for it, or end it, and run again.") from error
        except OSError as error:
            raise DiskFailed(f"{path} cannot be written: {error.strerror}. Mend that, and run again.") from error

    def _receive(self, file: File, part: Part) -> None:
        """Receive until the end of the file, or until the host above fails."""
        used = self._upstream is not None
        try:
            upstream = self._upstream or self._connect()
            upstream.ask(file.number, part.at, file.size)
        except (OSError, Stalled, BadAnswer) as error:
            if used and isinstance(error, OSError):
                self._disconnect()  # it was closed because nothing was asked for a while
            else:
                self._fail(error)
            return
        while part.at < file.size:
            try:
                size = upstream.read(self._buffer)
            except (OSError, Stalled) as error:
                self._fail(error)
                return
            self._routes.gave()
            part.write(self._buffer[:size])
            self._board.add(self._number, size)

    def _connect(self) -> Upstream:
        order = self._order
        self._upstream = Upstream(self._routes.current.address, order.port, order.token, order.stall)
        self._routes.answered()
        return self._upstream

    def _fail(self, error: Exception) -> None:
        self._disconnect()
        self._routes.failed((error.strerror if isinstance(error, OSError) else "") or str(error))

    def _disconnect(self) -> None:
        if self._upstream:
            self._upstream.close()
        self._upstream = None
