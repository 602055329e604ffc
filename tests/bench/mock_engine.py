# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An engine whose every time and token is known: python -m tests.bench.mock_engine PORT [--key K] [--certificate F
--tls-key F] [--host H] [--head N].

A request says under "mock" in its body what it wants:

    ttft, itl           seconds from the request to the first token, and from token to token
    tokens              how many (default: max_tokens, max_output_tokens or 16)
    per_chunk           tokens in one event
    batch               tokens of all streams fall due in the same moment
    text                of one token; field: content, reasoning, reasoning_content, tool_calls, both (both reasonings)
    reasoning_tokens    so many first ones are in reasoning_field (reasoning_content)
    role_start          a chunk with the role alone comes at once; role_content: its content, "" or null
    usage               false: none; "continuous": with each event
    lines, nospace, multiline, ping, bom, interim      dress of the events: crlf, cr; no space; comments; 103 before
    cut                 "bytes": each byte in a piece of its own; "middle": events cut inside a character
    framing             "close": neither chunks nor a length
    error_after, error_form        error after so many tokens; "event": as `event: error`
    truncate_after, no_finish, finish, no_done, hang ("silent", "head"), hang_after
    status, body, content_type, closes, retry: an answer that is none; "closes" ends the connection after a whole one
    fail_every          each so manieth request of the engine gets `status`, the others are served
    prompt_tokens, cached_tokens    of the prompt, in usage and in the counters

GET /mock/sent gives of each request when it was received and its tokens were sent (seconds of the monotonic clock),
POST /mock/reset forgets them. /v1/models, /tokenize, /metrics and /health answer as vLLM does.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import ssl
import time
import zlib
from typing import Any

from tests.bench.mock_stream import Stream
from tests.bench.mock_words import Words

ENDPOINTS = {"/v1/chat/completions": "chat", "/v1/completions": "completions", "/v1/responses": "responses"}
REASONS = {200: "OK", 401: "Unauthorized", 404: "Not Found", 429: "Too Many Requests", 500: "Internal Server Error"}


class Engine:
    """What all connections share."""

    def __init__(self, key: str = "", head: int = 0) -> None:
        self.key, self.head = key, head
        self.book: list[dict[str, Any]] = []
        self.connections = 0
        self.counts = {"requests": 0, "prompt": 0, "generation": 0, "running": 0, "queries": 0, "hits": 0}

    def metrics(self) -> str:
        """Counters, as vLLM names them."""
        label = '{engine="0",model_name="mock"}'
        counts = self.counts
        rows = {
            "vllm:prompt_tokens_total": counts["prompt"],
            "vllm:generation_tokens_total": counts["generation"],
            "vllm:num_requests_running": counts["running"],
            "vllm:num_requests_waiting": 0,
            "vllm:num_preemptions_total": 0,
            "vllm:prefix_cache_queries_total": counts["queries"],
            "vllm:prefix_cache_hits_total": counts["hits"],
            "vllm:kv_cache_usage_perc": round(min(1.0, counts["running"] / 256), 4),
            "vllm:time_to_first_token_seconds_sum": round(0.2 * counts["requests"], 3),
            "vllm:time_to_first_token_seconds_count": counts["requests"],
            "vllm:request_queue_time_seconds_sum": round(0.001 * counts["requests"], 4),
            "vllm:request_queue_time_seconds_count": counts["requests"],
        }
        return "".join(f"# TYPE {name} counter\n{name}{label} {float(value)}\n" for name, value in rows.items())


class Connection(asyncio.Protocol):
    """One connection: requests one after the other."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.rest = b""
        self.busy = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Count it."""
        self.transport: Any = transport
        self.engine.connections += 1

    def data_received(self, data: bytes) -> None:
        """Answer as soon as a request is whole."""
        self.rest += data
        head, found, body = self.rest.partition(b"\r\n\r\n")
        if not found or self.busy:
            return
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, value in (line.split(":", 1) for line in lines)}
        length = int(headers.get("content-length", 0))
        if len(body) < length:
            return
        self.rest = body[length:]
        method, path, _version = first.split(" ", 2)
        if "://" in path:  # as a proxy is asked
            path = "/" + path.split("/", 3)[3]
        self.answer(method, path, headers, body[:length])

    def answer(self, method: str, path: str, headers: dict[str, str], body: bytes) -> None:
        """Answer one request."""
        engine = self.engine
        if engine.key and path.startswith("/v1/") and headers.get("authorization") != f"Bearer {engine.key}":
            words = f"Invalid key {headers.get('authorization', '')}"
            # Once more where messages are cut.
            said = {"error": {"message": f"{words.ljust(170, '.')}{words}", "code": 401}}
            self.whole(401, said)
        elif method == "POST" and path in ENDPOINTS:
            self.generate(ENDPOINTS[path], json.loads(body))
        elif path == "/mock/sent":
            self.whole(200, {"requests": engine.book, "connections": engine.connections})
        elif path == "/mock/reset":
            engine.book, engine.connections = [], 0
            self.whole(200, {})
        elif path == "/v1/models":
            self.whole(200, {"object": "list", "data": [{"id": "mock", "object": "model", "max_model_len": 131072}]})
        elif path == "/tokenize":
            self.whole(200, tokenized(json.loads(body), engine.head))
        elif path == "/metrics":
            self.whole(200, engine.metrics(), "text/plain; version=0.0.4")
        elif path == "/version":
            self.whole(200, {"version": "0.33.0"})
        else:
            self.whole(200 if path == "/health" else 404, "")

    def generate(self, endpoint: str, body: dict[str, Any]) -> None:
        """Answer a request for tokens."""
        engine, wishes = self.engine, body.get("mock") or {}
        tokens = int(wishes.get("tokens", body.get("max_tokens") or body.get("max_output_tokens") or 16))
        row = {"id": wishes.get("id"), "received": time.perf_counter(), "sent": [], "tokens": tokens,
               "endpoint": endpoint, "body": {key: value for key, value in body.items() if key != "mock"},
               "peer": self.transport.get_extra_info("peername")[1]}  # fmt: skip
        engine.book.append(row)
        engine.counts["requests"] += 1
        status = int(wishes.get("status", 200))
        if "fail_every" in wishes and engine.counts["requests"] % int(wishes["fail_every"]):
            status = 200
        if status != 200 or "body" in wishes:
            self.whole(status, wishes.get("body", {"error": {"message": "engine is sick", "code": status}}),
                       wishes.get("content_type", "application/json"), bool(wishes.get("closes")))  # fmt: skip
            return
        words = Words(endpoint, wishes, tokens)
        engine.counts["prompt"] += words.prompt_tokens
        engine.counts["queries"] += words.prompt_tokens
        engine.counts["hits"] += int(wishes.get("cached_tokens", 0))
        if body.get("stream"):
            self.busy = True
            engine.counts["running"] += 1
            Stream(self.transport, words, row, lambda: self.ended(tokens)).begin()
        else:
            wait = float(wishes.get("ttft", 0.004)) + float(wishes.get("itl", 0.001)) * (tokens - 1)
            asyncio.get_running_loop().call_later(wait, self.later, words, row)

    def later(self, words: Words, row: dict[str, Any]) -> None:
        """Send a whole answer."""
        row["sent"].append(time.perf_counter())
        self.engine.counts["generation"] += words.tokens
        self.whole(200, words.whole(), closes=bool(words.wishes.get("closes")))

    def ended(self, tokens: int) -> None:
        """A stream has ended."""
        self.busy = False
        self.engine.counts["running"] -= 1
        self.engine.counts["generation"] += tokens

    def whole(self, status: int, said: Any, kind: str = "application/json", closes: bool = False) -> None:
        """Send an answer in one piece."""
        body = said.encode() if isinstance(said, str) else json.dumps(said).encode()
        lines = [f"HTTP/1.1 {status} {REASONS.get(status, 'Odd')}", f"Content-Type: {kind}",
                 f"Content-Length: {len(body)}", *(["Connection: close"] if closes else [])]  # fmt: skip
        self.transport.write("\r\n".join([*lines, "", ""]).encode() + body)
        if closes:
            self.transport.close()


def tokenized(body: dict[str, Any], head: int) -> dict[str, Any]:
    """Count words as tokens, and characters of several bytes as one each, behind what the chat template begins with."""
    text = body.get("prompt") or " ".join(str(one.get("content", "")) for one in body.get("messages", ()))
    pieces = [sign for word in text.split() for sign in ([one for one in word if ord(one) > 0x2E7F] or [word])]
    tokens = [*range(head if "messages" in body else 0), *(1000 + zlib.crc32(piece.encode()) for piece in pieces)]
    return {"count": len(tokens), "max_model_len": 131072, "tokens": tokens}


async def serve(port: int, host: str, key: str, tls: ssl.SSLContext | None, head: int) -> None:
    """Serve until the process is ended."""
    engine = Engine(key, head)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(engine), host, port, ssl=tls, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


def main() -> None:
    """Read the command line and serve."""
    parser = argparse.ArgumentParser(description="An engine whose every time and token is known.")
    parser.add_argument("port", type=int, help="0: one that is free; it is printed")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--key", default="")
    parser.add_argument("--certificate", default="")
    parser.add_argument("--tls-key", default="")
    parser.add_argument("--head", type=int, default=0, help="tokens that the chat template begins with")
    arguments = parser.parse_args()
    tls = None
    if arguments.certificate:
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(arguments.certificate, arguments.tls_key or None)
    asyncio.run(serve(arguments.port, arguments.host, arguments.key, tls, arguments.head))


if __name__ == "__main__":
    main()
