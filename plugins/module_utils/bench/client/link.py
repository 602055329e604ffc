# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One connection that never blocks: opened, led through a proxy and a TLS handshake, then used. An edge."""

from __future__ import annotations

import contextlib
import select
import socket
import ssl
import time

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.failures import (
    CONNECT,
    TLS,
    TargetError,
    of_connect,
    of_errno,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.framing import Ending
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.head import Head, HeadError, connect_head
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.reply import Reply
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.target import (
    Address,
    Target,
    place_of,
)

CONNECTING, TUNNEL, SHAKING, OPEN = "connecting", "tunnel", "shaking", "open"
READ, WRITE = select.EPOLLIN, select.EPOLLOUT
PIECE = 16384


class Door:
    """Opens connections to one target.

    :ivar address: where they go
    """

    def __init__(self, target: Target, address: Address) -> None:
        self.target, self.address = target, address
        self.place = place_of(target.url)
        self.tls = tls_context(target) if self.place.tls else None

    def open(self, epoll: select.epoll, reply: Reply | None = None) -> Link:
        """Begin a connection; ``reply`` is the request that waits for it, if one does."""
        sock = socket.socket(self.address.family, socket.SOCK_STREAM | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            sock.connect(self.address.sockaddr)
        except BlockingIOError:
            pass
        except OSError:
            sock.close()
            raise
        link = Link(self, sock, epoll, reply)
        epoll.register(link.fd, WRITE)
        return link


class Link:
    """A connection and the request that is under way on it.

    :ivar began: when it was begun; `took`: seconds until it was open
    :ivar reply: the request under way or waiting; None when idle
    :ivar out: what of the request is still to be written
    :ivar used: requests that ended well on it
    :ivar last: stamp of the last piece
    """

    def __init__(self, door: Door, sock: socket.socket, epoll: select.epoll, reply: Reply | None) -> None:
        self.door, self.sock, self.epoll, self.reply = door, sock, epoll, reply
        self.fd = sock.fileno()
        self.state = CONNECTING
        self.tls = door.tls is not None
        self.began = time.perf_counter()
        self.took = 0.0
        self.out: memoryview | None = None
        self.ending = Ending()
        self.used = 0
        self.last = 0.0
        self.recv = sock.recv
        self._proxy_said = b""

    def advance(self) -> bool:
        """Do the next step of opening; say whether it is open. What goes wrong is a `TargetError`."""
        try:
            if self.state == CONNECTING:
                self._connected()
            if self.state == TUNNEL:
                self._tunnel()
            if self.state == SHAKING:
                self._shake()
        except ssl.SSLError as fault:
            raise of_connect(fault) from None
        except OSError as fault:
            if self.state == SHAKING:
                raise TargetError(TLS, f"the TLS handshake failed: {fault.strerror or fault}") from None
            raise of_connect(fault) from None
        return self.state == OPEN

    def _connected(self) -> None:
        number = self.sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if number:
            raise of_errno(number)
        place = self.door.place
        if self.door.target.proxy and place.tls:
            self.sock.send(connect_head(place))
            self.epoll.modify(self.fd, READ)
            self.state = TUNNEL
        else:
            self._reached()

    def _reached(self) -> None:
        """The way to the target itself is open."""
        context, place = self.door.tls, self.door.place
        if context is None:
            self._opened()
            return
        self.sock = context.wrap_socket(self.sock, server_hostname=place.host, do_handshake_on_connect=False)
        self.recv = self.sock.recv
        self.state = SHAKING

    def _tunnel(self) -> None:
        with contextlib.suppress(BlockingIOError):
            piece = self.sock.recv(PIECE)
            self._proxy_said += piece
            if not piece:
                raise TargetError(CONNECT, "the proxy closed the connection")
        text, found, _rest = self._proxy_said.partition(b"\r\n\r\n")
        if found:
            status = _proxy_status(text)
            if status // 100 != 2:
                raise TargetError(CONNECT, f"the proxy opens no way to the target: HTTP {status}")
            self._reached()

    def _shake(self) -> None:
        sock = self.sock
        if not isinstance(sock, ssl.SSLSocket):
            return
        try:
            sock.do_handshake()
        except ssl.SSLWantReadError:
            self.epoll.modify(self.fd, READ)
        except ssl.SSLWantWriteError:
            self.epoll.modify(self.fd, WRITE)
        else:
            self._opened()

    def _opened(self) -> None:
        self.state = OPEN
        self.took = time.perf_counter() - self.began
        self.epoll.modify(self.fd, READ)

    def write(self) -> float | None:
        """Write what is left of the request; give the stamp of its last byte, None while some is left."""
        while self.out is not None:
            stamp = time.perf_counter()
            try:
                sent = self.sock.send(self.out)
            except (BlockingIOError, ssl.SSLWantWriteError, ssl.SSLWantReadError):
                self.epoll.modify(self.fd, READ | WRITE)
                return None
            if sent < len(self.out):
                self.out = self.out[sent:]
                continue
            self.out = None
            # The request was whole when it was handed over: what the system does with it is part of the answer's time.
            return stamp
        return None

    def pieces(self) -> list[bytes]:
        """All that can be read of an encrypted connection, where epoll sees nothing of what was decrypted before.

        An empty piece says that the server closed it, or that the connection broke: what had come before is not lost.
        """
        found = []
        while True:
            try:
                piece = self.recv(PIECE)
            except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
                return found
            except OSError:
                piece = b""
            found.append(piece)
            if not piece:
                return found

    def close(self) -> None:
        """Give it up; a second time does nothing."""
        if self.fd >= 0:
            with contextlib.suppress(OSError):
                self.epoll.unregister(self.fd)
            self.sock.close()
            self.fd = -1


def tls_context(target: Target) -> ssl.SSLContext:
    """How the target is trusted; a CA file that cannot be read is a `TargetError`."""
    try:
        context = ssl.create_default_context(cafile=target.ca_file or None)
    except (OSError, ssl.SSLError) as fault:
        raise TargetError(TLS, f"the certificates in {target.ca_file} cannot be read: {fault}") from None
    context.set_alpn_protocols(["http/1.1"])
    if not target.verify_tls:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _proxy_status(text: bytes) -> int:
    try:
        return Head(text).status
    except HeadError:
        raise TargetError(CONNECT, "the proxy's answer is not HTTP") from None
