# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Area 8: benchmarks that measure something else. Input and expectation are those of the fault's row."""

from __future__ import annotations

import itertools
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.ask import Ask, Limits
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.failures import TIMEOUT_TTFT, waited
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.played import Played, play
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.reading import read
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.reply import Reply
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.sse import Events
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.target import Target, resolve
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.measure.points import points_of
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.measure.summary import round_summary
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result import (
    assemble,
    check,
    csv_long,
    html,
    junit,
    markdown,
    screen,
)
from tests.bench.doors import Handler, head_of, listening

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
LIMITS = Limits(connect_s=5.0, ttft_s=5.0, idle_s=5.0, total_s=10.0)
SPEC = {
    "id": "0001", "point": "short-en/chat/main-0/n1", "case": "short-en", "target": "main-0", "endpoint": "chat",
    "stream": True, "load": {"model": "closed", "n": 1, "requests": 3, "min_s": 0.0}, "round": 1, "warmup": False,
    "block": "", "ladder": "",
}  # fmt: skip
ORDER: dict[str, Any] = {
    "run": {"id": "20261130T101500Z-quick", "label": "", "suite": "quick", "seed": 1, "nonce": "0123456789abcdef"},
    "targets": [{"name": "main-0", "url": "http://192.0.2.11:8000", "via": "direct", "deployment": "main"}],
    "cases": [{"name": "short-en", "digest": "sha256:0", "cache": "cold", "max_share_cached": 0.01}],
    "rounds": [SPEC],
    "goodput": {"ttft_ms": 500.0},
}


def record(*pieces: tuple[float, bytes], number: int = 0) -> dict[str, Any]:
    """What comes of a stream that is asked for at 0 s, whose pieces come at these seconds."""
    reply = Reply(Ask(number, "/v1/chat/completions", b"", "chat"), user=0, t_write=0.0, t_end=pieces[-1][0])
    for stamp, piece in ((0.0, HEAD), *pieces):
        reply.add(stamp, piece)
    return read(reply, keep_text=True)


def summary(*records: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = round_summary(SPEC, records, None, ORDER["goodput"])["summary"]
    return found


def test_b01_reasoning_alone_is_tokens() -> None:
    row = (
        'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}\n\n'
        'data: {"choices":[{"index":0,"delta":{"reasoning_content":"hm"}}]}\n\n'
        'data: {"choices":[{"index":0,"delta":{},"finish_reason":"length"}]}\n\n'
        'data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4}}\n\ndata: [DONE]\n\n'
    )
    events = [f"{event}\n\n".encode() for event in row.split("\n\n") if event]
    one = record(*[(0.1 * number, event) for number, event in enumerate(events, 1)])
    assert (one["error"], one["tokens"]["completion"]) == (None, 4)
    found = summary(one)
    assert (found["ttft_ms"]["p50"], found["ttfo_ms"]["p50"]) == (200.0, None)
    assert found["output_tps"]["value"] == pytest.approx(4 / 0.2)


def test_b03_no_choices_with_the_usage() -> None:
    row = (
        'data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n'
        'data: {"choices":[],"usage":{"completion_tokens":1}}\n\ndata: [DONE]\n\n'
    )
    one = record((0.1, row.encode()))
    assert (one["error"], one["tokens"]["completion"], one["token_source"]) == (None, 1, "usage")


def test_b05_the_role_alone_is_no_first_token() -> None:
    one = record(
        (0.006, b'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":null}}]}\n\n'),
        (0.180, b'data: {"choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\ndata: [DONE]\n\n'),
    )
    assert (one["ttft_ms"], one["ttfr_ms"]) == (180.0, 6.0)
    assert summary(one)["ttft_ms"]["p50"] == 180.0


def test_b06_an_error_in_an_answer_with_http_200_is_a_failure() -> None:
    row = (
        'data: {"choices":[{"index":0,"delta":{"content":"par"}}]}\n\n'
        'data: {"error":{"message":"EngineCore died","type":"InternalServerError","code":500}}\n\ndata: [DONE]\n\n'
    )
    good = record((0.1, b'data: {"choices":[{"delta":{"content":"a"}}],"usage":{"completion_tokens":1}}\n\n'),
                  (0.2, b"data: [DONE]\n\n"))  # fmt: skip
    bad = record((0.01, row.encode()), number=1)
    assert (bad["error"]["kind"], bad["error"]["status"]) == ("stream_error", 500)
    assert "EngineCore died" in bad["error"]["message"]
    assert (bad["sample"], bad["chunks"]) == ("par", 1)
    found = summary(good, bad)
    assert (found["ttft_ms"]["n"], found["ttft_ms"]["p50"], found["error_rate"]["value"]) == (1, 100.0, 0.5)
    assert found["output_tps"]["value"] == pytest.approx(1 / 0.1)


def all_failed() -> dict[str, Any]:
    """The result of a run in which every request is like the row's, in 0.0 s."""
    records = [record((0.0, b"data: [DONE]\n\n\n"), number=number) for number in range(3)]
    found = round_summary(SPEC, records, None, ORDER["goodput"])
    one = {
        **SPEC, "began": 1000.0, "seconds": 0.0, "steady": None, "requests": records, **found, "server": None,
        "concurrency": {"mean": None, "peak": 1}, "valid": True, "invalid_reasons": [], "skipped": "",
        "client": {"cpu_s": 0.0, "rss_mb": None, "lag_ms": dict.fromkeys(("p50", "p99", "max")), "address": ""},
    }  # fmt: skip
    return assemble.result(assemble.Found(order=ORDER, rounds=[one], points=points_of([one], ORDER)), "0.1.0")


def test_b08_an_answer_without_a_token_is_a_failure() -> None:
    one = record((0.0, b"data: [DONE]\n\n\n"))
    assert (one["error"]["kind"], one["error"]["message"]) == ("empty_output", "the answer has no token")
    rates = {name: part["value"] for name, part in summary(one).items() if "value" in part}
    assert {name: value for name, value in rates.items() if value is not None} == {
        "error_rate": 1.0,
        "goodput_share": 0.0,
    }


@pytest.mark.parametrize(
    ("write", "words"),
    [
        pytest.param(markdown.text, "n/a", id="report.md"),
        pytest.param(lambda result: html.page(result, ()), "n/a", id="report.html"),
        pytest.param(junit.text, "empty_output", id="junit.xml"),
        pytest.param(csv_long.text, "empty_output", id="report.csv"),
        pytest.param(lambda result: "\n".join(screen.lines(result, [])), "n/a", id="screen"),
    ],
)
def test_b08_a_run_of_failures_has_a_report_and_no_success(write: Callable[[Any], str], words: str) -> None:
    result = all_failed()
    assert check.faults(result, "result.json") == []
    assert words in write(result)
    assert screen.failure(result).startswith("Not one request succeeded (empty_output 3).")


def test_b09_a_character_in_two_pieces() -> None:
    first = b'data: {"choices":[{"index":0,"delta":{"content":"\xe4\xb8'
    second = b'\xad\xe6\x96\x87"}}]}\n\ndata: [DONE]\n\n'
    assert record((0.1, first), (0.2, second))["text"] == "\u4e2d\u6587"
    # And in two pieces cut anywhere else.
    whole = first + second
    for at in range(len(whole)):
        events = Events()
        found = [*events.feed(whole[:at]), *events.feed(whole[at:])]
        assert [event.data.decode() for event in found] == [
            '{"choices":[{"index":0,"delta":{"content":"\u4e2d\u6587"}}]}',
            "[DONE]",
        ]


def asks() -> Iterator[Ask]:
    return (Ask(number, "/v1/chat/completions", b"{}", "chat") for number in itertools.count())


def played_at(handle: Handler, limits: Limits = LIMITS) -> Played:
    """One request to a server on this machine."""
    with listening(handle) as port:
        load = {"model": "closed", "n": 1, "requests": 1, "min_s": 0.0}
        return play(Target("main-0", f"http://127.0.0.1:{port}/v1"), load, asks(), limits)


def answers(wait: float) -> Handler:
    """A server that needs so many seconds for an answer."""

    def handle(sock: socket.socket) -> None:
        head_of(sock)
        time.sleep(wait)
        sock.sendall(HEAD + b'data: {"choices":[{"delta":{"content":"Hi"}}]}\n\ndata: [DONE]\n\n')

    return handle


def test_b11_a_proxy_in_the_environment_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "192.0.2.0/24")
    assert resolve(Target("main-0", "http://192.0.2.11:8000/v1")).text == "192.0.2.11:8000"
    # 127.0.0.1 is in no_proxy of no one here: the environment says that the proxy is to be used for it.
    played = played_at(answers(0.0))
    assert [one["error"] for one in played.records] == [None]
    assert played.client["address"].startswith("127.0.0.1:")
    assert not played.client["address"].endswith(":9")


def test_b11_a_proxy_is_used_when_asked_for() -> None:
    assert resolve(Target("main-0", "http://192.0.2.11:8000/v1", proxy="http://127.0.0.1:9")).text == "127.0.0.1:9"


def test_b12_tokens_are_not_chunks() -> None:
    chunk = b'data: {"choices":[{"index":0,"delta":{"content":"x"}}]}\n\n'
    end = b'data: {"choices":[],"usage":{"completion_tokens":17}}\n\ndata: [DONE]\n\n'
    # The first chunk comes with the request, so that decoding and the round have the row's 1.0 s both.
    one = record((0.0, chunk), (1 / 3, chunk), (2 / 3, chunk), (1.0, chunk + end))
    assert (one["chunks"], one["tokens"]["completion"]) == (4, 17)
    found = summary(one)
    assert found["output_tps"]["value"] == pytest.approx(17.0)
    assert found["decode_tps"]["mean"] == pytest.approx(16.0)  # what came after the first token, which had no time
    assert found["tokens_per_chunk"]["mean"] == 4.25


def test_b14_the_clients_own_time_out_is_not_the_servers_error() -> None:
    # The row's 2 s and 3 s, tenfold as fast.
    (one,) = played_at(answers(0.3), replace(LIMITS, ttft_s=0.2)).records
    assert (one["error"]["kind"], one["error"]["status"], one["status"]) == ("timeout_ttft", None, None)
    assert one["error"]["message"] == waited(TIMEOUT_TTFT, 0.2)
    assert waited(TIMEOUT_TTFT, 2.0) == (
        "the client's own time-out: no first byte of the answer within 2 s; the server did not end the request"
    )
