# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The load that the tests of the gateway make: how its requests are counted, and which answers are failures."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.lab.load import Counts, Done, Load, Target, counts

AT, OVER = 100.0, 103.0


@pytest.mark.parametrize(
    ("done", "expected"),
    [
        ([], Counts(0, 0, 0, 0.0)),
        ([Done(90.0, 99.0, 91.0, "before the event")], Counts(0, 0, 0, 0.0)),
        ([Done(99.0, 101.0, 99.5, "")], Counts(1, 0, 0, 0.0)),
        ([Done(100.0, 102.5, None, "503")], Counts(1, 1, 0, 2.5)),
        ([Done(99.0, 101.0, None, "no token yet, so it could go elsewhere")], Counts(1, 1, 0, 1.0)),
        ([Done(99.0, 101.0, 99.5, "cut")], Counts(1, 0, 1, 1.0)),
        ([Done(101.0, 102.0, 101.5, "cut while the host goes down")], Counts(1, 0, 1, 2.0)),
        ([Done(103.0, 105.0, 104.0, "cut afterwards")], Counts(1, 1, 0, 5.0)),
        ([Done(99.0, 101.0, 99.5, "cut"), Done(104.0, 104.5, None, "502")], Counts(2, 1, 1, 4.5)),
    ],
)
def test_counts(done: list[Done], expected: Counts) -> None:
    assert counts(done, AT, OVER) == expected


TOKEN = b'data: {"choices": [{"text": "a"}]}\n\n'
ANSWERS = {
    "whole": ((TOKEN * 4 + b"data: [DONE]\n\n", 4), ""),
    "cut": ((TOKEN * 2, 2), "without [DONE]"),
    "error": ((TOKEN + b'data: {"error": {"message": "lost"}}\n\ndata: [DONE]\n\n', 1), "lost"),
}


@contextmanager
def serving(stream: bytes, tokens: int, status: int = 200) -> Iterator[int]:
    """Serve one kind of answer on loopback; give the port."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            body = stream if asked["stream"] else json.dumps({"usage": {"completion_tokens": tokens}}).encode()
            if self.headers["authorization"] != "Bearer sk-1":
                body = b"no key"
            self.send_response(status)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def one_streamed(port: int) -> Done:
    """Return the first request of a client that streams."""
    load = Load(Target("127.0.0.1", port, "tiny", "sk-1", tokens=4), 1)
    with load:
        while not load.done:
            pass
    return load.done[0]


@pytest.mark.parametrize("name", ANSWERS)
def test_a_stream_is_whole_or_has_failed(name: str) -> None:
    answer, error = ANSWERS[name]
    with serving(*answer) as port:
        done = one_streamed(port)
    assert error in done.error
    assert bool(done.error) == bool(error)
    assert done.first is not None
    assert done.began <= done.first <= done.ended


def test_a_refusal_is_told_with_its_status() -> None:
    with serving(b"all replicas are down", 0, 503) as port:
        done = one_streamed(port)
    assert (done.error, done.first) == ("503: all replicas are down", None)


def test_a_closed_port_is_a_failure() -> None:
    with serving(b"", 0) as port:
        pass
    assert "ConnectionRefusedError" in one_streamed(port).error


def test_clients_that_stream_and_clients_that_do_not() -> None:
    with serving(*ANSWERS["whole"][0]) as port:
        load = Load(Target("127.0.0.1", port, "tiny", "sk-1", tokens=4), 2)
        with load:
            load.wait(20)
    assert [one.error for one in load.done if one.error] == []
    assert {one.first is None for one in load.done} == {True, False}


def test_an_answer_with_too_few_tokens_has_failed() -> None:
    with serving(ANSWERS["whole"][0][0], 3) as port:
        load = Load(Target("127.0.0.1", port, "tiny", "sk-1", tokens=4), 2)
        with load:
            load.wait(4)
    assert {one.error for one in load.done if one.first is None} == {"3 of 4 tokens"}


def test_waiting_ends_with_what_went_wrong() -> None:
    with serving(b"no", 0, 500) as port:
        load = Load(Target("127.0.0.1", port, "tiny", "sk-1"), 1)
        with load, pytest.raises(TimeoutError, match="500: no"):
            load.wait(1, seconds=0.2)
