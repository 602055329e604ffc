# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An engine that makes tokens as told and counts what it saw; run as a process: mock_engine.py NAME PORT [KEY].

The wishes of a request stand in its body under "mock": {"first": s, "gap": s, "status": n}. GET /mock/seen tells what
was seen, POST /mock/set changes {"hang": "" | "generation" | "all", "status": n}. Connections that idle for 5 s are
closed, as uvicorn does.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from typing import Any

IDLE_SECONDS = 5.0
JSON = "application/json"
GENERATIONS = ("/v1/chat/completions", "/v1/completions", "/v1/embeddings", "/v1/responses", "/v1/audio/transcriptions")


class Engine:
    """What the engine is told and what it saw."""

    def __init__(self, name: str, key: str) -> None:
        """Begin with nothing seen; with a key, requests without it get 401."""
        self.name, self.key = name, key
        self.hang, self.status = "", 0
        self.responses: dict[str, Any] = {}
        self.seen: dict[str, Any] = {
            "generations": 0, "aborts": [], "running": 0, "peak": 0, "authorization": "", "bytes": 0, "paths": [],
        }  # fmt: skip

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection."""
        try:
            while await self._one(reader, writer):
                pass
        except (TimeoutError, asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        async with asyncio.timeout(IDLE_SECONDS):
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
        first, *lines = head.strip().split("\r\n")
        method, path, _version = first.split(" ", 2)
        headers = {key.lower(): value.strip() for key, value in (line.split(":", 1) for line in lines)}
        body = await _body(reader, headers)
        if self.hang == "all":
            await asyncio.sleep(3600)
        path = path.split("?", maxsplit=1)[0]
        if not path.startswith("/mock/") and path != "/health":
            self.seen["paths"].append(f"{method} {path}")
            self.seen["authorization"] = headers.get("authorization", "")
            self.seen["bytes"] = len(body)
        if self.key and path.startswith("/v1/") and headers.get("authorization") != f"Bearer {self.key}":
            await _answer(writer, 401, {"error": "Unauthorized"})
        elif method == "POST" and path in GENERATIONS:
            return await self._generate(reader, writer, path, body)
        else:
            await _answer(writer, *self._other(method, path, body))
        return headers.get("connection", "").lower() != "close"

    def _other(self, method: str, path: str, body: bytes) -> tuple[int, Any]:
        """Answer all that makes no token."""
        if path == "/mock/seen":
            return 200, self.seen
        if path == "/mock/set":
            for key, value in json.loads(body).items():
                setattr(self, key, value)
            return 200, {}
        if path == "/v1/models":
            return 200, {"object": "list", "data": [{"id": "tiny-chat", "object": "model"}]}
        if path.startswith("/v1/responses/"):
            found = self.responses.get(path.rsplit("/", 1)[1])
            return (200, found) if found else (404, {"error": {"message": "Response not found"}})
        return (200, {}) if path in {"/health", "/metrics", "/tokenize"} else (404, {"detail": "Not Found"})

    async def _generate(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, path: str, body: bytes
    ) -> bool:
        """Make tokens until done, or until the client has left."""
        seen = self.seen
        seen["generations"] += 1
        seen["running"] += 1
        seen["peak"] = max(seen["peak"], seen["running"])
        try:
            wish = json.loads(body)
        except ValueError:
            wish = {}
        seen["model"] = wish.get("model")
        made = asyncio.create_task(self._tokens(writer, path, wish))
        left = asyncio.create_task(reader.read(1))
        try:
            await asyncio.wait({made, left}, return_when=asyncio.FIRST_COMPLETED)
            if not made.done():
                seen["aborts"].append(time.time())
                return False
            await made
            # A next request's first byte must not be lost: this engine ends the connection if one came early.
            if left.done():
                return False
            left.cancel()
            await asyncio.wait({left})
            return True
        finally:
            made.cancel()
            left.cancel()
            seen["running"] -= 1

    async def _tokens(self, writer: asyncio.StreamWriter, path: str, wish: dict[str, Any]) -> None:
        mock = wish.get("mock", {})
        status = mock.get("status", self.status)
        if status:
            await _answer(writer, status, {"error": {"message": "InvalidCxxCompiler", "code": status}})
            return
        if self.hang:
            await asyncio.sleep(3600)
        await asyncio.sleep(mock.get("first", 0.0))
        count, gap = wish.get("max_tokens", 3), mock.get("gap", 0.0)
        if path == "/v1/responses":
            await self._response(writer, wish)
        elif wish.get("stream"):
            _head(writer, 200, "text/event-stream", "transfer-encoding: chunked")
            for number in range(count):
                text = json.dumps({"model": self.name, "choices": [{"index": 0, "delta": {"content": f"t{number} "}}]})
                await _chunk(writer, f"data: {text}\n\n")
                await asyncio.sleep(gap)
            await _chunk(writer, "data: [DONE]\n\n")
            await _chunk(writer, "")
        else:
            await asyncio.sleep(gap * count)
            message = {"role": "assistant", "content": self.name}
            usage = {"prompt_tokens": 1, "completion_tokens": count, "total_tokens": count + 1}
            choice = {"index": 0, "finish_reason": "stop", "message": message}
            answer = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": wish.get("model")}
            await _answer(writer, 200, {**answer, "engine": self.name, "choices": [choice], "usage": usage})

    async def _response(self, writer: asyncio.StreamWriter, wish: dict[str, Any]) -> None:
        before = wish.get("previous_response_id")
        if before and before not in self.responses:
            await _answer(writer, 404, {"error": {"message": f"Response with id {before} not found."}})
            return
        name = f"resp_{self.name}_{len(self.responses)}"
        made = self.responses[name] = {"id": name, "object": "response", "engine": self.name, "text": "x" * 600}
        if not wish.get("stream"):
            await _answer(writer, 200, made)
            return
        _head(writer, 200, "text/event-stream", "transfer-encoding: chunked")
        for kind in ("response.created", "response.completed"):
            text = json.dumps({"response": made, "sequence_number": 0, "type": kind}, separators=(",", ":"))
            await _chunk(writer, f"event: {kind}\ndata: {text}\n\n")
            await asyncio.sleep(0.05)
        await _chunk(writer, "")


async def _body(reader: asyncio.StreamReader, headers: dict[str, str]) -> bytes:
    if headers.get("transfer-encoding", "").lower() != "chunked":
        return await reader.readexactly(int(headers.get("content-length", 0)))
    parts = []
    while size := int(await reader.readline(), 16):
        parts.append((await reader.readexactly(size + 2))[:-2])
    await reader.readline()
    return b"".join(parts)


def _head(writer: asyncio.StreamWriter, status: int, kind: str, *headers: str) -> None:
    lines = [f"HTTP/1.1 {status} Mock", f"content-type: {kind}", *headers]
    writer.write("\r\n".join([*lines, "", ""]).encode())


async def _answer(writer: asyncio.StreamWriter, status: int, value: Any) -> None:
    data = json.dumps(value).encode()
    _head(writer, status, JSON, f"content-length: {len(data)}")
    writer.write(data)
    await writer.drain()


async def _chunk(writer: asyncio.StreamWriter, text: str) -> None:
    data = text.encode()
    writer.write(b"%x\r\n%s\r\n" % (len(data), data))
    await writer.drain()


async def main() -> None:
    """Serve until killed."""
    name, port, *key = sys.argv[1:]
    engine = Engine(name, key[0] if key else "")
    server = await asyncio.start_server(engine.serve, "127.0.0.1", int(port), backlog=1024, limit=1 << 20)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
