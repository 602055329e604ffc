# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What passes through the gateway: tokens one by one, long silences, large bodies, a client that leaves."""

from __future__ import annotations

import itertools
import json
import socket
import subprocess
import time

import pytest

from tests.gateway.clients import CHAT
from tests.gateway.engines import wait_until
from tests.gateway.load import at_once
from tests.gateway.serving import Gateway, Serve

MERGED = 0.001  # s: two tokens that came closer together came in one piece


@pytest.mark.feature("streaming")
def test_g01_tokens_arrive_one_by_one(gateway: Gateway) -> None:
    answer = gateway.client.chat(stream=True, max_tokens=10, mock={"gap": 0.2})
    arrivals = answer.arrivals[:10]
    assert answer.status == 200
    assert arrivals[0] < 0.5
    gaps = [later - earlier for earlier, later in itertools.pairwise(arrivals)]
    assert sum(gap > MERGED for gap in gaps) >= 8
    assert sum(gap > 0.1 for gap in gaps) >= 8, "tokens came in clumps"


@pytest.mark.feature("streaming")
def test_g03_a_long_silence_is_waited_for(serve: Serve) -> None:
    # The connect timeout must not bound the answer: silent for longer than it, well below `timeout`.
    gateway = serve(1, connect_timeout=1, timeout=20)
    answers = at_once(2, lambda place: gateway.client.chat(stream=bool(place), mock={"first": 3.0}))
    assert [(answer.status, answer.broken) for answer in answers] == [(200, False)] * 2


@pytest.mark.feature("streaming")
def test_g03_the_timeout_is_the_variable_and_says_so_as_json(serve: Serve) -> None:
    gateway = serve(1, timeout=2)
    before = gateway.engines[0].seen()["generations"]
    answer = gateway.client.chat(mock={"first": 30.0})
    assert answer.status == 504
    assert 1.5 < answer.seconds < 10
    assert answer.message
    # One generation: what may have begun is not begun again.
    assert gateway.engines[0].seen()["generations"] == before + 1


@pytest.mark.feature("streaming")
def test_g05_a_body_of_3_mb_reaches_the_engine(gateway: Gateway) -> None:
    body = gateway.client.body(padding="x" * 3_000_000)
    answer = gateway.client.send("POST", CHAT, body)
    assert answer.status == 200
    # vllm-router writes the JSON anew, with the defaults of what was left out.
    assert max(engine.seen()["bytes"] for engine in gateway.engines) >= len(body) - 100


def test_g05_curl_waits_for_100_continue(gateway: Gateway) -> None:
    body = gateway.client.body(padding="x" * 3_000_000)
    headers = [f"{name}: {text}" for name, text in gateway.client.headers(expect="100-continue").items()]
    command = ["curl", "-sS", "--max-time", "20", "--data-binary", "@-", f"{gateway.started.url}{CHAT}"]
    for header in headers:
        command += ["-H", header]
    done = subprocess.run(command, input=body, capture_output=True, check=False)
    assert json.loads(done.stdout)["object"] == "chat.completion", done.stderr


def test_a_body_without_a_length_passes(gateway: Gateway) -> None:
    connection = gateway.client.connect()
    pieces = iter([gateway.client.body(padding="x" * 2000)])
    connection.request("POST", CHAT, pieces, gateway.client.headers(), encode_chunked=True)
    assert connection.getresponse().status == 200
    connection.close()


def _left(gateway: Gateway) -> float | None:
    """Return when an engine saw its client leave last."""
    return max((moment for engine in gateway.engines for moment in engine.seen()["aborts"]), default=None)


@pytest.mark.feature("disconnect")
@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
def test_g09_a_client_that_leaves_frees_the_engine(gateway: Gateway, stream: bool) -> None:
    before = _left(gateway)
    body = gateway.client.body(stream=stream, max_tokens=100, mock={"gap": 0.1})
    head = "".join(f"{name}: {text}\r\n" for name, text in gateway.client.headers().items())
    with socket.create_connection(("127.0.0.1", gateway.started.port)) as client:
        client.sendall(f"POST {CHAT} HTTP/1.1\r\nhost: g\r\ncontent-length: {len(body)}\r\n{head}\r\n".encode() + body)
        if stream:
            received = b""
            while received.count(b"data:") < 2:
                received += client.recv(65536)
        else:
            wait_until(lambda: any(engine.seen()["running"] for engine in gateway.engines), "it runs")
    closed = time.time()
    wait_until(lambda: _left(gateway) != before, "the engine sees the client leave", 5.0)
    seen = _left(gateway)
    assert seen is not None
    assert seen - closed < 2.0
