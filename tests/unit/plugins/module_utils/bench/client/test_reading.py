# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From bytes and stamps to records: rows of benchmark.md B and field faults by their ids."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client import failures
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.ask import Ask
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.reading import read
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.reply import Reply

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n\r\n"
PLAIN = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"
DONE = b"data: [DONE]\n\n"
Piece = tuple[float, bytes]


def event(value: Any, name: str = "") -> bytes:
    return (f"event: {name}\n" if name else "").encode() + b"data: " + json.dumps(value).encode() + b"\n\n"


def delta(finish: str | None = None, **fields: Any) -> bytes:
    return event({"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]})


def usage(completion: int, **more: Any) -> bytes:
    return event({"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": completion, **more}})


def record(
    *pieces: Piece,
    endpoint: str = "chat",
    stream: bool = True,
    asked: int | None = None,
    kind: str = "",
    head: bytes = HEAD,
    secret: str = "",
) -> dict[str, Any]:
    """Read a reply that was written at 1.0 s."""
    all_pieces = [(1.0, head), *pieces]
    reply = Reply(
        Ask(3, "/v1/x", b"", endpoint, stream, asked),
        user=1,
        t_write=1.0,
        t_end=all_pieces[-1][0],
        kind=kind,
        message="it was cut" if kind else "",
    )
    for stamp, piece in all_pieces:
        reply.add(stamp, piece)
    return read(reply, keep_text=True, secret=secret)


def at_once(body: bytes, **options: Any) -> dict[str, Any]:
    return record((1.2, body), **options)


def failure(found: dict[str, Any]) -> tuple[str, int | None]:
    assert found["error"] is not None
    return found["error"]["kind"], found["error"]["status"]


def test_a_whole_record() -> None:
    """5.3: each time by its definition."""
    found = record(
        (1.050, delta(role="assistant", content="")),
        (1.200, delta(content="one ")),
        (1.210, delta(content="two ")),
        (1.230, delta(content="three")),
        (1.240, delta("length") + usage(3, prompt_tokens_details={"cached_tokens": 4}) + DONE),
        asked=3,
    )
    assert found == {
        "id": 3, "user": 1, "measured": True, "t_sched": None, "t_write": 1.0, "t_first": 1.2, "t_last": 1.23,
        "t_end": 1.24, "connect_ms": None, "ttfr_ms": 50.0, "ttft_ms": 200.0, "ttfo_ms": 200.0, "tpot_ms": 15.0,
        "e2el_ms": 230.0, "close_ms": 10.0, "chunks": 3, "gaps_ms": [10.0, 20.0],
        "tokens": {"prompt": 9, "completion": 3, "reasoning": None, "cached": 4}, "first_chunk_tokens": 1,
        "token_source": "usage", "requested_tokens": 3, "finish": "length", "status": 200, "error": None,
        "text_chars": 13, "sample": "", "text": "one two three",
    }  # fmt: skip


@pytest.mark.parametrize("content", ["", None])
def test_b05_the_role_alone_is_no_token(content: str | None) -> None:
    """B1, B05: the first chunk with a text is the first token."""
    found = record((1.006, delta(role="assistant", content=content)), (1.18, delta("stop", content="Hi") + DONE))
    assert (found["ttfr_ms"], found["ttft_ms"]) == (6.0, 180.0)


@pytest.mark.parametrize(
    ("fields", "output"),
    [
        pytest.param({"reasoning_content": "hm"}, False, id="reasoning_content"),
        pytest.param({"reasoning": "hm"}, False, id="reasoning"),
        pytest.param({"content": None, "reasoning": "hm"}, False, id="null-content"),
        pytest.param({"tool_calls": [{"index": 0, "function": {"name": "f", "arguments": ""}}]}, True, id="tool-call"),
        pytest.param({"tool_calls": [{"function": {"arguments": "{"}}]}, True, id="tool-arguments"),
        pytest.param({"content": [{"type": "text", "text": "x"}]}, True, id="parts"),
        pytest.param({"refusal": "no"}, True, id="refusal"),
    ],
)
def test_b01_what_counts_as_a_token(fields: dict[str, Any], output: bool) -> None:
    """B2, B01."""
    found = record((1.0, delta(role="assistant", content="")), (1.1, delta(**fields)), (1.2, delta("stop") + DONE))
    assert found["error"] is None
    assert found["ttft_ms"] == 100.0
    assert found["ttfo_ms"] == (100.0 if output else None)


def test_b01_reasoning_alone() -> None:
    """B01: the input of the row, as it is."""
    stream = (
        b'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}\n\n'
        b'data: {"choices":[{"index":0,"delta":{"reasoning_content":"hm"}}]}\n\n'
        b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"length"}]}\n\n'
        b'data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4}}\n\ndata: [DONE]\n\n'
    )
    found = at_once(stream)
    assert found["error"] is None
    assert found["ttft_ms"] == 200.0
    assert found["tokens"]["completion"] == 4
    assert (found["ttfo_ms"], found["tpot_ms"], found["text"]) == (None, None, "hm")


def test_the_same_reasoning_by_both_names_is_one_token() -> None:
    assert at_once(delta("stop", reasoning="hm", reasoning_content="hm") + DONE)["text"] == "hm"


def test_b03_no_choices_with_the_usage() -> None:
    """B03: the input of the row, as it is; absent choices, too."""
    stream = b'data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n'
    for last in (b'{"choices":[],"usage":{"completion_tokens":1}}', b'{"usage":{"completion_tokens":1}}'):
        found = at_once(stream + b"data: " + last + b"\n\ndata: [DONE]\n\n")
        assert (found["error"], found["tokens"]["completion"]) == (None, 1)


@pytest.mark.parametrize(
    ("stream", "code"),
    [
        pytest.param(event({"error": {"message": "EngineCore died", "code": 500}}) + DONE, 500, id="B06"),
        pytest.param(event({"error": {"message": "EngineCore died", "code": 500}}), 500, id="no-done"),
        pytest.param(event({"error": "EngineCore died"}) + DONE, 200, id="text"),
        pytest.param(event({"message": "EngineCore died", "code": "503"}, "error"), 503, id="event-error"),
        pytest.param(b"event: error\ndata: EngineCore died\n\n", 200, id="event-error-no-json"),
        pytest.param(event({"error": {"message": "EngineCore died", "type": "x", "code": None}}), 200, id="no-code"),
    ],
)
def test_b06_an_error_in_the_stream(stream: bytes, code: int) -> None:
    """B5, B06: whatever comes after it; the code is kept."""
    found = at_once(delta(content="par") + stream)
    assert failure(found) == ("stream_error", code)
    assert "EngineCore died" in found["error"]["message"]
    assert (found["chunks"], found["sample"]) == (1, "par")


def test_an_error_says_more_than_the_cut_after_it() -> None:
    found = at_once(delta(content="par") + event({"error": {"message": "died"}}), kind="truncated")
    assert failure(found)[0] == "stream_error"


def test_an_error_of_null_is_none() -> None:
    stream = event({"choices": [{"delta": {"content": "a"}, "finish_reason": "stop"}], "error": None}) + DONE
    assert at_once(stream)["error"] is None


@pytest.mark.parametrize(
    ("stream", "kind"),
    [
        pytest.param(DONE, "empty_output", id="B08"),
        pytest.param(DONE + b"\n", "empty_output", id="B08-line"),
        pytest.param(delta("stop") + DONE, "empty_output", id="B08-finish"),
        pytest.param(delta(role="assistant", content="") + delta("stop", content="") + DONE, "empty_output", id="role"),
        pytest.param(usage(7) + DONE, "empty_output", id="usage-alone"),
        pytest.param(b"", "truncated", id="nothing"),
        pytest.param(delta(content="a"), "truncated", id="B6-no-finish"),
        pytest.param(delta(content="a") + usage(1), "truncated", id="B6-usage-but-no-finish"),
        pytest.param(b"data: {broken\n\n" + DONE, "bad_json", id="broken"),
        pytest.param(b"data: [1]\n\n" + DONE, "bad_json", id="list"),
        pytest.param(event({"foo": 1}) + DONE, "bad_json", id="foreign"),
        pytest.param(event({"choices": "x"}) + DONE, "bad_json", id="choices-are-text"),
    ],
)
def test_failures_of_streams(stream: bytes, kind: str) -> None:
    """B6, B08: none of these is a success; no figure is made up for them."""
    found = at_once(stream)
    assert failure(found) == (kind, 200)
    assert found["tpot_ms"] is None


def test_cut_off_after_its_end_mark_it_is_whole() -> None:
    assert at_once(delta("stop", content="a") + DONE, kind="truncated")["error"] is None
    assert failure(at_once(delta("stop", content="a"), kind="truncated"))[0] == "truncated"


def test_done_or_a_finish_reason_is_enough() -> None:
    assert at_once(delta(content="a") + DONE)["error"] is None
    assert at_once(delta("stop", content="a"))["error"] is None


@pytest.mark.parametrize(("made", "asked", "kind"), [(16, 64, "short_output"), (65, 64, "short_output"), (64, 64, None),
                                                     (16, None, None)])  # fmt: skip
def test_b6_another_length_than_was_forced(made: int, asked: int | None, kind: str | None) -> None:
    found = at_once(delta("stop", content="a") + usage(made) + DONE, asked=asked)
    assert (found["error"] or {"kind": None})["kind"] == kind


@pytest.mark.parametrize(
    ("finish", "asked", "made", "kind"),
    [
        pytest.param("abort", None, 7, "truncated", id="aborted"),
        pytest.param("abort", 64, 7, "truncated", id="aborted-says-more-than-short"),
        pytest.param("error", None, 7, "stream_error", id="error"),
        pytest.param("error", 7, 7, "stream_error", id="error-with-all-tokens"),
        pytest.param("stop", None, 7, None, id="stop"),
        pytest.param("length", None, 7, None, id="length"),
        pytest.param("tool_calls", None, 7, None, id="tool-calls"),
        pytest.param("content_filter", None, 7, None, id="content-filter"),
    ],
)
def test_an_answer_that_the_engine_gave_up_is_a_failure(
    finish: str, asked: int | None, made: int, kind: str | None
) -> None:
    """B5, B6: it has a finish_reason and [DONE], and is not what was asked for."""
    for stream in (True, False):
        choice = {"delta" if stream else "message": {"content": "a"}, "finish_reason": finish}
        value = {"choices": [choice], "usage": {"completion_tokens": made}}
        body, head = (event(value) + DONE, HEAD) if stream else (json.dumps(value).encode(), PLAIN)
        found = at_once(body, asked=asked, stream=stream, head=head)
        assert (found["error"] or {"kind": None})["kind"] == kind
        assert kind is None or found["error"]["message"] == f"the server ended the answer with finish_reason '{finish}'"


def test_a_response_that_was_cancelled_is_a_failure() -> None:
    body = {**WHOLE_RESPONSE, "status": "cancelled"}
    found = at_once(json.dumps(body).encode(), endpoint="responses", stream=False, head=PLAIN)
    assert failure(found)[0] == "truncated"
    stream = response("output_text.delta", delta="a") + response("cancelled", response={"status": "cancelled"}) + DONE
    assert failure(at_once(stream, endpoint="responses"))[0] == "truncated"


def test_b09_a_character_in_two_pieces() -> None:
    """B7, B09: the input of the row, as it is."""
    found = record(
        (1.1, b'data: {"choices":[{"index":0,"delta":{"content":"\xe4\xb8'),
        (1.2, b'\xad\xe6\x96\x87"}}]}\n\ndata: [DONE]\n\n'),
    )
    assert (found["text"], found["ttft_ms"], found["error"]) == ("中文", 200.0, None)


def test_b12_several_tokens_in_a_chunk() -> None:
    """B3, B12: 4 chunks, 17 tokens, 1 s."""
    pieces = [(2.0 + third / 3, delta(content="x")) for third in range(4)]
    found = record(*pieces, (3.0, delta("stop") + usage(17) + DONE))
    assert (found["chunks"], found["tokens"]["completion"]) == (4, 17)
    assert found["tpot_ms"] == pytest.approx(1000 / 16)


def test_b3_tokens_of_the_first_chunk_where_the_server_counts_them() -> None:
    first = {"choices": [{"delta": {"content": "x"}}], "usage": {"completion_tokens": 4}}
    last = {"choices": [{"delta": {"content": "x"}, "finish_reason": "stop"}], "usage": {"completion_tokens": 16}}
    found = record((1.1, event(first)), (1.22, event(last) + DONE))
    assert (found["first_chunk_tokens"], found["tokens"]["completion"], found["tpot_ms"]) == (4, 16, 10.0)


def test_b4_no_usage() -> None:
    """B4: never the number of chunks, never 1."""
    found = record((1.1, delta(content="a")), (1.2, delta("stop", content="b") + DONE), asked=2)
    assert found["error"] is None
    assert (found["token_source"], found["tokens"]["completion"], found["tpot_ms"]) == ("none", None, None)
    assert found["gaps_ms"] == [100.0]


def test_a_count_of_0_beside_a_text_is_no_count() -> None:
    assert at_once(delta("stop", content="a") + usage(0) + DONE)["token_source"] == "none"


def test_b17_all_tokens_in_one_piece() -> None:
    """B17: the gaps are 0, and no speed follows from that."""
    found = at_once(delta(content="a") + delta(content="b") + delta("stop", content="c") + usage(3) + DONE)
    assert (found["gaps_ms"], found["tpot_ms"]) == ([0.0, 0.0], None)


def test_a_token_that_shows_nothing_is_a_step() -> None:
    """Half a character or a special token: the engine has worked, as vLLM's own benchmark counts it, too."""
    found = record(
        (1.1, delta(content="a")),
        (1.12, delta(content="")),
        (1.14, delta("length", content="")),
        (1.2, usage(3) + DONE),
    )
    assert (found["chunks"], found["t_last"], found["tpot_ms"]) == (2, 1.14, 20.0)


EMPTY, END = delta(content=""), delta("stop", content="")


@pytest.mark.parametrize(
    ("pieces", "made", "chunks", "last", "tpot"),
    [
        pytest.param([(1.2, delta(content="b")), (1.9, END)], 2, 2, 1.2, 100.0, id="the end brings no token"),
        pytest.param([(1.2, delta(content="b")), (1.3, END)], 3, 2, 1.3, 100.0, id="the end is the token stop"),
        pytest.param([(1.2, delta(content="b")), (1.9, END)], None, 2, 1.2, None, id="nobody says whether it is"),
        pytest.param([(1.2, EMPTY), (1.3, delta(content="b"))], 3, 3, 1.3, 100.0, id="an empty text is a token"),
        pytest.param([(1.2, delta(content="b")), (1.3, EMPTY)], 3, 3, 1.3, 100.0, id="the last one, too"),
        pytest.param(
            [(1.12, EMPTY), (1.14, EMPTY), (1.16, EMPTY), (1.2, delta(content="b")), (1.4, EMPTY), (1.6, EMPTY)],
            2,
            2,
            1.2,
            100.0,
            id="keep-alives are none",
        ),
        pytest.param([(1.2, EMPTY), (1.3, EMPTY), (1.4, END)], 1, 1, 1.1, None, id="keep-alives behind one token"),
        pytest.param(
            [(1.12, EMPTY), (1.14, EMPTY), (1.2, delta(content="b")), (1.3, END)], 3, 2, 1.3, 100.0, id="and then stop"
        ),
        pytest.param([(1.2, EMPTY), (1.3, delta(content="b"))], None, 3, 1.3, None, id="not counted: all are tokens"),
        pytest.param([(1.2, END), (1.5, delta(content="b"))], 3, 2, 1.5, 200.0, id="text behind the end"),
    ],
)
def test_which_empty_texts_are_tokens(
    pieces: list[Piece], made: int | None, chunks: int, last: float, tpot: float | None
) -> None:
    tail = [] if made is None else [(2.0, usage(made))]
    found = record((1.1, delta(content="a")), *pieces, *tail, (2.0, DONE))
    assert found["error"] is None
    assert (found["chunks"], len(found["gaps_ms"]), found["t_last"]) == (chunks, chunks - 1, last)
    assert found["tpot_ms"] == tpot
    assert found["e2el_ms"] == pytest.approx((last - 1.0) * 1000)


@pytest.mark.parametrize(("at_the_end", "last", "tpot"), [(16, 1.22, 10.0), (17, 1.92, 63.077)])
def test_a_server_that_counts_as_it_goes_says_what_its_end_brought(at_the_end: int, last: float, tpot: float) -> None:
    def so_far(count: int, finish: str | None = None, text: str = "x") -> bytes:
        choice = {"delta": {"content": text}, "finish_reason": finish}
        return event({"choices": [choice], "usage": {"completion_tokens": count}})

    found = record((1.1, so_far(4)), (1.22, so_far(16)), (1.92, so_far(at_the_end, "stop", "") + DONE))
    assert (found["chunks"], found["t_last"], found["tpot_ms"]) == (2, last, tpot)


@pytest.mark.parametrize(
    ("status", "body", "kind", "words"),
    [
        (429, b'{"error":{"message":"slow down","code":429}}', "http_429", "slow down"),
        (401, b'{"error":"Unauthorized"}', "http_4xx", "Unauthorized"),
        (404, b'{"detail":"Not Found"}', "http_4xx", "Not Found"),
        (500, b"Internal Server Error", "http_5xx", "Internal Server Error"),
        (503, b"", "http_5xx", "(empty)"),
        (302, b"", "bad_json", "HTTP 302"),
    ],
)
def test_http_statuses(status: int, body: bytes, kind: str, words: str) -> None:
    found = at_once(body, head=b"HTTP/1.1 %d X\r\nContent-Type: application/json\r\n\r\n" % status)
    assert failure(found) == (kind, status)
    assert words in found["error"]["message"]


def test_a_key_that_the_server_says_back_is_not_kept() -> None:
    found = at_once(b'{"error":"Invalid key s3cret"}', head=b"HTTP/1.1 401 X\r\n\r\n", secret="s3cret")
    assert "s3cret" not in json.dumps(found)
    assert "Invalid key ***" in found["error"]["message"]


KEY = "0123456789abcdef0123456789abcdef"
REFUSED = b"HTTP/1.1 401 X\r\n\r\n"


@pytest.mark.parametrize("before", [170, 190, 1580, 3180])
@pytest.mark.parametrize("gap", [".", " "])
@pytest.mark.parametrize(
    ("write", "options"),
    [
        pytest.param(lambda said: json.dumps({"error": {"message": said}}).encode(), {"head": REFUSED}, id="json"),
        pytest.param(lambda said: json.dumps({"error": said}).encode(), {"head": REFUSED}, id="error-is-text"),
        pytest.param(lambda said: json.dumps({"detail": said}).encode(), {"head": REFUSED}, id="other-json"),
        pytest.param(lambda said: said.encode(), {"head": REFUSED}, id="text"),
        pytest.param(lambda said: event({"error": {"message": said}}), {}, id="in-the-stream"),
        pytest.param(lambda said: b"data: {" + said.encode() + b"\n\n", {}, id="no-json-in-the-stream"),
        pytest.param(lambda said: event([said]), {}, id="list-in-the-stream"),
        pytest.param(lambda said: event({"foreign": said}) + DONE, {}, id="foreign"),
        pytest.param(lambda said: said.encode(), {"head": PLAIN, "stream": False}, id="whole"),
        pytest.param(lambda said: said.encode() + b"\r\n\r\n", {"head": b""}, id="not-http"),
        pytest.param(lambda said: said.encode() + b"\r\n\r\n", {"head": b"HTTP/1.1 "}, id="not-http-in-the-head"),
        pytest.param(
            lambda said: said.encode() + b"\r\n",
            {"head": b"HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\n"},
            id="not-http-in-a-chunk",
        ),
        pytest.param(lambda said: delta("stop", content=said[:180]) + delta(content=said[180:]), {}, id="answer"),
        pytest.param(lambda said: delta("abort" + said, content="x") + event({"error": "x"}), {}, id="finish"),
    ],
)
def test_no_part_of_a_key_stays_where_words_are_cut(write: Any, options: dict[str, Any], gap: str, before: int) -> None:
    said = f"x{gap * before}{KEY}{gap * 30}"
    reply = Reply(Ask(3, "/v1/x", b"", "chat", options.get("stream", True)), user=1, t_write=1.0, t_end=1.2)
    reply.add(1.2, options.get("head", HEAD) + write(said))
    found = json.dumps(read(reply, secret=KEY, sample=True))
    assert not [at for at in range(len(KEY) - 3) if KEY[at : at + 4] in found]


def test_what_looks_like_somebody_elses_key_is_not_kept() -> None:
    for words in ("no such key: sk-0123456789abcdef", f"{'x' * 185} sk-0123456789abcdef", "Bearer 0123456789abcdef"):
        found = at_once(json.dumps({"error": words}).encode(), head=REFUSED, secret=KEY)
        assert "0123" not in json.dumps(found)
        assert "0123" not in at_once(delta("stop", content=words) + event({"error": "x"}))["sample"]


@pytest.mark.parametrize(
    "body",
    [b"<html><body>It works!</body></html>", b'{"detail":"hello"}', b'"text"', b"",
     json.dumps({"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}]}).encode()],
    ids=["html", "another-api", "text", "empty", "no-stream"],
)  # fmt: skip
def test_another_servers_answer(body: bytes) -> None:
    assert failure(at_once(body, head=PLAIN)) == ("bad_json", 200)


WHOLE_CHAT = {
    "choices": [{"message": {"content": "hi you"}, "finish_reason": "stop"}],
    "usage": {"completion_tokens": 2},
}
WHOLE_TEXT = {"choices": [{"text": "hi you", "finish_reason": "stop"}], "usage": {"completion_tokens": 2}}
WHOLE_RESPONSE = {
    "object": "response", "status": "completed", "usage": {"input_tokens": 9, "output_tokens": 2}, "error": None,
    "output": [{"type": "message", "content": [{"type": "output_text", "text": "hi you"}]}],
}  # fmt: skip


@pytest.mark.parametrize(
    ("endpoint", "body"), [("chat", WHOLE_CHAT), ("completions", WHOLE_TEXT), ("responses", WHOLE_RESPONSE)]
)
def test_answers_in_one_piece(endpoint: str, body: dict[str, Any]) -> None:
    found = at_once(json.dumps(body).encode(), endpoint=endpoint, stream=False, head=PLAIN, asked=2)
    assert found["error"] is None
    assert (found["ttft_ms"], found["tpot_ms"], found["t_first"], found["chunks"]) == (None, None, None, 0)
    assert (found["e2el_ms"], found["tokens"]["completion"], found["text"]) == (200.0, 2, "hi you")
    assert found["finish"] == "stop"


def response(kind: str, **fields: Any) -> bytes:
    return event({"type": f"response.{kind}", **fields}, f"response.{kind}")


def test_a_stream_of_the_responses_api() -> None:
    whole = WHOLE_RESPONSE | {
        "status": "incomplete",
        "incomplete_details": {"reason": "max_output_tokens"},
        "usage": {"input_tokens": 9, "output_tokens": 3, "output_tokens_details": {"reasoning_tokens": 1}},
    }
    found = record(
        (1.01, response("created", response={"status": "in_progress"})),
        (1.1, response("reasoning_text.delta", delta="hm ")),
        (1.2, response("output_text.delta", delta="hi ")),
        (1.3, response("output_text.delta", delta="you") + response("completed", response=whole)),
        endpoint="responses",
        asked=3,
    )
    assert found["error"] is None
    assert (found["ttfr_ms"], found["ttft_ms"], found["ttfo_ms"], found["tpot_ms"]) == (10.0, 100.0, 200.0, 100.0)
    assert found["tokens"] == {"prompt": 9, "completion": 3, "reasoning": 1, "cached": None}
    assert (found["finish"], found["text"]) == ("length", "hm hi you")


@pytest.mark.parametrize(
    ("end", "kind"),
    [
        (
            response("failed", response={"status": "failed", "error": {"message": "died", "code": "500"}}),
            "stream_error",
        ),
        (response("failed", response={"status": "failed"}), "stream_error"),
        (event({"type": "error", "message": "died", "code": "server_error"}, "error"), "stream_error"),
        (b"", "truncated"),
    ],
)
def test_failures_of_the_responses_api(end: bytes, kind: str) -> None:
    found = at_once(response("output_text.delta", delta="a") + end, endpoint="responses")
    assert failure(found)[0] == kind


def test_what_is_not_http() -> None:
    assert failure(at_once(b"", head=b"SSH-2.0-OpenSSH_9.6\r\n")) == ("bad_json", None)


def test_nothing_came() -> None:
    assert failure(at_once(b"", head=b"", kind="timeout_ttft")) == ("timeout_ttft", None)


def test_halves_of_a_character_are_joined_and_a_lone_half_can_be_written() -> None:
    stream = b'data: {"choices":[{"delta":{"content":"%b"}}]}\n\n'
    found = at_once(b"".join(stream % half for half in (b"\\ud83d", b"\\ude00", b"\\ud83d")) + DONE)
    assert found["text"] == "\U0001f600\ufffd"
    assert found["text"].encode()


@pytest.mark.parametrize("endpoint", ["chat", "completions", "responses"])
@pytest.mark.parametrize("seed", range(40))
def test_no_bytes_are_a_stumbling_block(endpoint: str, seed: int) -> None:
    """Whatever comes, there is a record, and it can be written."""
    dice = random.Random(seed)
    strange = [None, 0, -1, 1.5, True, "", "x", [], [None], {}, {"a": None}, [[]], [{"text": 3}]]
    names = ["choices", "delta", "message", "content", "text", "reasoning", "tool_calls", "function", "usage", "error",
             "finish_reason", "type", "response", "output", "status", "completion_tokens", "prompt_tokens_details",
             "object", "item", "incomplete_details"]  # fmt: skip
    kinds = ["response.completed", "response.failed", "response.output_text.delta", "error", "response"]

    for number in (1.5, -1):
        odd = {"object": "response", "output": [{"content": number}, number], "choices": [{"message": number}]}
        assert at_once(json.dumps(odd).encode(), endpoint=endpoint, stream=False, head=PLAIN)["tokens"]

    def some(depth: int) -> Any:
        if depth == 0 or dice.random() < 0.2:
            return dice.choice([*strange, *kinds])
        if dice.random() < 0.3:
            return [some(depth - 1) for _one in range(dice.randint(0, 2))]
        return {name: some(depth - 1) for name in dice.sample(names, dice.randint(1, 6))}

    for stream in (True, False):
        values = [some(4) for _one in range(8)]
        body = b"".join(event(value) for value in values) if stream else json.dumps(values[0]).encode()
        damaged = bytearray(body + DONE)
        for _one in range(seed % 4):
            damaged[dice.randrange(len(damaged))] = dice.randrange(256)
        found = at_once(bytes(damaged), endpoint=endpoint, stream=stream, head=HEAD if stream else PLAIN)
        assert json.loads(json.dumps(found).encode("utf-8")) == found
        assert found["error"] is None or found["error"]["kind"] in failures.KINDS


def test_nested_too_deep_to_be_read() -> None:
    assert failure(at_once(b"data: " + b"[" * 200_000 + b"\n\n" + DONE))[0] == "bad_json"
