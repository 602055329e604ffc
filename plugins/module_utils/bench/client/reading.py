# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From the bytes of a reply to its record: times, tokens, and whether it is a success. Pure."""

from __future__ import annotations

import json
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client import failures
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.deltas import Delta, delta_of
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.framing import Framing
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.head import HeadError
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.reply import Reply
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.said import Said
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.sse import Event, Events
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.tally import Tally

STREAM = "text/event-stream"
# Straight to the decoder: json.loads would first look at each event for UTF-16 and UTF-32, which no stream has.
_decode = json.JSONDecoder().decode
# Ends that no engine gives an answer that it has made as it was asked to: vLLM names them so.
_BROKEN = {"abort": failures.TRUNCATED, "cancelled": failures.TRUNCATED, "error": failures.STREAM_ERROR}


def read(reply: Reply, *, keep_text: bool = False, secret: str = "", sample: bool = False) -> dict[str, Any]:
    """Make the record of one request.

    :param keep_text: give the text of the answer, too
    :param secret: what must not stand in the record even when the server says it back
    :param sample: give the begin of the answer even though the request did not fail
    """
    tally = Tally(Said(secret))
    framing = Framing()
    try:
        _read_body(reply, framing, tally)
    except HeadError as fault:
        tally.fail(failures.BAD_JSON, f"the answer is not HTTP: {tally.said.words(str(fault))}")
    status = framing.head.status if framing.head else None
    # An answer that was cut off after its end mark is whole; what the server said itself says more than the cut.
    if reply.kind and not (tally.done and reply.kind == failures.TRUNCATED):
        tally.fail(reply.kind, reply.message)
    tally.settle()
    _judge(reply, tally, status)
    return _record(reply, tally, status, keep_text=keep_text, secret=secret, sample=sample)


def _read_body(reply: Reply, framing: Framing, tally: Tally) -> None:
    """Read a stream event by event, anything else as a whole."""
    events, body, done = Events(), [], False
    for stamp, piece in reply.received():
        part = framing.feed(piece)
        head = framing.head
        if not part or head is None:
            continue
        if head.status == 200 and head.content_type == STREAM:
            done = _read_events(reply, events.feed(part), stamp, tally, done)
        else:
            body.append(part)
    head = framing.head
    if head is None:
        return
    if head.status == 200 and head.content_type == STREAM:
        if not reply.kind:
            _read_events(reply, events.close(), reply.t_end, tally, done)
    elif head.status != 200:
        words = tally.said.body(b"".join(body))
        tally.fail(failures.of_status(head.status), f"HTTP {head.status}: {words}", head.status)
    elif not reply.kind:
        _read_whole(reply, b"".join(body), tally)


def _read_events(reply: Reply, events: list[Event], stamp: float, tally: Tally, done: bool) -> bool:
    """Take events into the tally; say whether the stream's end mark is among them or came before."""
    for event in events:
        if done:
            break
        if tally.t_event is None:
            tally.t_event = stamp
        if event.data.strip() == b"[DONE]":
            tally.done = done = True
        else:
            _read_event(reply, event, stamp, tally)
    return done


def _read_event(reply: Reply, event: Event, stamp: float, tally: Tally) -> None:
    try:
        value = _decode(event.data.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError):
        kind = failures.STREAM_ERROR if event.name == b"error" else failures.BAD_JSON
        tally.fail(kind, f"an event is no JSON: {tally.said.body(event.data)}")
        return
    if not isinstance(value, dict):
        tally.fail(failures.BAD_JSON, f"an event is no JSON object: {tally.said.body(event.data)}")
        return
    found = delta_of(reply.ask.endpoint, value)
    if event.name == b"error" and not found.error:
        found.error = value
    _take(found, stamp, tally)
    if not found.known and not found.error and not tally.foreign:
        tally.foreign = tally.said.body(event.data)


def _take(found: Delta, stamp: float, tally: Tally) -> None:
    """Take what one event or one whole answer brought."""
    if found.error:
        words, code = tally.said.error(found.error)
        tally.fail(failures.STREAM_ERROR, f"an error in an answer with HTTP 200: {words}", code)
    tally.known = tally.known or found.known
    if found.usage is not None:
        tally.usage(found.usage, first=tally.t_first is None and found.brings_token)
    if found.brings_token or (found.step and tally.t_first is not None):
        tally.token(found, stamp)
    if found.finish:
        tally.finish = found.finish


def _read_whole(reply: Reply, body: bytes, tally: Tally) -> None:
    """Read an answer that is no stream."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        tally.fail(failures.BAD_JSON, f"the answer is no JSON object: {tally.said.body(body)}")
        return
    found = delta_of(reply.ask.endpoint, value)
    if not found.known and not found.error:
        tally.fail(failures.BAD_JSON, f"not the answer of this endpoint: {tally.said.body(body)}")
    elif reply.ask.stream and not found.error:
        tally.fail(failures.BAD_JSON, f"an answer in one piece where a stream was asked for: {tally.said.body(body)}")
    tally.whole = True
    _take(found, reply.t_end, tally)


def _judge(reply: Reply, tally: Tally, status: int | None) -> None:
    """Say what is wrong with an answer that came whole and without an error."""
    if tally.failed or status != 200:
        if not tally.failed:
            tally.fail(failures.TRUNCATED, "the connection was closed before the answer began")
        return
    asked, made = reply.ask.requested_tokens, tally.completion
    if not tally.whole and not tally.known and tally.foreign:
        tally.fail(failures.BAD_JSON, f"not the answer of this endpoint: {tally.foreign}")
    elif tally.finish in _BROKEN:
        tally.fail(_BROKEN[tally.finish], f"the server ended the answer with finish_reason {tally.finish!r}")
    elif not tally.finish and not tally.done and not (tally.whole and tally.seen):
        tally.fail(
            failures.TRUNCATED, f"the stream ended after {tally.chunks} pieces with no finish_reason and no [DONE]"
        )
    elif not tally.seen:
        tally.fail(failures.EMPTY_OUTPUT, "the answer has no token")
    elif asked is not None and made is not None and made != asked:
        tally.fail(failures.SHORT_OUTPUT, f"{made} tokens where exactly {asked} were asked for")


def _record(
    reply: Reply, tally: Tally, status: int | None, *, keep_text: bool, secret: str, sample: bool
) -> dict[str, Any]:
    """Write the record; a value that does not exist is None."""
    ask, start = reply.ask, reply.t_write
    # What is asked of a tokenizer and shown of an answer elsewhere has no key in it, either.
    text = failures.hidden(tally.text(), secret)
    error = tally.error(status)
    streamed = ask.stream and not tally.whole
    last = tally.t_last if streamed else (reply.t_end if tally.seen else None)
    record = {
        "id": ask.id,
        "user": reply.user,
        "measured": True,
        "t_sched": _second(reply.t_sched),
        "t_write": _second(start),
        "t_first": _second(tally.t_first) if streamed else None,
        "t_last": _second(last),
        "t_end": _second(reply.t_end),
        "connect_ms": _ms(reply.connect_s, 0.0),
        "ttfr_ms": _ms(tally.t_event, start) if streamed else None,
        "ttft_ms": _ms(tally.t_first, start) if streamed else None,
        "ttfo_ms": _ms(tally.t_output, start) if streamed else None,
        "tpot_ms": tally.tpot_ms() if streamed else None,
        "e2el_ms": _ms(last, start),
        "close_ms": _ms(reply.t_end, last) if streamed and last is not None else None,
        "chunks": tally.chunks if streamed else 0,
        "gaps_ms": tally.gaps_ms() if streamed else [],
        "tokens": tally.tokens(),
        "first_chunk_tokens": tally.first_chunk_tokens,
        "token_source": "usage" if tally.completion is not None else "none",
        "requested_tokens": ask.requested_tokens,
        "finish": tally.said.words(tally.finish) if tally.finish else tally.finish,
        "status": status,
        "error": error,
        "text_chars": len(text),
        "sample": tally.said.begin(text) if error or sample else "",
    }
    if keep_text:
        record["text"] = text
    return record


def _second(value: float | None) -> float | None:
    return None if value is None else round(value, 6)


def _ms(end: float | None, start: float) -> float | None:
    return None if end is None else round((end - start) * 1000.0, 3)
