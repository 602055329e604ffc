# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Give files to the hosts after this one, also such as are still growing: an edge, it listens.

It listens at the fabric's addresses only, answers its peers only, and those only with the token of this run.
"""

from __future__ import annotations

import ipaddress
import json
import os
import select
import socket
import socketserver
import struct
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler
from typing import Any, cast

from ansible_collections.dgxspark.serving.plugins.module_utils import page_cache
from ansible_collections.dgxspark.serving.plugins.module_utils.fanout import protocol
from ansible_collections.dgxspark.serving.plugins.module_utils.fanout.board import Board
from ansible_collections.dgxspark.serving.plugins.module_utils.fanout.order import Order
from ansible_collections.dgxspark.serving.plugins.module_utils.fanout.payload import File

BLOCK = 4 << 20
# Bytes behind which what was read of a file is dropped from the page cache.
WINDOW = 16 << 20
# Seconds between two looks whether a file has grown.
LOOK = 0.002
# Seconds between two looks whether a file has been begun.
WAIT = 0.02
# Seconds that a peer may take to say what it wants, and to take a block.
ASK, TAKE = 30, 600


class CannotListen(Exception):
    """An address or port cannot be had; the text says which and why."""


class Server:
    """What a host gives to others.

    :param receiving: whether this host is itself still receiving
    :raises CannotListen: when an address is not this host's, or its port is taken
    """

    def __init__(self, order: Order, board: Board, receiving: bool) -> None:
        self.order = order
        self.board = board
        self.receiving = receiving
        self.files = {file.number: file for file in order.payload.files}
        self.sent = 0
        self._sent_lock = threading.Lock()
        self._moved = (board.moved, time.monotonic())
        self._listeners: list[_Listener] = []
        for address in order.listen:
            try:
                self._listeners.append(_Listener(address, self))
            except OSError as error:
                self.close()
                raise CannotListen(
                    f"{address} port {order.port} cannot be listened at to give {order.what} to other hosts: "
                    f"{error.strerror}. Correct fabric_links, set the address up (prepare.yml --tags fabric), or choose"
                    " another fanout_port."
                ) from error

    def start(self) -> None:
        """Answer from now on."""
        for listener in self._listeners:
            threading.Thread(target=listener.serve_forever, daemon=True).start()

    def close(self) -> None:
        """Close the sockets of this process."""
        for listener in self._listeners:
            listener.server_close()

    def add(self, size: int) -> None:
        """Count bytes that were sent."""
        with self._sent_lock:
            self.sent += size

    def idle(self) -> float:
        """Seconds since this host got on with its own copy."""
        if self.board.moved != self._moved[0]:
            self._moved = (self.board.moved, time.monotonic())
        return time.monotonic() - self._moved[1]


class _Listener(socketserver.ThreadingTCPServer):
    """One address."""

    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, address: str, owner: Server) -> None:
        self.owner = owner
        self.peers = frozenset(ipaddress.ip_address(peer) for peer in owner.order.peers)
        self.address_family = socket.AF_INET6 if ipaddress.ip_address(address).version == 6 else socket.AF_INET
        super().__init__((address, owner.order.port), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Write down what went wrong; a peer that goes away is no error."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    """One connection of a peer."""

    protocol_version = "HTTP/1.1"

    disable_nagle_algorithm = True  # a file that grows comes in small pieces

    @property
    def owner(self) -> Server:
        return cast(_Listener, self.server).owner

    def setup(self) -> None:
        super().setup()
        # In the kernel: sendfile knows nothing of Python's time-outs.
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", ASK, 0))
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", TAKE, 0))

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: what counts is in the status of the copy."""

    def do_GET(self) -> None:
        if ipaddress.ip_address(self.client_address[0].split("%", 1)[0]) not in cast(_Listener, self.server).peers:
            self._refuse(403)
        elif not protocol.authorized(self.headers.get("Authorization"), self.owner.order.token):
            self._refuse(401)
        elif self.path == protocol.STATUS:
            self._tell()
        else:
            file = self.owner.files.get(-1 if (number := protocol.number_in(self.path)) is None else number)
            offset = protocol.offset_in(self.headers.get("Range"), file.size) if file else None
            if file is None:
                self._refuse(404)
            elif offset is None:
                self._refuse(416)
            else:
                self._give(file, offset)

    def _refuse(self, status: int) -> None:
        self.close_connection = True
        self._head(status, 0)

    def _head(self, status: int, length: int) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(length))
        self.end_headers()

    def _tell(self) -> None:
        owner = self.owner
        body = json.dumps({"receiving": owner.receiving, "idle": owner.idle(), "sent": owner.sent}).encode()
        self._head(200, len(body))
        self.wfile.write(body)

    def _give(self, file: File, offset: int) -> None:
        """Send the rest of a file, as it is there and as it comes."""
        descriptor = self._opened(file)
        if descriptor is None:
            return
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_SEQUENTIAL)
        self._head(206 if offset else 200, file.size - offset)
        self.wfile.flush()
        dropped = offset
        try:
            while offset < file.size:
                sent = os.sendfile(self.connection.fileno(), descriptor, offset, min(BLOCK, file.size - offset))
                if sent:
                    offset += sent
                    self.owner.add(sent)
                elif self._gone(LOOK) or os.fstat(descriptor).st_nlink == 0:
                    self.close_connection = True
                    return
                if offset - dropped >= WINDOW or offset == file.size:
                    page_cache.drop(descriptor, dropped, offset - dropped)
                    dropped = offset
        except OSError:  # the peer takes no more
            self.close_connection = True
        finally:
            os.close(descriptor)

    def _opened(self, file: File) -> int | None:
        """The file, as soon as there is something of it; None when the peer does not wait for it."""
        while True:
            whole = self.owner.board.is_whole(file.number)
            try:
                return self.owner.order.place.open(file, whole)
            except OSError:
                # Its name may just have changed, or it has not been begun.
                if self._gone(WAIT):
                    self.close_connection = True
                    return None

    def _gone(self, seconds: float) -> bool:
        """Wait; whether the peer has gone meanwhile."""
        asked = select.poll()
        asked.register(self.connection, select.POLLIN | select.POLLRDHUP)
        return bool(asked.poll(1000 * seconds))
