# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Connections: opened ahead, kept, replaced; TLS, IPv6, proxies, keys, and all that can go wrong on the way."""

from __future__ import annotations

import json
import socket
from dataclasses import replace
from pathlib import Path

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.failures import TargetError
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.played import Played
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.simple import ask_once
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.target import Target
from tests.bench import doors
from tests.bench.truth import LIMITS, Mock, start

EVENT = b'data: {"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]}\n\n'
GOOD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"%x\r\n%b\r\n0\r\n\r\n" % (len(EVENT), EVENT)
)


def kinds(played: Played) -> list[str | None]:
    return [one["error"] and one["error"]["kind"] for one in played.records]


def test_b12_each_user_has_one_connection_opened_before_the_start(mock: Mock) -> None:
    """B12, B14 of the table: no request pays for its connection."""
    played = mock.play({}, n=4, requests=16)
    assert kinds(played) == [None] * 16
    assert [one["connect_ms"] for one in played.records] == [None] * 16
    assert played.client["connections"] == 4
    assert len({row["peer"] for row in mock.book()["requests"]}) == 4
    assert played.client["address"] == f"127.0.0.1:{mock.port}"


@pytest.mark.parametrize("wishes", [{"framing": "close"}, {"status": 503, "closes": True}], ids=["stream", "whole"])
def test_a_connection_that_the_server_closes_is_replaced(mock: Mock, wishes: dict[str, object]) -> None:
    played = mock.play(wishes, n=2, requests=6)
    opened = [one["connect_ms"] for one in played.records if one["connect_ms"] is not None]
    assert (len(opened), played.client["connections"]) == (4, 6)
    assert all(value > 0 for value in opened)


def test_ttft_of_a_replaced_connection_is_counted_from_the_write(mock: Mock) -> None:
    played = mock.play({"framing": "close", "ttft": 0.1}, n=1, requests=3)
    sent = mock.sent()
    for one in played.records:
        row = sent[one["id"]]
        # The mock has the request after the write, so the true time is a lower bound, and it holds to the millisecond.
        assert one["ttft_ms"] >= (row["sent"][0] - row["received"]) * 1000.0 - 0.01
        assert played.clock + one["t_write"] <= row["received"]


def test_a_kept_connection_that_went_stale_costs_no_request() -> None:
    with doors.listening(doors.once(GOOD)) as port:
        target = Target("stale", f"http://127.0.0.1:{port}")
        played = Mock(port).play({}, n=1, requests=4, target=target, mode="natural")
    assert kinds(played) == [None] * 4
    assert played.client["connections"] == 4


def test_nobody_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    played = Mock(port).play({}, n=2, requests=4, load={"model": "closed", "n": 2, "requests": 4, "min_s": 60.0})
    assert kinds(played) == ["connect"] * 4
    assert played.records[0]["error"]["message"] == "no connection: Connection refused"
    assert played.client["lag_ms"] is not None


def test_a_name_without_an_address() -> None:
    played = Mock(1).play({}, requests=3, target=Target("t", "http://engine.invalid:8000"))
    assert kinds(played) == ["dns"] * 3
    assert (played.seconds, played.concurrency) == (0.0, {"mean": None, "peak": 0})


def test_a_url_that_is_none() -> None:
    assert kinds(Mock(1).play({}, requests=2, target=Target("t", "engine:8000"))) == ["connect"] * 2


def test_b16_ipv6() -> None:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no IPv6")
    with start(host="::1") as mock:
        played = mock.play({})
    assert kinds(played) == [None] * 4
    assert played.client["address"] == f"[::1]:{mock.port}"


def test_tls(certificate: tuple[Path, Path]) -> None:
    """B14: the handshake is over before the first request; an unknown certificate is refused unless told otherwise."""
    cert, key = certificate
    with start("--certificate", str(cert), "--tls-key", str(key), scheme="https") as mock:
        trusted = Target("t", f"https://localhost:{mock.port}", ca_file=str(cert))
        for target in (trusted, mock.target):
            played = mock.play({"text": "中文", "itl": 0.0}, n=4, requests=8, target=target, padding=100_000)
            assert kinds(played) == [None] * 8
            assert [one["connect_ms"] for one in played.records] == [None] * 8
            assert [one["chunks"] for one in played.records] == [16] * 8
        refused = mock.play({}, requests=2, target=replace(mock.target, verify_tls=True))
        assert kinds(refused) == ["tls"] * 2
        assert "certificate is refused" in refused.records[0]["error"]["message"]
        assert ask_once(trusted, "GET", "/version").body == b'{"version": "0.33.0"}'
    assert kinds(mock.play({}, requests=2, target=replace(trusted, ca_file="/nowhere/ca.pem"))) == ["tls"] * 2


def test_tls_where_there_is_none(mock: Mock) -> None:
    played = mock.play({}, requests=2, target=Target("t", f"https://127.0.0.1:{mock.port}"),
                       limits=replace(LIMITS, connect_s=1.0))  # fmt: skip
    assert set(kinds(played)) <= {"tls", "timeout_connect"}
    assert len(played.records) == 2


def test_b14_a_handshake_that_nobody_answers() -> None:
    with doors.listening(doors.silent) as port:
        limits = replace(LIMITS, connect_s=0.3)
        played = Mock(port).play({}, requests=2, target=Target("t", f"https://127.0.0.1:{port}"), limits=limits)
    assert kinds(played) == ["timeout_connect"] * 2
    assert played.records[0]["error"]["message"].startswith("the client's own time-out: no connection within 0.3 s")


def test_a_server_that_talks_another_language() -> None:
    with doors.listening(lambda sock: sock.sendall(b"SSH-2.0-OpenSSH_9.6\r\n")) as port:
        played = Mock(port).play({}, n=1, requests=2)
    assert set(kinds(played)) <= {"bad_json", "truncated"}
    assert len(played.records) == 2


def test_keys() -> None:
    """The right one opens; a wrong one is neither in the message nor anywhere else in the records."""
    with start(key="s3cret-right") as mock:
        assert kinds(mock.play({})) == [None] * 4
        wrong = mock.play({}, target=replace(mock.target, key="s3cret-wrong"), keep_text=True)
    assert kinds(wrong) == ["http_4xx"] * 4
    assert "Invalid key Bearer ***" in wrong.records[0]["error"]["message"]
    assert "s3cret" not in json.dumps(wrong.records) + repr(wrong) + repr(mock.target)


@pytest.mark.parametrize("before", [0, 180])
def test_a_key_that_is_said_back_by_what_is_no_http(before: int) -> None:
    key = "s3cret-0123456789"

    def handle(sock: socket.socket) -> None:
        head = doors.head_of(sock)
        sock.sendall(b"x" * before + head[head.index(b"Bearer") :])

    with doors.listening(handle) as port:
        target = Target("t", f"http://127.0.0.1:{port}", key=key)
        with pytest.raises(TargetError) as caught:
            ask_once(target, "GET", "/v1/models")
        played = Mock(port).play({}, n=1, requests=1, target=target)
    assert kinds(played) == ["bad_json"]
    for said in (caught.value.message, json.dumps(played.records)):
        assert "the answer is not HTTP: " in said
        assert "s3cret" not in said


def test_b11_no_proxy_unless_told(mock: Mock, monkeypatch: pytest.MonkeyPatch) -> None:
    """B15, B11: the environment names a proxy where nobody listens."""
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "192.0.2.0/24")
    played = mock.play({})
    assert kinds(played) == [None] * 4
    assert played.client["address"] == f"127.0.0.1:{mock.port}"


def test_a_proxy_for_http(mock: Mock) -> None:
    """The proxy is asked with whole URLs: the mock is one that answers by itself."""
    target = Target("t", "http://192.0.2.11:8000", proxy=mock.url)
    played = mock.play({}, target=target)
    assert kinds(played) == [None] * 4
    assert played.client["address"] == f"127.0.0.1:{mock.port}"


@pytest.mark.parametrize("status", [200, 403])
def test_a_proxy_for_https(certificate: tuple[Path, Path], status: int) -> None:
    seen: list[str] = []
    cert, key = certificate
    with (
        start("--certificate", str(cert), "--tls-key", str(key)) as mock,
        doors.listening(doors.tunnel(mock.port, seen, status)) as port,
    ):
        target = Target("t", "https://localhost:8443", ca_file=str(cert), proxy=f"http://127.0.0.1:{port}")
        played = mock.play({}, n=2, requests=2, target=target)
    assert seen[0] == "CONNECT localhost:8443 HTTP/1.1"
    assert kinds(played) == ([None] * 2 if status == 200 else ["connect"] * 2)
    if status != 200:
        assert "HTTP 403" in played.records[0]["error"]["message"]


def test_long_requests_are_written_in_pieces(mock: Mock) -> None:
    """A prompt larger than the socket's buffer: the time begins with its last byte."""
    played = mock.play({}, n=4, requests=8, padding=4_000_000)
    sent = mock.sent()
    assert kinds(played) == [None] * 8
    for one in played.records:
        assert len(sent[one["id"]]["body"]["messages"][0]["content"]) > 4_000_000
        assert played.clock + one["t_write"] <= sent[one["id"]]["received"]


@pytest.mark.parametrize(
    ("method", "path", "body", "wanted"),
    [
        ("GET", "/v1/models", b"", '"id": "mock"'),
        ("POST", "/tokenize", b'{"prompt": "one two \xe4\xb8\xad\xe6\x96\x87"}', '"count": 4'),
        ("GET", "/metrics", b"", "vllm:prefix_cache_queries_total{"),
        ("GET", "/health", b"", ""),
    ],
)
def test_single_requests(mock: Mock, method: str, path: str, body: bytes, wanted: str) -> None:
    answer = ask_once(mock.target, method, path, body)
    assert answer.status == 200
    assert wanted in answer.body.decode()


@pytest.mark.parametrize(
    ("handle", "kind"),
    [(doors.silent, "timeout_total"), (doors.head_of, "truncated"),
     (lambda sock: sock.sendall(b"SSH-2.0-x\r\n" + doors.head_of(sock)[:0]), "bad_json")],
    ids=["silent", "closed", "no-http"],
)  # fmt: skip
def test_single_requests_that_fail(handle: doors.Handler, kind: str) -> None:
    with doors.listening(handle) as port, pytest.raises(TargetError) as caught:
        ask_once(Target("t", f"http://127.0.0.1:{port}"), "GET", "/metrics", timeout_s=0.4)
    assert caught.value.kind == kind
