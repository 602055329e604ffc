# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Small servers that do one odd thing each, in a thread: for what the mock engine does not do."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator

Handler = Callable[[socket.socket], None]


@contextlib.contextmanager
def listening(handle: Handler) -> Iterator[int]:
    """Let ``handle`` have each connection, in a thread of its own; give the port."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as server:

        def accept() -> None:
            with contextlib.suppress(OSError):
                while True:
                    sock, _peer = server.accept()
                    threading.Thread(target=_one, args=(handle, sock), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)


def _one(handle: Handler, sock: socket.socket) -> None:
    with sock, contextlib.suppress(OSError):
        handle(sock)


def head_of(sock: socket.socket) -> bytes:
    """Read until the end of a request's head."""
    data = b""
    while b"\r\n\r\n" not in data:
        piece = sock.recv(65536)
        if not piece:
            return data
        data += piece
    return data


def silent(sock: socket.socket) -> None:
    """Take the connection and say nothing."""
    while sock.recv(65536):
        pass


def once(answer: bytes) -> Handler:
    """Answer one request well, and close without a word when the next one comes: a kept connection that went stale."""

    def handle(sock: socket.socket) -> None:
        if head_of(sock):
            sock.sendall(answer)
            sock.recv(1)

    return handle


def tunnel(port: int, seen: list[str], status: int = 200) -> Handler:
    """A proxy that knows CONNECT alone; ``seen`` gets the first line of each request."""

    def handle(sock: socket.socket) -> None:
        seen.append(head_of(sock).split(b"\r\n")[0].decode())
        if status != 200:
            sock.sendall(b"HTTP/1.1 %d No\r\n\r\n" % status)
            return
        with socket.create_connection(("127.0.0.1", port)) as other:
            sock.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            back = threading.Thread(target=_pump, args=(other, sock), daemon=True)
            back.start()
            _pump(sock, other)

    return handle


def _pump(source: socket.socket, drain: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while piece := source.recv(65536):
            drain.sendall(piece)
        drain.shutdown(socket.SHUT_WR)
