# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies, targets, limits, the supply of requests, and words about failures."""

from __future__ import annotations

import errno
import itertools
import json
import socket
import ssl
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client import failures
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.ask import Ask, Limits, limits_from
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.body import body_of, path_of
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.supply import Supply
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.target import (
    place_of,
    resolve,
    target_from,
)

MESSAGES = ({"role": "user", "content": "你好"},)
FIXED = {"mode": "fixed", "tokens": 64}
NATURAL = {"mode": "natural", "tokens": 512}
USAGE = {"include_usage": True}


@pytest.mark.parametrize(
    ("endpoint", "output", "stream", "wanted"),
    [
        ("chat", FIXED, True, {"messages": list(MESSAGES), "max_tokens": 64, "min_tokens": 64, "ignore_eos": True,
                               "stream_options": USAGE}),
        ("chat", NATURAL, False, {"messages": list(MESSAGES), "max_tokens": 512}),
        ("completions", FIXED, True, {"prompt": "say", "max_tokens": 64, "min_tokens": 64, "ignore_eos": True,
                                      "stream_options": USAGE}),
        ("responses", FIXED, True, {"input": list(MESSAGES), "max_output_tokens": 64, "ignore_eos": True,
                                    "store": False}),
        ("responses", NATURAL, True, {"input": list(MESSAGES), "max_output_tokens": 512, "store": False}),
    ],
)  # fmt: skip
def test_bodies(endpoint: str, output: dict[str, Any], stream: bool, wanted: dict[str, Any]) -> None:
    """B4, B6, B9: usage is asked for, and lengths are forced."""
    body = body_of(endpoint, "m", messages=MESSAGES, prompt="say", output=output, stream=stream)
    assert "你好".encode() in body or endpoint == "completions"
    assert json.loads(body) == {"model": "m", "stream": stream, "temperature": 0, **wanted}


def test_more_members_of_a_body() -> None:
    body = json.loads(body_of("chat", "m", output=FIXED, continuous_usage=True, extra={"temperature": 1, "seed": 3}))
    assert body["stream_options"] == {"include_usage": True, "continuous_usage_stats": True}
    assert (body["temperature"], body["seed"]) == (1, 3)
    assert path_of("responses") == "/v1/responses"


@pytest.mark.parametrize("url", ["", "h:8000", "ftp://h", "http://", "http://h:port", "http://h:99999"])
def test_what_is_no_url(url: str) -> None:
    with pytest.raises(failures.TargetError) as caught:
        place_of(url)
    assert caught.value.kind == failures.CONNECT
    assert repr(url) in caught.value.message


def test_a_target_of_an_order() -> None:
    entry = {"name": "gateway", "url": "https://h:8443", "via": "gateway", "verify_tls": False, "ca_file": None}
    target = target_from(entry, key="k", proxy="http://p:1")
    assert (target.verify_tls, target.ca_file, target.key, target.proxy) == (False, "", "k", "http://p:1")


@pytest.mark.parametrize(("url", "text"), [("http://127.0.0.1:81", "127.0.0.1:81"), ("http://[::1]:81", "[::1]:81")])
def test_the_address_that_is_used_is_known(url: str, text: str) -> None:
    """B16."""
    assert resolve(target_from({"name": "t", "url": url})).text == text


@pytest.mark.parametrize("serves", [0, 1, None])
def test_b16_of_several_addresses_the_one_that_is_served(monkeypatch: pytest.MonkeyPatch, serves: int | None) -> None:
    """B16: localhost may have an address first where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        open_port = server.getsockname()[1]
        with socket.create_server(("127.0.0.1", 0)) as other:
            closed_port = other.getsockname()[1]
        ports = [open_port if at == serves else closed_port for at in range(2)]
        found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port)) for port in ports]
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_args, **_more: found)
        address = resolve(target_from({"name": "t", "url": "http://localhost:1"}))
    assert address.sockaddr == ("127.0.0.1", open_port if serves is not None else closed_port)


def test_b11_the_environment_names_no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """B15, B11."""
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "192.0.2.0/24")
    assert resolve(target_from({"name": "t", "url": "http://192.0.2.11:8000/v1"})).text == "192.0.2.11:8000"


def test_limits() -> None:
    assert limits_from({"ttft_s": 5, "idle_s": None}) == Limits(ttft_s=5.0)


def ask(number: int) -> Ask:
    return Ask(number, "/v1/x", b"body", "chat")


def test_a_supply_draws_ahead_but_not_more_than_that() -> None:
    numbers = itertools.count()
    supply = Supply((ask(number) for number in numbers), 4)
    supply.fill(10)
    assert next(numbers) == 4
    first = supply.peek()
    assert first is not None and first.id == 0
    assert [one.id for one in (supply.next(0) for _turn in range(5)) if one] == [0, 1, 2, 3, 5]


def test_a_supply_ends() -> None:
    supply = Supply(iter([ask(1)]), 4)
    supply.fill(4)
    assert [supply.next(0), supply.next(0), supply.peek()] == [ask(1), None, None]


def test_a_supply_that_is_asked_by_user_draws_nothing_ahead() -> None:
    drawn: list[int] = []

    def of_user(user: int) -> Ask | None:
        drawn.append(user)
        return ask(user)

    supply = Supply(of_user, 4)
    supply.fill(4)
    assert drawn == []
    assert supply.next(7) == ask(7)


@pytest.mark.parametrize(
    ("fault", "kind", "words"),
    [
        (ConnectionRefusedError(errno.ECONNREFUSED, "x"), failures.CONNECT, "Connection refused"),
        (OSError(errno.ENETUNREACH, "x"), failures.CONNECT, "Network is unreachable"),
        (socket.gaierror(-2, "Name or service not known"), failures.DNS, "Name or service not known"),
        (ssl.SSLError(1, "WRONG_VERSION_NUMBER"), failures.TLS, "handshake failed"),
    ],
)
def test_kinds_of_what_the_system_says(fault: OSError, kind: str, words: str) -> None:
    found = failures.of_connect(fault)
    assert found.kind == kind
    assert words in found.message


@pytest.mark.parametrize(
    ("status", "kind"), [(400, "http_4xx"), (401, "http_4xx"), (404, "http_4xx"), (429, "http_429"), (500, "http_5xx"),
                         (503, "http_5xx"), (302, "bad_json")]
)  # fmt: skip
def test_kinds_of_statuses(status: int, kind: str) -> None:
    assert failures.of_status(status) == kind


@pytest.mark.parametrize("kind", [kind for kind in failures.KINDS if kind.startswith("timeout_")])
def test_b14_a_time_out_says_whose_it_is(kind: str) -> None:
    assert failures.waited(kind, 2.0).startswith("the client's own time-out: no ")
    assert "within 2 s" in failures.waited(kind, 2.0)
