# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Server-sent events by the rules of the WHATWG, from any re-chunking of the same bytes."""

from __future__ import annotations

import json
import random

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.sse import Event, Events

RECORDED = (
    b"\xef\xbb\xbf: hello\n\n"
    b'data: {"choices":[{"delta":{"role":"assistant","content":""}}]}\n\n'
    b'data:{"choices":[{"delta":{"content":"\xe4\xb8\xad\xe6\x96\x87"}}]}\r\n\r\n'
    b'event: error\ndata: {"a":\ndata: 1}\nid: 7\nretry: 3\n\n'
    b": ping\r\n\r\n"
    b'data: {"text":"line\xe2\x80\xa8separator\xc2\x85"}\r\r'
    b"data\n\n"
    b"data: [DONE]\n\n"
)
EVENTS = [
    Event(b"", b'{"choices":[{"delta":{"role":"assistant","content":""}}]}'),
    Event(b"", '{"choices":[{"delta":{"content":"中文"}}]}'.encode()),
    Event(b"error", b'{"a":\n1}'),
    Event(b"", '{"text":"line\u2028separator\u0085"}'.encode()),
    Event(b"", b""),
    Event(b"", b"[DONE]"),
]


def events_of(pieces: list[bytes]) -> list[Event]:
    events = Events()
    return [event for piece in pieces for event in events.feed(piece)]


@pytest.mark.parametrize("seed", range(60))
def test_any_rechunking_gives_the_same_events(seed: int) -> None:
    """B7, B8, B09: wherever the network cuts, also inside a character, a line end or the byte order mark."""
    dice = random.Random(seed)
    cuts = sorted(dice.sample(range(1, len(RECORDED)), dice.randint(0, min(seed, len(RECORDED) - 1))))
    pieces = [RECORDED[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(RECORDED)], strict=True)]
    assert events_of(pieces) == EVENTS


def test_each_byte_alone_gives_the_same_events() -> None:
    assert events_of([RECORDED[at : at + 1] for at in range(len(RECORDED))]) == EVENTS


@pytest.mark.parametrize(
    ("stream", "data"),
    [
        pytest.param(b"data: a\n\n", [b"a"], id="lf"),
        pytest.param(b"data: a\r\n\r\n", [b"a"], id="crlf"),
        pytest.param(b"data: a\r\r", [b"a"], id="cr"),
        pytest.param(b"data:a\n\n", [b"a"], id="no-space"),
        pytest.param(b"data:  a\n\n", [b" a"], id="one-space-only-is-dropped"),
        pytest.param(b"data: a\ndata: b\n\n", [b"a\nb"], id="two-lines"),
        pytest.param(b": ping\n\n: pong\n\ndata: a\n\n", [b"a"], id="comments"),
        pytest.param(b"event: x\n\ndata: a\n\n", [b"a"], id="event-without-data-is-none"),
        pytest.param(b"datum: a\n\n", [], id="unknown-field"),
        pytest.param(b"data: a\n", [], id="not-ended"),
        pytest.param(b"\n\n\ndata: a\n\n\n\n", [b"a"], id="empty-lines"),
    ],
)
def test_streams(stream: bytes, data: list[bytes]) -> None:
    assert [event.data for event in events_of([stream])] == data


def test_u2028_ends_no_line() -> None:
    """B8: a line separator inside a string is text."""
    (event,) = events_of(['data: {"t":"a\u2028b"}\n\n'.encode()])
    assert json.loads(event.data) == {"t": "a\u2028b"}


def test_what_the_end_of_a_whole_body_cuts_off_is_used() -> None:
    events = Events()
    assert events.feed(b"data: a\n\ndata: [DONE]") == [Event(b"", b"a")]
    assert events.close() == [Event(b"", b"[DONE]")]
    assert events.close() == []
