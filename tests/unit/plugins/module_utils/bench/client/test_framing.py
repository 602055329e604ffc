# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""HTTP/1.1 replies: what is in them, and where they end, in any re-chunking."""

from __future__ import annotations

import random

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.framing import Ending, Framing
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.head import Head, HeadError, request_head
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.target import Target, place_of

CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
# Data that looks like the end of a chunked body, in one chunk and across two.
TRICKY = [b"data: 0\r\n\r\n", b"data: 10\r\n", b"\r\n", b"0\r\n\r\n", b"\n\n", b"x" * 300]


def chunks(*parts: bytes, trailer: bytes = b"") -> bytes:
    return b"".join(b"%X;ext=1\r\n%b\r\n" % (len(part), part) for part in parts) + b"0\r\n" + trailer + b"\r\n"


def plain(*parts: bytes) -> bytes:
    return b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in (*parts, b""))


def cut(data: bytes, seed: int) -> list[bytes]:
    dice = random.Random(seed)
    cuts = sorted(dice.sample(range(1, len(data)), min(seed, len(data) - 1)))
    return [data[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(data)], strict=True)]


REPLIES = [
    pytest.param(CHUNKED + chunks(*TRICKY), b"".join(TRICKY), id="chunked"),
    pytest.param(CHUNKED + plain(*TRICKY), b"".join(TRICKY), id="chunked-as-servers-do"),
    pytest.param(CHUNKED + chunks(b"a", trailer=b"X-Sum: 0\r\n"), b"a", id="trailer"),
    pytest.param(b"HTTP/1.1 100 Continue\r\n\r\n" + CHUNKED + chunks(b"a"), b"a", id="100-continue"),
    pytest.param(
        b"HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 102 P\r\n\r\n" + CHUNKED + chunks(b"a"), b"a", id="1xx"
    ),
    pytest.param(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello", b"hello", id="length"),
    pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", b"", id="length-0"),
    pytest.param(b"HTTP/1.1 204 No Content\r\n\r\n", b"", id="204"),
]


@pytest.mark.parametrize(("reply", "body"), REPLIES)
@pytest.mark.parametrize("seed", range(25))
def test_any_rechunking_ends_at_the_same_byte(reply: bytes, body: bytes, seed: int) -> None:
    framing, ending = Framing(), Ending()
    pieces = cut(reply, seed)
    reached = [ending.reached(piece) for piece in pieces]
    assert reached == [False] * (len(pieces) - 1) + [True]
    assert b"".join(framing.feed(piece) for piece in pieces) == body
    assert framing.ended


@pytest.mark.parametrize("parts", [TRICKY, [b"a" * 10, b"10\r\n" + b"b" * 16 + b"\r\n", b"\r\n"]])
def test_chunks_that_come_one_by_one_or_in_pairs(parts: list[bytes]) -> None:
    """A piece that is one chunk is taken at once; what looks like one inside another is not."""
    for size in (1, 2, 3):
        framing = Framing()
        framing.feed(CHUNKED)
        pieces = [plain(*parts[at : at + size])[:-5] for at in range(0, len(parts), size)]
        assert [framing.feed(piece) for piece in pieces] == [
            b"".join(parts[at : at + size]) for at in range(0, len(parts), size)
        ]
        assert not framing.ended
        assert framing.feed(b"0\r\n\r\n") == b""
        assert framing.ended


@pytest.mark.parametrize("room", [True, False], ids=["emptied", "kept"])
@pytest.mark.parametrize(("reply", "body"), REPLIES)
@pytest.mark.parametrize("seed", range(8))
def test_what_is_let_go_of_does_not_move_the_end(reply: bytes, body: bytes, seed: int, room: bool) -> None:
    """Bytes that were put aside, or for which there was no room elsewhere, are not looked at again."""
    ending = Ending()
    for number, piece in enumerate(cut(reply, seed)[:-1]):
        assert not ending.reached(piece)
        if number % 2:
            assert not ending.let_go(ending.raw.clear if room else lambda: None)
    assert ending.reached(cut(reply, seed)[-1])
    assert ending.begun or not body


def test_a_body_until_the_connection_closes() -> None:
    ending = Ending()
    assert not ending.reached(b"HTTP/1.0 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: a\n\n")
    assert ending.begun
    assert ending.closed()
    assert ending.framing.head is not None
    assert ending.framing.head.closes


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"HTTP/1.1 200", id="in-the-head"),
        pytest.param(CHUNKED, id="no-body"),
        pytest.param(CHUNKED + b"5\r\nhello\r\n", id="no-last-chunk"),
        pytest.param(CHUNKED + b"5\r\nhel", id="in-a-chunk"),
        pytest.param(CHUNKED + b"5\r\nhello\r\n0\r\n", id="in-the-trailer"),
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", id="a-byte-short"),
    ],
)
def test_a_closed_connection_is_not_the_end(reply: bytes) -> None:
    """B6: a cut stream is no success."""
    ending = Ending()
    assert not ending.reached(reply)
    assert not ending.closed()


@pytest.mark.parametrize(
    "reply",
    [b"SSH-2.0-OpenSSH_9.6\r\n", b"HTTP/2 200\r\n\r\n", b"HTTP/1.1 abc\r\n\r\n", CHUNKED + b"zz\r\n",
     CHUNKED + b"-5\r\n", CHUNKED + b"1\r\nab\r\n", b"HTTP/1.1 200 OK\r\nX: " + b"x" * 70000],
)  # fmt: skip
def test_what_is_not_http(reply: bytes) -> None:
    with pytest.raises(HeadError):
        Ending().reached(reply)


@pytest.mark.parametrize(
    ("lines", "closes"),
    [
        ("HTTP/1.1 200 OK\r\nContent-Length: 1", False),
        ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: Close", True),
        ("HTTP/1.0 200 OK\r\nContent-Length: 1", True),
        ("HTTP/1.0 200 OK\r\nContent-Length: 1\r\nConnection: keep-alive", False),
        ("HTTP/1.1 200 OK", True),
    ],
)
def test_whether_the_connection_stays(lines: str, closes: bool) -> None:
    assert Head(lines.encode()).closes is closes


@pytest.mark.parametrize(
    ("url", "proxy", "first", "host"),
    [
        ("http://h:8000", "", "POST /v1/x HTTP/1.1", "h:8000"),
        ("http://h:8000/door/v1/", "", "POST /door/v1/x HTTP/1.1", "h:8000"),
        ("https://h", "", "POST /v1/x HTTP/1.1", "h"),
        ("http://[::1]:81", "", "POST /v1/x HTTP/1.1", "[::1]:81"),
        ("http://h:8000", "http://p:3128", "POST http://h:8000/v1/x HTTP/1.1", "h:8000"),
        ("https://h", "http://p:3128", "POST /v1/x HTTP/1.1", "h"),
    ],
)
def test_heads_of_requests(url: str, proxy: str, first: str, host: str) -> None:
    target = Target("t", url, key="s3cret", proxy=proxy)
    lines = request_head(target, place_of(url), "/v1/x", 7).decode().split("\r\n")
    assert lines[0] == first
    assert f"Host: {host}" in lines
    assert "Content-Length: 7" in lines
    assert "Authorization: Bearer s3cret" in lines
    assert "s3cret" not in repr(target)
