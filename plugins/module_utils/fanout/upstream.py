# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A stream's connection to the host that it takes files from: an edge."""

from __future__ import annotations

import json
import socket
import struct
from contextlib import suppress
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.fanout import protocol

# Seconds that a host on the fabric has to accept a connection.
CONNECT = 5.0


class Stalled(Exception):
    """The other host sends nothing any more; the text says so."""


class Upstream:
    """One open connection.

    :param stall: seconds without a byte after which the other host is asked whether it gets on
    :raises OSError: when there is no connection
    """

    def __init__(self, address: str, port: int, token: str, stall: float) -> None:
        self._where = (address, port)
        self._token = token
        self._stall = stall
        self._rest = b""
        self._left = 0
        self._socket = self._connection()

    def close(self) -> None:
        self._socket.close()

    def ask(self, number: int, offset: int, size: int) -> None:
        """Ask for a file from an offset on.

        :raises BadAnswer: when it is refused, or has another size
        :raises OSError, Stalled: when the connection breaks, or nothing comes
        """
        self._socket.sendall(protocol.request(f"/{number}", self._where[0], self._token, offset))
        head, self._rest = self._head(self._socket)
        self._left = protocol.length_in(head)
        if self._left != size - offset:
            raise protocol.BadAnswer(f"has {self._left + offset} bytes of a file of {size}")

    def read(self, buffer: memoryview) -> int:
        """The next bytes of the file; how many, 0 at its end.

        :raises OSError, Stalled: when the connection breaks, or nothing comes
        """
        wanted = buffer[: self._left]
        if self._rest:
            size = min(len(self._rest), len(wanted))
            wanted[:size] = self._rest[:size]
            self._rest = self._rest[size:]
        else:
            size = self._received(wanted)
        self._left -= size
        return size

    def _received(self, wanted: memoryview) -> int:
        while len(wanted):
            try:
                size = self._socket.recv_into(wanted, len(wanted), socket.MSG_WAITALL)
            except BlockingIOError:
                self._judge()
                continue
            if size == 0:
                raise ConnectionResetError("ended before the file did")
            return size
        return 0

    def _head(self, connection: socket.socket) -> tuple[bytes, bytes]:
        """The head of an answer, and what has come of the rest."""
        received = b""
        while not (end := protocol.head_end(received)):
            try:
                got = connection.recv(protocol.LONGEST_HEAD)
            except BlockingIOError:
                if connection is not self._socket:
                    raise
                self._judge()
                continue
            if not got:
                raise ConnectionResetError("ended before it answered")
            received += got
        return received[:end], received[end:]

    def _judge(self) -> None:
        """Whether to wait on: a host that itself receives will get to our file.

        :raises Stalled: when it does not
        """
        status: dict[str, Any] = {}
        with suppress(OSError, ValueError, protocol.BadAnswer):
            status = self._status()
        # Half, for otherwise a host would wait for one that waits just as long for its own.
        if not status.get("receiving") or status.get("idle", self._stall) > self._stall / 2:
            raise Stalled(f"sends nothing for {self._stall:g} s")

    def _status(self) -> dict[str, Any]:
        with self._connection() as connection:
            connection.sendall(protocol.request(protocol.STATUS, self._where[0], self._token))
            head, body = self._head(connection)
            length = protocol.length_in(head)
            while len(body) < length:
                got = connection.recv(length - len(body))
                if not got:
                    raise ConnectionResetError("ended before it answered")
                body += got
        found = json.loads(body)
        return found if isinstance(found, dict) else {}

    def _connection(self) -> socket.socket:
        connection = socket.create_connection(self._where, timeout=min(CONNECT, self._stall))
        connection.settimeout(None)
        # In the kernel, for with a time-out of Python's no call waits for a whole block.
        seconds = int(self._stall)
        limit = struct.pack("ll", seconds, int((self._stall - seconds) * 1e6))
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, limit)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, limit)
        return connection
