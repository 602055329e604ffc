# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What nginx does in its own way: one limit, passive health, keys as patterns, a log through syslog."""

from __future__ import annotations

import contextlib
import socket
import subprocess

import pytest

from tests.gateway.clients import CHAT, Answer, Client
from tests.gateway.engines import MockEngine, wait_until
from tests.gateway.load import at_once
from tests.gateway.serving import KEYS, Gateway, Serve

pytestmark = pytest.mark.only("nginx")


def ask(gateway: Gateway, method: str, path: str, key: str = KEYS["laptop"]) -> Answer:
    """Ask without a body."""
    return gateway.client.send(method, path, headers={"authorization": f"Bearer {key}"} if key else {})


def test_more_than_limit_and_queue_is_429_at_once(serve: Serve) -> None:
    gateway = serve(1, concurrency=2, queue=2)
    answers = at_once(12, lambda place: gateway.client.chat(mock={"first": 1.0}))
    refused = [answer for answer in answers if answer.status != 200]
    assert [answer.status for answer in answers].count(200) == 4
    assert {answer.status for answer in refused} == {429}
    assert {answer.headers["retry-after"] for answer in refused} == {"1"}
    assert {answer.json["error"]["code"] for answer in refused} == {"queue_full"}


@pytest.mark.parametrize(
    ("key", "code"),
    [("", "missing_api_key"), ("sk-other", "invalid_api_key"), (KEYS["ci"].upper(), "invalid_api_key")],
    ids=["missing", "wrong", "other-case"],
)
def test_keys(gateway: Gateway, key: str, code: str) -> None:
    answer = ask(gateway, "GET", "/v1/models", key)
    assert (answer.status, answer.json["error"]["code"]) == (401, code)


def test_a_key_may_stand_in_x_api_key(gateway: Gateway) -> None:
    headers = {"x-api-key": KEYS["ci"], "content-type": "application/json"}
    assert gateway.client.send("POST", CHAT, gateway.client.body(), headers=headers).status == 200


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/health", 200),
        ("GET", "/v1/models/tiny-chat", 200),
        ("GET", "/v1/models/other", 404),
        ("GET", "/metrics", 404),
        ("GET", "/v1/responses/../../metrics", 404),
        ("GET", "/v1/responses/..%2f..%2fmetrics", 404),
        ("POST", "/tokenize", 404),
        ("GET", CHAT, 404),
        ("GET", "/health/doors", 404),
    ],
)
def test_what_is_let_through(gateway: Gateway, method: str, path: str, status: int) -> None:
    answer = ask(gateway, method, path)
    assert (answer.status, answer.headers["content-type"]) == (status, "application/json")
    assert answer.json


def test_a_body_that_is_too_large_is_413(serve: Serve) -> None:
    gateway = serve(1, body_limit=1000)
    answer = gateway.client.chat(padding="x" * 2000)
    assert (answer.status, answer.json["error"]["code"]) == (413, "body_too_large")


def test_without_a_replica_503_names_them_and_health_says_so(serve: Serve) -> None:
    gateway = serve(2)
    for engine in gateway.engines:
        engine.kill()
    answer = gateway.client.chat()
    assert (answer.status, answer.headers["retry-after"]) == (503, "1")
    assert "none of chat-0 on spark1, chat-1 on spark1 answers" in answer.message
    assert ask(gateway, "GET", "/health", "").status == 503
    assert "chat-0" in gateway.client.send("POST", "/v1/responses", b"{}").message
    gateway.engines[1].start()
    gateway.wait_rotation({"chat-1"})
    assert ask(gateway, "GET", "/health", "").status == 200


def test_a_host_that_does_not_answer_costs_no_request(serve: Serve) -> None:
    # Nobody takes connections here, and no more fit into the queue of those that wait: as from a host that is off.
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen(0)
        port = silent.getsockname()[1]
        waiting = [socket.socket() for number in range(4)]
        for one in waiting:
            one.setblocking(False)
            one.connect_ex(("127.0.0.1", port))

        gateway = serve(1, connect_timeout=1)
        deployment = gateway.started.description["deployments"][0]
        off = {**deployment["replicas"][0], "name": "chat-off", "port": port}
        both = [{**deployment, "replicas": [off, *deployment["replicas"]]}]
        gateway.started.reload({**gateway.started.description, "deployments": both})
        answers = at_once(4, lambda place: gateway.client.chat())
        for one in waiting:
            one.close()
    assert [answer.status for answer in answers] == [200] * 4
    assert gateway.engines[0].seen()["generations"] >= 4


def test_an_engine_that_dies_under_a_request_is_asked_elsewhere_before_the_first_byte(gateway: Gateway) -> None:
    before = {engine.name: engine.seen()["generations"] for engine in gateway.engines}

    def one(place: int) -> Answer:
        if place == 2:
            _wait_running(gateway.engines[0])
            gateway.engines[0].kill()
            return Answer(200, {}, b"", 0.0)
        return gateway.client.chat(mock={"first": 1.0})

    assert [answer.status for answer in at_once(3, one)] == [200] * 3
    assert gateway.engines[1].seen()["generations"] == before["chat-1"] + 2


def _wait_running(engine: MockEngine) -> None:
    while not engine.seen()["running"]:
        pass


def test_log_has_the_keys_name_and_no_prompt(serve: Serve) -> None:
    gateway = serve(1)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as log:
        path = gateway.started.folder / "log.sock"
        log.bind(str(path))
        path.chmod(0o666)
        configuration = gateway.started.folder / "nginx.conf"
        text = configuration.read_text(encoding="utf-8")
        assert "unix:/dev/log," in text
        configuration.write_text(text.replace("unix:/dev/log,", f"unix:{path},"), encoding="utf-8")
        gateway.started.reload()
        log.setblocking(False)
        said: list[str] = []

        def told() -> bool:
            gateway.client.send("POST", f"{CHAT}?api_key=in-query", gateway.client.body(user="a-secret-prompt"))
            with contextlib.suppress(BlockingIOError):
                said.append(log.recv(4096).decode())
            return bool(said)

        wait_until(told, "the reloaded nginx writes its log")
    assert f" laptop POST {CHAT} 200 127.0.0.1:{gateway.engines[0].port} " in said[0]
    for secret in ("a-secret-prompt", "in-query", KEYS["laptop"], "engine-key-3"):
        assert secret not in said[0] + gateway.started.log.read_text(encoding="utf-8")


def test_g06_a_name_that_cannot_be_resolved_fails_the_check_and_the_old_gateway_stays(serve: Serve) -> None:
    gateway = serve(1)
    deployment = gateway.started.description["deployments"][0]
    gone = {**deployment["replicas"][0], "name": "chat-gone", "address": "spark-gone.invalid"}
    both = [{**deployment, "replicas": [*deployment["replicas"], gone]}]
    with pytest.raises(AssertionError, match="host not found in upstream"):
        gateway.started.reload({**gateway.started.description, "deployments": both})
    assert gateway.client.chat().status == 200


def test_tls(serve: Serve) -> None:
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=gateway"]
    made = subprocess.run([*command, "-keyout", "-"], capture_output=True, text=True, check=True)
    gateway = serve(1, tls="given", certificate=made.stdout)
    assert Client(gateway.started.url, KEYS["laptop"]).chat(stream=True).status == 200
