# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Streams as engines send them."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from tools.chat_stream import Answer, ChatError, Piece, ask, events, served_model


def data(event: object) -> bytes:
    """Return one event as a line."""
    return b"data: " + json.dumps(event).encode() + b"\n"


def chunk(**delta: object) -> dict[str, object]:
    """Return a chunk of a chat answer."""
    return {"choices": [{"delta": delta}]}


DONE = b"data: [DONE]\n"
USAGE = data({"choices": [], "usage": {"completion_tokens": 7}})


def test_text_reasoning_null_and_usage() -> None:
    lines = [
        b": comment\n",
        data(chunk(role="assistant")),
        b"\n",
        data(chunk(content=None, reasoning_content="hm")),
        data(chunk(reasoning="well")),
        data(chunk(content="two words")),
        USAGE,
        DONE,
        data(chunk(content="after the end")),
    ]
    assert list(events(lines)) == [Piece(""), Piece("hm"), Piece("well"), Piece("two words"), Piece("", 7)]


def test_an_error_in_a_good_stream_is_an_error() -> None:
    with pytest.raises(ChatError, match="the stream holds an error: .*EngineDead"):
        list(events([data(chunk(content="a")), data({"error": {"message": "EngineDead"}}), DONE]))


def test_a_cut_stream_is_an_error() -> None:
    with pytest.raises(ChatError, match="without"):
        list(events([data(chunk(content="a"))]))


def test_speed_leaves_out_the_first_token() -> None:
    assert Answer(tokens=11, first_token=1.0, total=3.0).tokens_per_second == 5.0
    assert Answer(tokens=1, first_token=1.0, total=1.0).tokens_per_second == 0.0


class Endpoint(BaseHTTPRequestHandler):
    """A small endpoint: `lines` is its stream."""

    lines: tuple[bytes, ...] = ()

    def do_GET(self) -> None:
        """Name one model."""
        self._send(json.dumps({"data": [{"id": "tiny"}]}).encode())

    def do_POST(self) -> None:
        """Stream, if the request is one that real engines take."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        fine = body["model"] == "tiny" and body["stream"] and body["stream_options"] == {"include_usage": True}
        self._send(b"".join(self.lines) if fine else b"bad request", 200 if fine else 400)

    def _send(self, body: bytes, status: int = 200) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments: object) -> None:
        """Say nothing."""


@pytest.fixture
def port() -> Iterator[int]:
    """Give the port of a running endpoint."""
    server = HTTPServer(("127.0.0.1", 0), Endpoint)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server.server_port
    server.shutdown()
    thread.join()
    server.server_close()


def test_ask_over_http(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Endpoint, "lines", (data(chunk(content="a")), data(chunk(content="b c")), USAGE, DONE))
    shown: list[str] = []
    answer = ask("127.0.0.1", port, served_model("127.0.0.1", port), "hello", 7, shown.append)
    assert "".join(shown) == "ab c"
    assert answer.tokens == 7


def test_a_refused_request_names_status_and_text(port: int) -> None:
    with pytest.raises(ChatError, match="POST /v1/chat/completions gave 400: bad request"):
        ask("127.0.0.1", port, "other", "hello", 7, lambda _text: None)


def test_missing_usage_is_an_error(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Endpoint, "lines", (data(chunk(content="a")), DONE))
    with pytest.raises(ChatError, match="without text or without a token count"):
        ask("127.0.0.1", port, "tiny", "hello", 7, lambda _text: None)


def test_nobody_there(port: int) -> None:
    with pytest.raises(ChatError, match="GET /v1/models: "):
        served_model("127.0.0.1", 1)
