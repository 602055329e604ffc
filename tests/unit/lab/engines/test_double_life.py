# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the double starts and ends: keys, ports, exit codes, slow loads, signals."""

from __future__ import annotations

import contextlib
import http.client
import json
import signal
import socket
from collections.abc import Callable
from typing import Any

import pytest

Start = Callable[..., Any]


def faults(**which: Any) -> str:
    """Return DOUBLE_FAULTS; a name's dashes are written as underscores."""
    return json.dumps({name.replace("_", "-"): parameters for name, parameters in which.items()})


def test_api_keys_from_flag_and_environment(serve: Start) -> None:
    by_flag = serve("--api-key", "one", "two").wait_ready()
    by_environment = serve(VLLM_API_KEY="three").wait_ready()
    assert by_flag.get("/v1/models").status == 401
    assert by_flag.get("/health").status == 200
    assert by_flag.get("/v1/models", token="two").status == 200
    assert by_environment.get("/v1/models", token="one").status == 401
    assert by_environment.get("/v1/models", token="three").status == 200


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["vllm", "serve"], 2, "model_tag"),
        (["vllm", "serve", "/nowhere/at/all"], 2, "neither a folder with a config.json"),
        (["vllm", "serve", "{here}"], 2, "configuration"),
        (["vllm", "serve", "org/name", "--port", "http"], 2, "--port"),
        (["vllm", "serve", "org/name", "--nnodes", "2", "--node-rank", "2"], 2, "--node-rank"),
        (["vllm", "bench"], 2, "usage"),
        (["vllm", "--version"], 0, "0.32.0"),
        (["ray", "start"], 2, "--head"),
        (["ray", "--version"], 0, "ray, version"),
        (["ray", "dance"], 2, "Usage"),
    ],
)
def test_command_lines_that_end_at_once(
    launch: Start, tmp_path: Any, arguments: list[str], code: int, words: str
) -> None:
    double = launch(*(argument.replace("{here}", str(tmp_path)) for argument in arguments))
    assert double.wait_exit() == code
    assert words in double.log()
    assert "Traceback" not in double.log()


def test_bad_faults_are_told(launch: Start) -> None:
    double = launch("vllm", "serve", "org/name", DOUBLE_FAULTS='{"nope": {}}')
    assert double.wait_exit() == 2
    assert "no fault 'nope'" in double.log()


def test_api_port_taken(serve: Start, launch: Start) -> None:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        double = serve("--port", str(holder.getsockname()[1]))
        assert double.wait_exit() == 1
    assert "[Errno 98]" in double.log()


@pytest.mark.parametrize(
    ("given", "code"),
    [
        (faults(exit={"stage": "imports", "code": 1}), 1),
        (faults(exit={"stage": "load", "code": 3}), 3),
        (faults(exit={"stage": "ready", "code": 0}), 0),
        (faults(oom_kill={"stage": "load"}), -signal.SIGKILL),
        (faults(api_port_taken={}), 1),
    ],
)
def test_ends_at_a_stage(serve: Start, given: str, code: int) -> None:
    double = serve(DOUBLE_FAULTS=given)
    assert double.wait_exit() == code
    assert "startup complete" not in double.log()


def test_ends_at_the_first_request(serve: Start) -> None:
    double = serve(DOUBLE_FAULTS=faults(exit={"stage": "request", "code": 5})).wait_ready()
    assert double.get("/health").status == 200
    with contextlib.suppress(OSError, http.client.HTTPException):  # the answer may or may not get out before the end
        double.chat(stream=True)
    assert double.wait_exit() == 5


def test_slow_load_shows_progress_and_refuses_connections(serve: Start) -> None:
    double = serve(DOUBLE_FAULTS=faults(slow_load={"seconds": 600}))
    double.wait_log("Loading safetensors checkpoint shards:   0%")
    with pytest.raises(ConnectionRefusedError):
        double.get("/health")


def test_sigterm_ends_with_code_0(serve: Start) -> None:
    double = serve().wait_ready()
    double.process.send_signal(signal.SIGTERM)
    assert double.wait_exit() == 0


def test_sigterm_can_be_ignored(serve: Start) -> None:
    double = serve(DOUBLE_FAULTS=faults(ignore_sigterm={"seconds": 600})).wait_ready()
    double.process.send_signal(signal.SIGTERM)
    assert double.chat().status == 200
    assert double.process.poll() is None


def test_the_waiting_queue_is_counted(serve: Start, until: Start) -> None:
    double = serve("--max-num-seqs", "1", DOUBLE_FAULTS=faults(hang={})).wait_ready()
    connections = [socket.create_connection(("127.0.0.1", double.port)) for _index in range(3)]
    body = json.dumps({"prompt": "x", "max_tokens": 2}).encode()
    for connection in connections:
        connection.sendall(b"POST /v1/completions HTTP/1.1\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body))

    def counted() -> bool:
        page = double.get("/metrics").text
        running = [line.split()[-1] for line in page.splitlines() if line.startswith("vllm:num_requests_")]
        return running == ["1.0", "2.0"]

    until(counted, "one running and two waiting")
    for connection in connections:
        connection.close()


def test_a_connection_of_http_1_0_ends_with_its_answer(serve: Start) -> None:
    patient = serve(VLLM_HTTP_TIMEOUT_KEEP_ALIVE="3600").wait_ready()
    with socket.create_connection(("127.0.0.1", patient.port), 60) as connection:
        connection.sendall(b"GET /health HTTP/1.0\r\n\r\n")
        answer = b"".join(iter(lambda: connection.recv(4096), b""))
    assert answer.startswith(b"HTTP/1.1 200")
