# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A server of known truth for the client's self-test, a process of its own on loopback. An edge: it forks.

It streams chat chunks in the form of vLLM and keeps the time of each arrival and of each chunk that it sends, by
``perf_counter``: on Linux that is CLOCK_MONOTONIC, the same for all processes of a machine. Requests are taken from the
kernel and stamped after every chunk, so that a burst does not count the reading of its first requests as time of its
last ones. It ends with its parent, by the end of a pipe, and in any case when its time is over.
"""

from __future__ import annotations

import contextlib
import gc
import heapq
import json
import os
import re
import select
import signal
import socket
import time
from dataclasses import dataclass
from types import TracebackType
from typing import Any, NoReturn

# Seconds from a request's arrival to its first chunk, and from chunk to chunk.
TTFT_S, GAP_S = 0.05, 0.01
PIECE = 1 << 16
_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n"
_LENGTH = re.compile(rb"\r\ncontent-length:\s*(\d+)", re.IGNORECASE)

Stamps = dict[str, dict[str, Any]]


class Truth:
    """The server, while the ``with`` block lasts.

    :ivar url: where it listens
    """

    def __init__(self, seconds: float) -> None:
        """Say for how many seconds it lives at most."""
        self._seconds = seconds
        self.url = ""
        self._pid = 0
        self._go = self._out = -1

    def __enter__(self) -> Truth:
        """Begin to serve; what the machine does not give is an `OSError`."""
        with socket.create_server(("127.0.0.1", 0), backlog=64) as listener:
            self.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
            go, self._go = os.pipe()
            self._out, out = os.pipe()
            try:
                self._pid = os.fork()
                if self._pid == 0:
                    for fd in (self._go, self._out):
                        os.close(fd)
                    _serve(listener, go, out, self._seconds)
            except OSError:
                self._hang_up()
                raise
            finally:
                os.close(go)
                os.close(out)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End it."""
        self._hang_up()
        os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)

    def stamps(self) -> Stamps:
        """End serving, and tell what was sent; a server that has died is a `ChildProcessError`.

        :returns: by the ``user`` that stood in each request ``arrived`` and ``sends``, in seconds of ``perf_counter``
        """
        self._close_go()
        pieces = []
        while piece := os.read(self._out, PIECE):
            pieces.append(piece)
        if not pieces:
            raise ChildProcessError("the server of known truth has ended before its time")
        found: Stamps = json.loads(b"".join(pieces))
        return found

    def _close_go(self) -> None:
        if self._go >= 0:
            os.close(self._go)
            self._go = -1

    def _hang_up(self) -> None:
        self._close_go()
        os.close(self._out)


def _serve(listener: socket.socket, go: int, out: int, seconds: float) -> NoReturn:
    """Be the server, from here to the end of the process."""
    status = 1
    try:
        # Whatever the loop does: the kernel ends this process.
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, seconds)
        gc.disable()
        server = _Server(listener, go)
        server.run()
        data = memoryview(json.dumps(server.stamps).encode())
        while data:
            data = data[os.write(out, data) :]
        status = 0
    finally:
        # Nothing of the parent's is flushed, closed or cleaned up here.
        os._exit(status)


@dataclass
class _Stream:
    """One connection and its generation.

    :ivar came: what came and is no whole request yet
    :ivar sends: when its chunks left
    """

    sock: socket.socket
    came: bytes
    sends: list[float]
    tokens: int = 0


class _Server:
    """The loop.

    :ivar stamps: as `Truth.stamps` gives them
    """

    def __init__(self, listener: socket.socket, go: int) -> None:
        listener.setblocking(False)
        self._listener, self._go = listener, go
        self._epoll = select.epoll()
        for fd in (listener.fileno(), go):
            self._epoll.register(fd, select.EPOLLIN)
        self._streams: dict[int, _Stream] = {}
        self._due: list[tuple[float, int]] = []
        self._over = False
        self.stamps: Stamps = {}

    def run(self) -> None:
        """Serve until the parent hangs up."""
        while not self._over:
            wait = self._due[0][0] - time.perf_counter() if self._due else 1.0
            if wait > 0:
                # epoll_wait counts in whole milliseconds, select in microseconds.
                select.select([self._epoll], [], [], wait)
            self._take()
            while self._due and self._due[0][0] <= time.perf_counter():
                self._step(*heapq.heappop(self._due))
                self._take()

    def _take(self) -> None:
        """Take what has come."""
        for fd, _event in self._epoll.poll(0):
            now = time.perf_counter()
            if fd == self._go:
                self._over = True
            elif fd == self._listener.fileno():
                with contextlib.suppress(OSError):
                    sock, _peer = self._listener.accept()
                    sock.setblocking(False)
                    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    self._streams[sock.fileno()] = _Stream(sock, b"", [])
                    self._epoll.register(sock, select.EPOLLIN)
            elif fd in self._streams:
                self._read(fd, self._streams[fd], now)

    def _read(self, fd: int, stream: _Stream, now: float) -> None:
        """Begin to answer as soon as a request is whole."""
        try:
            piece = stream.sock.recv(PIECE)
        except OSError:
            piece = b""
        if not piece:
            self._close(fd)
            return
        stream.came += piece
        head, found, body = stream.came.partition(b"\r\n\r\n")
        length = _LENGTH.search(head)
        if not found or length is None or len(body) < int(length[1]):
            return
        stream.came = b""
        try:
            wish = json.loads(body)
            name, stream.tokens = str(wish["user"]), int(wish["max_tokens"])
        except (ValueError, KeyError, TypeError):
            self._close(fd)  # a stranger
            return
        stream.sends = []
        self.stamps[name] = {"arrived": now, "sends": stream.sends}
        if self._send(fd, stream, _HEAD):
            heapq.heappush(self._due, (now + TTFT_S, fd))

    def _step(self, at: float, fd: int) -> None:
        """Send a chunk; the next one is due an interval after this one was, however late this one leaves."""
        stream = self._streams.get(fd)
        if stream is None:
            return
        last = len(stream.sends) + 1 >= stream.tokens
        data = _last(stream.tokens) if last else _NEXT if stream.sends else _FIRST
        stream.sends.append(time.perf_counter())
        if self._send(fd, stream, data) and not last:
            heapq.heappush(self._due, (at + GAP_S, fd))

    def _send(self, fd: int, stream: _Stream, data: bytes) -> bool:
        """Send it whole; a client that takes so little has no truth to be told."""
        try:
            whole = stream.sock.send(data) == len(data)
        except OSError:
            whole = False
        if not whole:
            self._close(fd)
        return whole

    def _close(self, fd: int) -> None:
        self._streams.pop(fd).sock.close()
        # The number may be another connection's next.
        self._due = [entry for entry in self._due if entry[1] != fd]
        heapq.heapify(self._due)


def _event(choices: list[dict[str, Any]], **more: Any) -> bytes:
    """An event of a stream of chat, as vLLM writes it."""
    kind = {"id": "chatcmpl-self-test", "object": "chat.completion.chunk", "created": 1700000000, "model": "self-test"}
    return b"data: " + json.dumps({**kind, "choices": choices, **more}).encode() + b"\n\n"


def _token(finish: str | None, **delta: str) -> bytes:
    return _event([{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}])


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


_FIRST = _chunk(_token(None, role="assistant", content="one"))
_WORD = _token(None, content=" more")
_NEXT = _chunk(_WORD)


def _last(tokens: int) -> bytes:
    """The last token with all that follows it, in one piece."""
    usage = {"prompt_tokens": 8, "completion_tokens": tokens, "total_tokens": 8 + tokens}
    return _chunk(_WORD + _token("length") + _event([], usage=usage) + b"data: [DONE]\n\n") + b"0\r\n\r\n"
