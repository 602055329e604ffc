# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A small HTTP/1.1 server on asyncio: JSON answers, event streams, keep-alive."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from .log import plain

REASONS = {
    200: "OK",
    400: "Bad Request",
    401: "Unauthorized",
    404: "Not Found",
    405: "Method Not Allowed",
    413: "Content Too Large",
    500: "Internal Server Error",
    503: "Service Unavailable",
}
HEADER_BYTES = 64 << 10
BODY_BYTES = 64 << 20


class BadRequest(Exception):
    """What the client sent is no HTTP request that this server takes; holds the status."""

    def __init__(self, status: int) -> None:
        super().__init__(REASONS[status])
        self.status = status


class CutStream(Exception):
    """Raised inside a stream to end its connection in the middle of the answer."""


@dataclass(frozen=True)
class Request:
    """One request; header names are in lower case."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True)
class Response:
    """One answer; `stream` instead of `body` is sent in chunks as it comes."""

    status: int = 200
    body: bytes = b""
    content_type: str = "application/json"
    stream: AsyncIterator[bytes] | None = None
    headers: dict[str, str] = field(default_factory=dict)


Handler = Callable[[Request], Awaitable[Response]]


def json_response(value: Any, status: int = 200) -> Response:
    """Return a JSON answer."""
    return Response(status, json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


def bound_socket(host: str, port: int) -> socket.socket:
    """Return a socket that holds an address without listening on it yet; raises OSError when it is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    server = socket.socket(family, socket.SOCK_STREAM)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.setblocking(False)
    try:
        server.bind((host, port))
    except OSError:
        server.close()
        raise
    return server


async def _read_chunked(reader: asyncio.StreamReader) -> bytes:
    body = bytearray()
    while True:
        line = (await reader.readline()).partition(b";")[0].strip()
        try:
            size = int(line, 16)
        except ValueError:
            raise BadRequest(400) from None
        if len(body) + size > BODY_BYTES:
            raise BadRequest(413)
        body += await reader.readexactly(size)
        await reader.readline()
        if size == 0:
            return bytes(body)


async def read_request(reader: asyncio.StreamReader, idle: float) -> Request | None:
    """Return the next request, or None when the client is gone or idle for too many seconds."""
    try:
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), idle)
    except (asyncio.TimeoutError, asyncio.IncompleteReadError, ConnectionError):
        return None
    except asyncio.LimitOverrunError:
        raise BadRequest(413) from None
    first, *lines = head.decode("latin-1").split("\r\n")
    try:
        method, target, version = first.split(" ")
    except ValueError:
        raise BadRequest(400) from None
    headers = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if colon:
            headers[name.strip().lower()] = value.strip()
    if version == "HTTP/1.0":
        headers.setdefault("connection", "close")
    try:
        if headers.get("transfer-encoding", "").lower() == "chunked":
            body = await _read_chunked(reader)
        else:
            length = headers.get("content-length", "0")
            if not length.isdigit():
                raise BadRequest(400)
            if int(length) > BODY_BYTES:
                raise BadRequest(413)
            body = await reader.readexactly(int(length))
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    return Request(method, target.partition("?")[0], headers, body)


async def _send(writer: asyncio.StreamWriter, response: Response, head_only: bool, close: bool) -> None:
    lines = [f"HTTP/1.1 {response.status} {REASONS.get(response.status, '')}", "server: uvicorn"]
    lines.append("transfer-encoding: chunked" if response.stream else f"content-length: {len(response.body)}")
    if response.body or response.stream:
        lines.append(f"content-type: {response.content_type}")
    if close:
        lines.append("connection: close")
    lines += [f"{name}: {value}" for name, value in response.headers.items()]
    writer.write(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))
    if response.stream is None:
        if not head_only:
            writer.write(response.body)
        await writer.drain()
        return
    await writer.drain()
    async for piece in response.stream:
        if piece:  # an empty chunk would end the answer
            writer.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            await writer.drain()
    writer.write(b"0\r\n\r\n")
    await writer.drain()


class _Reader(asyncio.StreamReader):
    """Tells when the client is gone, also while nobody reads: uvicorn then ends what it works on for that client."""

    def __init__(self) -> None:
        super().__init__(limit=HEADER_BYTES)
        self.gone = asyncio.Event()

    def feed_eof(self) -> None:
        super().feed_eof()
        self.gone.set()

    def set_exception(self, exc: BaseException) -> None:
        super().set_exception(exc)
        self.gone.set()


class HttpServer:
    """Serves one handler on a bound socket."""

    def __init__(self, handler: Handler, idle: float = 5.0, access_log: bool = True) -> None:
        self._handler = handler
        self._idle = idle
        self._access_log = access_log

    async def start(self, server: socket.socket) -> asyncio.Server:
        """Listen and serve from now on."""

        def protocol() -> asyncio.StreamReaderProtocol:
            return asyncio.StreamReaderProtocol(_Reader(), self._serve)

        return await asyncio.get_running_loop().create_server(protocol, sock=server, backlog=2048)

    async def _serve(self, reader: _Reader, writer: asyncio.StreamWriter) -> None:
        peer = writer.get_extra_info("peername") or ("-", 0)
        try:
            while await self._one(reader, writer, f"{peer[0]}:{peer[1]}"):
                pass
        except CutStream:
            writer.transport.abort()
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def _one(self, reader: _Reader, writer: asyncio.StreamWriter, peer: str) -> bool:
        """Serve one request; return whether the connection stays open."""
        try:
            request = await read_request(reader, self._idle)
        except BadRequest as error:
            await _send(writer, json_response({"detail": str(error)}, error.status), False, close=True)
            return False
        if request is None:
            return False
        work = asyncio.ensure_future(self._answer(request, writer, peer))
        gone = asyncio.ensure_future(reader.gone.wait())
        try:
            await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
            return work.done() and work.result()
        finally:
            gone.cancel()
            work.cancel()
            with suppress(asyncio.CancelledError, ConnectionError, CutStream):
                await work

    async def _answer(self, request: Request, writer: asyncio.StreamWriter, peer: str) -> bool:
        """Answer one request; return whether the connection stays open."""
        close = request.headers.get("connection", "").lower() == "close"
        response = await self._handler(request)
        if self._access_log:
            reason = REASONS.get(response.status, "")
            plain(f'INFO:     {peer} - "{request.method} {request.path} HTTP/1.1" {response.status} {reason}')
        stream = response.stream
        try:
            await _send(writer, response, request.method == "HEAD", close)
        finally:
            if stream is not None:
                await stream.aclose()  # type: ignore[attr-defined]
        return not close
