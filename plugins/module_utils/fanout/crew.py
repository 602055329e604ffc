# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The processes that receive: an edge. One for each stream, for hashing takes a core; they share one queue of files."""

from __future__ import annotations

import ctypes
import os
import signal
import struct
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress

from ansible_collections.dgxspark.serving.plugins.module_utils.fanout.board import Board
from ansible_collections.dgxspark.serving.plugins.module_utils.fanout.order import Order
from ansible_collections.dgxspark.serving.plugins.module_utils.fanout.payload import File
from ansible_collections.dgxspark.serving.plugins.module_utils.fanout.routes import NobodyLeft
from ansible_collections.dgxspark.serving.plugins.module_utils.fanout.stream import DiskFailed, Stream, WrongContent

_PLACE = struct.Struct("I")
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG
_LIBC = ctypes.CDLL(None)


class Crew:
    """The processes of one copy; they are gone when the process that made them is.

    :param files: what to receive, in this order
    :param close: called in each process, to close what belongs to the first one alone
    """

    def __init__(self, order: Order, board: Board, files: Sequence[File], close: Callable[[], None]) -> None:
        self._order = order
        self._board = board
        self._files = files
        queue, feed = os.pipe()
        self._said, saying = os.pipe()
        os.set_blocking(self._said, False)
        self._text = b""
        self._running: set[int] = set()
        parent = os.getpid()
        for number in range(min(order.streams, len(files))):
            child = os.fork()
            if child == 0:
                _LIBC.prctl(_DIE_WITH_PARENT, signal.SIGKILL, 0, 0, 0)
                os.close(feed)
                close()
                self._work(number, parent, queue, saying)
            self._running.add(child)
        os.close(queue)
        os.close(saying)
        threading.Thread(target=self._feed, args=(feed,), daemon=True).start()

    def runs(self) -> bool:
        """Whether any process is still at it."""
        for child in list(self._running):
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                self._running.discard(child)
                if os.WIFSIGNALED(status):
                    self._text += f"A stream was ended by signal {os.WTERMSIG(status)}. Run again.\n".encode()
        with suppress(BlockingIOError):
            while got := os.read(self._said, 65536):
                self._text += got
        return bool(self._running)

    def failures(self) -> list[str]:
        """What went wrong, in sentences, each once."""
        return list(dict.fromkeys(self._text.decode().splitlines()))

    def _feed(self, feed: int) -> None:
        """Hand out the files: whoever is free reads the next number."""
        with suppress(BrokenPipeError):
            for place in range(len(self._files)):
                os.write(feed, _PLACE.pack(place))
        os.close(feed)

    def _work(self, number: int, parent: int, queue: int, saying: int) -> None:
        """The life of a process."""
        try:
            stream = Stream(self._order, self._board, number, self._order.stall)
            while os.getppid() == parent and (got := os.read(queue, _PLACE.size)):
                try:
                    stream.fetch(self._files[_PLACE.unpack(got)[0]])
                except WrongContent as error:
                    os.write(saying, f"{error}\n".encode())
        except NobodyLeft as error:
            text = (
                f"No host gives {self._order.what} any more: {error}. Look at those hosts, and run again: what has "
                "arrived is kept.\n"
            )
            os.write(saying, text.encode())
        except DiskFailed as error:
            os.write(saying, f"{error}\n".encode())
        except BaseException:
            traceback.print_exc()
            os.write(saying, f"{sys.exc_info()[1]!r}. This is a fault of the collection; please report it.\n".encode())
        finally:
            os._exit(0)
