# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fault matrix: benchmark.md D and B, and the field faults, each with its exact expectation on the wire."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.played import Played
from tests.bench.truth import LIMITS, Mock

# Times of one process, seen from another: on a loaded machine a wake can be late by as much as this.
LATE_MS = 500.0


def off_ms(played: Played) -> float:
    """By how much stamps are off at most, as the client says; it rounds."""
    return float(played.client["lag_ms"]["max"]) + 0.01


@pytest.mark.parametrize("endpoint", ["chat", "completions", "responses"])
@pytest.mark.parametrize(
    ("wishes", "chunks"),
    [
        pytest.param({}, 16, id="D-base"),
        pytest.param({"role_start": True, "ttft": 0.15}, 16, id="D-role-start-B05"),
        pytest.param({"per_chunk": 4}, 4, id="D-chunk4-B3-B12"),
        pytest.param({"lines": "crlf"}, 16, id="D-crlf-B8"),
        pytest.param({"lines": "cr"}, 16, id="B8-cr"),
        pytest.param({"nospace": True}, 16, id="D-nospace-B8"),
        pytest.param({"multiline": True}, 16, id="B8-multiline"),
        pytest.param({"ping": True}, 16, id="D-ping-B8"),
        pytest.param({"bom": True}, 16, id="B8-bom"),
        pytest.param({"text": "a\u2028b"}, 16, id="B8-u2028"),
        pytest.param({"text": "中文", "cut": "middle"}, 16, id="D-split-utf8-B09"),
        pytest.param({"text": "中文", "cut": "bytes"}, 16, id="B7-each-byte"),
        pytest.param({"interim": True}, 16, id="1xx"),
        pytest.param({"framing": "close"}, 16, id="read-to-close"),
        pytest.param({"batch": True}, 16, id="batch"),
        pytest.param({"itl": 0.0}, 16, id="B17-all-at-once"),
    ],
)
def test_whole_answers(mock: Mock, endpoint: str, wishes: dict[str, Any], chunks: int) -> None:
    played = mock.play(wishes, endpoint=endpoint, keep_text=True)
    sent = mock.sent()
    assert [one["error"] for one in played.records] == [None] * 4
    for one in played.records:
        row = sent[one["id"]]
        assert one["text"] == wishes.get("text", "tok ") * 16
        assert (one["tokens"]["prompt"], one["tokens"]["completion"], one["chunks"]) == (9, 16, chunks)
        assert (one["token_source"], one["status"], len(one["gaps_ms"])) == ("usage", 200, chunks - 1)
        assert_times(one, row, played)


def assert_times(one: dict[str, Any], row: dict[str, Any], played: Played) -> None:
    """No stamp is before what it stamps by more than the client says, and none much later."""
    off = off_ms(played)
    for stamp, sent in ((one["t_first"], row["sent"][0]), (one["t_last"], row["sent"][-1])):
        assert -off <= (played.clock + stamp - sent) * 1000.0 < LATE_MS
    assert one["ttft_ms"] >= (row["sent"][0] - row["received"]) * 1000.0 - off
    assert one["ttfr_ms"] <= one["ttft_ms"]
    assert one["e2el_ms"] == pytest.approx((one["t_last"] - one["t_write"]) * 1000.0, abs=0.01)


@pytest.mark.parametrize("endpoint", ["chat", "responses"])
@pytest.mark.parametrize(
    ("wishes", "output"),
    [
        pytest.param({"reasoning_tokens": 8}, 8, id="D-reason-half"),
        pytest.param({"field": "reasoning_content"}, None, id="D-reason-all-B01"),
        pytest.param({"field": "reasoning"}, None, id="D-reasoning-all-B01"),
        pytest.param({"reasoning_tokens": 8, "reasoning_field": "both"}, 8, id="both-names"),
    ],
)
def test_b2_reasoning(mock: Mock, endpoint: str, wishes: dict[str, Any], output: int | None) -> None:
    """B2: the first token is a reasoning one; the first one that is not stands apart."""
    played = mock.play({**wishes, "itl": 0.01}, endpoint=endpoint)
    sent = mock.sent()
    for one in played.records:
        times = sent[one["id"]]["sent"]
        assert (one["error"], one["chunks"], one["tokens"]["completion"]) == (None, 16, 16)
        assert_times(one, sent[one["id"]], played)
        if output is None:
            assert one["ttfo_ms"] is None
        else:
            assert one["ttfo_ms"] - one["ttft_ms"] == pytest.approx((times[output] - times[0]) * 1000.0, abs=LATE_MS)


def test_tool_calls_are_tokens(mock: Mock) -> None:
    played = mock.play({"field": "tool_calls"}, keep_text=True)
    assert [(one["chunks"], one["text"]) for one in played.records] == [(16, "tok " * 16)] * 4


@pytest.mark.parametrize("role", [{"role_content": ""}, {"role_content": None}])
def test_b1_ttft_is_not_the_role_chunk(mock: Mock, role: dict[str, Any]) -> None:
    played = mock.play({"role_start": True, "ttft": 0.3, **role})
    for one in played.records:
        assert one["ttft_ms"] >= 299.0
        assert one["ttfr_ms"] < one["ttft_ms"] - 100.0


def test_b4_without_usage_there_is_no_count(mock: Mock) -> None:
    """D-nousage, B4."""
    for one in mock.play({"usage": False}).records:
        assert one["error"] is None
        assert (one["token_source"], one["tokens"]["completion"], one["tpot_ms"]) == ("none", None, None)
        assert one["chunks"] == 16


def test_b3_tokens_of_the_first_chunk_are_known_with_continuous_usage(mock: Mock) -> None:
    played = mock.play({"usage": "continuous", "per_chunk": 4, "itl": 0.01}, continuous=True)
    for one in played.records:
        assert (one["first_chunk_tokens"], one["tokens"]["completion"], one["chunks"]) == (4, 16, 4)
        assert one["tpot_ms"] == pytest.approx((one["t_last"] - one["t_first"]) * 1000.0 / 12, abs=0.01)


FAILURES = [
    pytest.param({"error_after": 8}, "stream_error", 500, 8, id="D-err-in-200-B06"),
    pytest.param({"error_after": 0}, "stream_error", 500, 0, id="B5-before-any-token"),
    pytest.param({"error_after": 8, "error_form": "event"}, "stream_error", 500, 8, id="B5-event-error"),
    pytest.param({"truncate_after": 8}, "truncated", 200, 8, id="D-trunc-B6"),
    pytest.param({"truncate_after": 0}, "truncated", 200, 0, id="B6-cut-before-any-token"),
    pytest.param({"truncate_after": 8, "framing": "close"}, "truncated", 200, 8, id="B6-cut-that-looks-like-an-end"),
    pytest.param({"no_finish": True, "no_done": True}, "truncated", 200, 16, id="B6-no-finish"),
    pytest.param({"tokens": 8}, "short_output", 200, 8, id="D-short-B6"),
    pytest.param({"tokens": 0}, "empty_output", 200, 0, id="B08"),
    pytest.param({"text": ""}, "empty_output", 200, 0, id="B08-no-text"),
    pytest.param({"status": 500}, "http_5xx", 500, 0, id="D-http500"),
    pytest.param({"status": 429}, "http_429", 429, 0, id="http-429"),
    pytest.param({"status": 404, "body": "Not Found"}, "http_4xx", 404, 0, id="http-404"),
    pytest.param({"status": 503, "closes": True}, "http_5xx", 503, 0, id="http-503-and-closes"),
    pytest.param({"body": "<html>hi</html>", "content_type": "text/html"}, "bad_json", 200, 0, id="html"),
    pytest.param({"body": {"detail": "x"}}, "bad_json", 200, 0, id="another-api"),
    pytest.param({"body": "data: {oops\n\n", "content_type": "text/event-stream"}, "bad_json", 200, 0, id="bad-json"),
]


@pytest.mark.parametrize("endpoint", ["chat", "completions", "responses"])
@pytest.mark.parametrize(("wishes", "kind", "status", "chunks"), FAILURES)
def test_failures(mock: Mock, endpoint: str, wishes: dict[str, Any], kind: str, status: int, chunks: int) -> None:
    """B20: each failed request is one failure of its kind, with words, and no speed."""
    played = mock.play(wishes, endpoint=endpoint, requests=2)
    assert [(one["error"] or {"kind": None, "status": None})["kind"] for one in played.records] == [kind] * 2
    for one in played.records:
        assert (one["error"]["status"], one["chunks"]) == (status, chunks)
        assert one["error"]["message"]


@pytest.mark.parametrize("endpoint", ["chat", "completions", "responses"])
def test_half_of_the_requests_fail(mock: Mock, endpoint: str) -> None:
    """D-http500: the others are good."""
    played = mock.play({"status": 500, "fail_every": 2}, requests=8, endpoint=endpoint)
    kinds = [one["error"] and one["error"]["kind"] for one in played.records]
    assert sorted(kinds, key=str) == [None] * 4 + ["http_5xx"] * 4


@pytest.mark.parametrize("endpoint", ["chat", "completions", "responses"])
def test_answers_in_one_piece(mock: Mock, endpoint: str) -> None:
    played = mock.play({"ttft": 0.05}, endpoint=endpoint, stream=False)
    sent = mock.sent()
    for one in played.records:
        assert (one["error"], one["tokens"]["completion"], one["ttft_ms"], one["tpot_ms"]) == (None, 16, None, None)
        assert one["e2el_ms"] >= (sent[one["id"]]["sent"][0] - sent[one["id"]]["received"]) * 1000.0 - off_ms(played)


@pytest.mark.parametrize(
    ("wishes", "limits", "kind"),
    [
        pytest.param({"hang": "silent"}, {"ttft_s": 0.3}, "timeout_ttft", id="silent"),
        pytest.param({"hang": "head"}, {"ttft_s": 0.3}, "timeout_ttft", id="after-the-head"),
        pytest.param({"hang_after": 4}, {"idle_s": 0.3}, "timeout_idle", id="after-4-tokens"),
        pytest.param({"itl": 0.05}, {"total_s": 0.4}, "timeout_total", id="too-slow"),
        pytest.param({"ttft": 3.0}, {"ttft_s": 0.5}, "timeout_ttft", id="B14"),
    ],
)
def test_b14_time_outs_are_the_clients_own(
    mock: Mock, wishes: dict[str, Any], limits: dict[str, float], kind: str
) -> None:
    """B14: who gave up is said."""
    played = mock.play(wishes, requests=2, limits=replace(LIMITS, **limits))
    assert [one["error"]["kind"] for one in played.records] == [kind] * 2
    for one in played.records:
        assert one["error"]["message"].startswith("the client's own time-out: ")
        assert f"{next(iter(limits.values())):g} s" in one["error"]["message"]
