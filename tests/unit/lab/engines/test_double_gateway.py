# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a gateway meets at the double: its key, its store of responses, and counts of what became of requests."""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

Start = Callable[..., Any]
NAME = "tiny"
KEY = "example-engine-key"
INPUT = {"model": NAME, "input": "hello", "max_output_tokens": 3}


@pytest.fixture(scope="module")
def keyed(serve: Start) -> Any:
    return serve(VLLM_API_KEY=KEY).wait_ready()


@pytest.fixture(scope="module")
def stores(serve: Start) -> list[Any]:
    """Two engines with a store, as behind one gateway."""
    started = [serve(VLLM_ENABLE_RESPONSES_API_STORE="1") for _engine in range(2)]
    return [engine.wait_ready() for engine in started]


@pytest.fixture(scope="module")
def engine(serve: Start) -> Any:
    return serve(DOUBLE_TOKENS_PER_SECOND="100").wait_ready()


@pytest.fixture(autouse=True)
def fresh(engine: Any) -> Iterator[None]:
    """Leave neither counts nor faults to the next test."""
    engine.forget()
    yield
    engine.clear()


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v1/models", 401),
        ("GET", "/v1/responses/resp_1", 401),
        ("GET", "/v1/no-such-path", 401),
        ("GET", "/v1/chat/completions", 401),
        ("GET", "/v2/anything", 401),
        ("OPTIONS", "/v1/models", 405),
        ("GET", "/health", 200),
        ("GET", "/metrics", 200),
        ("GET", "/version", 200),
        ("GET", "/nowhere", 404),
    ],
)
def test_g13_which_paths_ask_for_the_key(keyed: Any, method: str, path: str, status: int) -> None:
    answer = keyed.ask(method, path)
    assert answer.status == status
    if status == 401:
        assert answer.json() == {"error": "Unauthorized"}
        assert keyed.ask(method, path, token=f"{KEY}x").status == 401
        assert keyed.ask(method, path, token=KEY).status != 401


def test_g10_a_chain_stays_with_its_engine(stores: list[Any]) -> None:
    mine, other = stores
    first = mine.post("/v1/responses", INPUT).json()
    second = mine.post("/v1/responses", {**INPUT, "previous_response_id": first["id"]}).json()
    assert (second["previous_response_id"], second["object"]) == (first["id"], "response")
    # What was said before is part of the prompt.
    assert second["usage"]["input_tokens"] > first["usage"]["input_tokens"]
    assert mine.get(f"/v1/responses/{first['id']}").json() == first
    for answer in (
        other.get(f"/v1/responses/{first['id']}"),
        other.post("/v1/responses", {**INPUT, "previous_response_id": first["id"]}),
        other.post(f"/v1/responses/{first['id']}/cancel", None),
    ):
        assert answer.status == 404
        assert answer.json()["error"] == {
            "message": f"Response with id '{first['id']}' not found.",
            "type": "invalid_request_error",
            "param": "response_id",
            "code": 404,
        }


def test_g10_a_streamed_response_is_stored_as_well(stores: list[Any]) -> None:
    events = stores[0].post("/v1/responses", {**INPUT, "stream": True}).events()
    whole = events[-1]["response"]
    assert stores[0].get(f"/v1/responses/{whole['id']}").json() == whole


def test_g10_what_is_not_to_be_stored_is_not(stores: list[Any], engine: Any) -> None:
    unwanted = stores[0].post("/v1/responses", {**INPUT, "store": False}).json()
    assert stores[0].get(f"/v1/responses/{unwanted['id']}").status == 404
    # Off by default, and in silence.
    lost = engine.post("/v1/responses", {**INPUT, "store": True})
    assert lost.status == 200
    assert engine.get(f"/v1/responses/{lost.json()['id']}").status == 404
    refused = engine.post("/v1/responses", {**INPUT, "background": True})
    assert (refused.status, refused.json()["error"]["param"]) == (400, "background")


def test_a_whole_response_cannot_be_cancelled(stores: list[Any]) -> None:
    response = stores[0].post("/v1/responses", INPUT).json()
    answer = stores[0].post(f"/v1/responses/{response['id']}/cancel", None)
    assert (answer.status, answer.json()["error"]["message"]) == (400, "Cannot cancel a synchronous response.")


def test_counts(engine: Any, keyed: Any) -> None:
    engine.chat()
    engine.chat(stream=True)
    engine.fault("generation-500", times=2)
    assert [engine.chat(stream=stream).status for stream in (False, True)] == [500, 500]
    engine.fault("stream-error", after=1)
    engine.chat(stream=True)
    assert engine.post("/v1/chat/completions", {"model": "other", "messages": []}).status == 404
    found = engine.counts()
    assert found["requests"] == {"POST /v1/chat/completions": 6}
    assert found["generations"] == {"asked": 5, "finished": 2, "failed": 3, "aborted": 0}
    keyed.forget()
    keyed.get("/v1/models")
    assert (keyed.counts()["refused"], keyed.counts()["requests"]) == (1, {"GET /v1/models": 1})


@pytest.mark.parametrize("fault", [{}, {"hang": {}}], ids=["generating", "hanging"])
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_g09_a_client_that_leaves_ends_its_generation(
    engine: Any, until: Start, stream: bool, fault: dict[str, Any]
) -> None:
    for name, parameters in fault.items():
        engine.fault(name, **parameters)
    connection = http.client.HTTPConnection("127.0.0.1", engine.port, timeout=60)
    body = {"model": NAME, "messages": [{"role": "user", "content": "hello"}], "max_tokens": 400, "ignore_eos": True}
    connection.request("POST", "/v1/chat/completions", json.dumps({**body, "stream": stream}))
    until(lambda: _running(engine), "a generation")
    connection.close()
    until(lambda: engine.counts()["generations"]["aborted"] == 1, "its end")
    assert engine.counts()["generations"] == {"asked": 1, "finished": 0, "failed": 0, "aborted": 1}
    until(lambda: not _running(engine), "nothing left of it")


def _running(engine: Any) -> bool:
    page = engine.get("/metrics").text.splitlines()
    line = next(line for line in page if line.startswith("vllm:num_requests_running{"))
    return line.split()[-1] != "0.0"


def test_g08_models_can_be_missing_while_health_is_fine(engine: Any) -> None:
    engine.fault("models-503")
    assert (engine.get("/health").status, engine.get("/v1/models").status) == (200, 503)


def test_one_path_generates_without_a_key(keyed: Any) -> None:
    body = {"model": NAME, "prompt": "hello", "max_tokens": 2}
    assert keyed.post("/v1/completions", body).status == 401
    assert keyed.post("/invocations", body).json()["usage"]["completion_tokens"] == 2
    chat = keyed.post("/invocations", {"messages": [{"role": "user", "content": "hello"}], "max_tokens": 2})
    assert chat.json()["object"] == "chat.completion"
