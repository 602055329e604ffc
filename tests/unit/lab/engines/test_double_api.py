# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The double's endpoints answer in vLLM's shapes, with exact counts."""

from __future__ import annotations

import http.client
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

NAME = "tiny"
USAGE = {"include_usage": True}


@pytest.fixture(scope="module")
def engine(serve: Callable[..., Any]) -> Any:
    """Return one double for the whole module."""
    more = ("--served-model-name", NAME, "second", "--max-model-len=512", "--enforce-eager", "--stream_interval", "7")
    return serve(*more).wait_ready()


@pytest.fixture(autouse=True)
def no_fault(engine: Any) -> Iterator[None]:
    """Leave no fault to the next test."""
    yield
    engine.clear()


def test_models_lists_every_served_name(engine: Any) -> None:
    models = engine.get("/v1/models").json()
    assert [model["id"] for model in models["data"]] == [NAME, "second"]
    assert {model["max_model_len"] for model in models["data"]} == {512}


@pytest.mark.parametrize("path", ["/health", "/ping"])
def test_health_is_an_empty_200(engine: Any, path: str) -> None:
    answer = engine.get(path)
    assert (answer.status, answer.text) == (200, "")


def test_version(engine: Any) -> None:
    assert engine.get("/version").json() == {"version": "0.32.0"}


def test_chat_has_the_tokens_that_were_asked_for(engine: Any) -> None:
    answer = engine.chat(max_tokens=7).json()
    choice = answer["choices"][0]
    assert choice["finish_reason"] == "length"
    assert len(choice["message"]["content"].split()) == 7
    assert answer["usage"]["completion_tokens"] == 7
    assert answer["usage"]["total_tokens"] == answer["usage"]["prompt_tokens"] + 7
    assert "-tp" not in answer["system_fingerprint"]


def test_max_completion_tokens_wins(engine: Any) -> None:
    assert engine.chat(max_completion_tokens=3).json()["usage"]["completion_tokens"] == 3


def test_an_answer_ends_by_itself_without_ignore_eos(engine: Any) -> None:
    answer = engine.chat(max_tokens=200, ignore_eos=False).json()
    assert answer["choices"][0]["finish_reason"] == "stop"
    assert answer["usage"]["completion_tokens"] < 200


def test_chat_stream_is_one_chunk_a_token_between_role_and_usage(engine: Any) -> None:
    events = engine.chat(stream=True, max_tokens=4, stream_options=USAGE).events()
    assert events[0]["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    contents = [event["choices"][0]["delta"]["content"] for event in events[1:5]]
    assert all(contents)
    assert events[4]["choices"][0]["finish_reason"] == "length"
    assert events[5]["choices"] == []
    assert events[5]["usage"]["completion_tokens"] == 4
    assert events[6:] == ["[DONE]"]


def test_a_stream_has_no_usage_unless_asked(engine: Any) -> None:
    assert not any("usage" in event for event in engine.chat(stream=True).events()[:-1])


def test_completion_whole_and_streamed_say_the_same(engine: Any) -> None:
    body = {"model": "second", "prompt": "hello", "max_tokens": 5, "ignore_eos": True}
    whole = engine.post("/v1/completions", body).json()
    events = engine.post("/v1/completions", {**body, "stream": True, "stream_options": USAGE}).events()
    streamed = "".join(event["choices"][0]["text"] for event in events[:-2])
    assert whole["choices"][0]["text"] == streamed
    assert whole["usage"] == events[-2]["usage"]
    assert whole["usage"]["completion_tokens"] == 5


def test_completion_of_several_prompts_and_tokens(engine: Any) -> None:
    body = {"model": NAME, "prompt": [[1, 2, 3], [4, 5]], "max_tokens": 2}
    answer = engine.post("/v1/completions", body).json()
    assert [choice["index"] for choice in answer["choices"]] == [0, 1]
    assert answer["usage"] == {"prompt_tokens": 5, "total_tokens": 9, "completion_tokens": 4}


def test_responses_whole_and_streamed(engine: Any) -> None:
    body = {"model": NAME, "input": "hello", "max_output_tokens": 3}
    whole = engine.post("/v1/responses", body).json()
    assert whole["status"] == "incomplete"
    assert whole["usage"]["output_tokens"] == 3
    events = engine.post("/v1/responses", {**body, "stream": True}).events()
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    assert events[0]["type"] == "response.created"
    assert events[-1]["type"] == "response.completed"
    deltas = "".join(event["delta"] for event in events if event["type"] == "response.output_text.delta")
    assert deltas == whole["output"][0]["content"][0]["text"]


def test_tokenize_counts_what_a_chat_is_billed(engine: Any) -> None:
    messages = [{"role": "user", "content": "hello there"}]
    counted = engine.post("/tokenize", {"model": NAME, "messages": messages}).json()
    assert counted["count"] == len(counted["tokens"]) == engine.chat().json()["usage"]["prompt_tokens"]


def test_metrics_count_tokens_with_the_model_name(engine: Any) -> None:
    def value(name: str) -> float:
        page = engine.get("/metrics").text
        line = next(line for line in page.splitlines() if line.startswith(f"vllm:{name}{{"))
        assert f'model_name="{NAME}"' in line
        return float(line.split()[-1])

    before = value("generation_tokens_total")
    engine.chat(max_tokens=9)
    assert value("generation_tokens_total") == before + 9
    assert value("num_requests_running") == value("num_requests_waiting") == 0
    assert value("prompt_tokens_total") == value("prefix_cache_queries_total") > value("prefix_cache_hits_total") == 0
    assert value("request_queue_time_seconds_count") > 0


def test_unknown_model(engine: Any) -> None:
    answer = engine.chat(model="nope")
    assert answer.status == 404
    error = answer.json()["error"]
    assert error == {
        "message": "The model `nope` does not exist. Valid aliases: tiny, second.",
        "type": "NotFoundError",
        "param": "model",
        "code": 404,
    }


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/chat/completions", b"{bad"),
        ("/v1/chat/completions", {"model": NAME}),
        ("/v1/chat/completions", {"model": NAME, "messages": [{"role": "user"}], "max_tokens": 0}),
        ("/v1/completions", {"model": NAME, "prompt": "x", "max_tokens": 5000}),
        ("/v1/completions", {"model": NAME, "prompt": "x " * 600}),
        ("/v1/completions", {"model": NAME}),
        ("/v1/responses", [1]),
    ],
)
def test_bad_requests_get_400_in_the_error_shape(engine: Any, path: str, body: Any) -> None:
    answer = engine.post(path, body)
    assert answer.status == 400
    assert answer.json()["error"]["code"] == 400


def test_unknown_path_and_method(engine: Any) -> None:
    assert (engine.get("/nope").status, engine.get("/v1/completions").status) == (404, 405)


def test_hundreds_of_streams_at_once(engine: Any) -> None:
    with ThreadPoolExecutor(100) as pool:
        answers = list(pool.map(lambda _n: engine.chat(stream=True, max_tokens=8, stream_options=USAGE), range(200)))
    assert {answer.events()[-2]["usage"]["completion_tokens"] for answer in answers} == {8}


def test_an_idle_double_is_small(engine: Any) -> None:
    status = Path(f"/proc/{engine.process.pid}/status").read_text(encoding="utf-8")
    resident = int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1])
    assert resident < 40 << 10  # KiB, after hundreds of streams


class TestFaults:
    """Faults that the control port turns on while the engine serves."""

    def test_first_generation_fails_while_health_is_fine(self, engine: Any) -> None:
        engine.fault("generation-500")
        answer = engine.chat()
        assert answer.status == 500
        assert "InvalidCxxCompiler" in answer.json()["error"]["message"]
        assert engine.get("/health").status == 200
        assert engine.chat().status == 200

    def test_hang_makes_no_token_and_ends_when_cleared(self, engine: Any) -> None:
        engine.fault("hang")
        with pytest.raises(TimeoutError):
            engine.chat(timeout=0.5)
        assert engine.get("/health").status == 200
        engine.clear()
        assert engine.chat().status == 200

    def test_a_hung_request_counts_as_running(self, engine: Any) -> None:
        engine.fault("hang")
        with pytest.raises(TimeoutError):
            engine.chat(stream=True, timeout=0.3)
        assert "vllm:num_requests_running" in engine.get("/metrics").text

    def test_error_line_in_a_200_stream(self, engine: Any) -> None:
        engine.fault("stream-error", after=1)
        answer = engine.chat(stream=True)
        assert answer.status == 200
        assert answer.events()[-2]["error"]["code"] == 500
        assert answer.events()[-1] == "[DONE]"

    def test_truncated_stream(self, engine: Any) -> None:
        engine.fault("truncate")
        with pytest.raises((http.client.IncompleteRead, ConnectionError)):
            engine.chat(stream=True)

    def test_no_usage(self, engine: Any) -> None:
        engine.fault("no-usage")
        assert "usage" not in engine.chat().json()
        assert not any("usage" in event for event in engine.chat(stream=True, stream_options=USAGE).events()[:-1])

    @pytest.mark.parametrize("field", ["reasoning", "reasoning_content"])
    def test_reasoning_comes_in_a_field_of_its_own(self, engine: Any, field: str) -> None:
        engine.fault("reasoning", field=field, tokens=2)
        deltas = [event["choices"][0]["delta"] for event in engine.chat(stream=True, max_tokens=3).events()[1:-1]]
        assert [list(delta) for delta in deltas] == [[field], [field], ["content"]]
        message = engine.chat(max_tokens=2).json()["choices"][0]["message"]
        assert message["content"] is None
        assert len(message[field].split()) == 2

    def test_several_tokens_in_a_chunk_are_counted_one_by_one(self, engine: Any) -> None:
        engine.fault("tokens-per-chunk", count=4)
        events = engine.chat(stream=True, max_tokens=10, stream_options=USAGE).events()
        assert len(events) == 1 + 3 + 2  # role; 4 + 4 + 2 tokens; usage and end
        assert events[-2]["usage"]["completion_tokens"] == 10

    def test_role_only_first_chunk(self, engine: Any) -> None:
        engine.fault("role-only-first-chunk")
        assert engine.chat(stream=True).events()[0]["choices"][0]["delta"] == {"role": "assistant"}

    def test_wrong_name(self, engine: Any) -> None:
        engine.fault("wrong-name", name="other")
        assert [model["id"] for model in engine.get("/v1/models").json()["data"]] == ["other"]
        assert engine.chat().status == 404

    def test_health_503(self, engine: Any) -> None:
        engine.fault("health-503")
        assert engine.get("/health").status == 503
        assert engine.chat().status == 200

    def test_no_metrics(self, engine: Any) -> None:
        engine.fault("no-metrics")
        assert engine.get("/metrics").status == 404

    def test_slow_tokens(self, engine: Any) -> None:
        engine.fault("slow-tokens", tokens_per_second=0.01)
        with pytest.raises(TimeoutError):
            engine.chat(timeout=0.5)

    @pytest.mark.parametrize(
        ("name", "parameters"),
        [("nope", {}), ("hang", {"x": 1}), ("truncate", {"after": "2"}), ("exit", {"stage": "lunch"})],
    )
    def test_the_control_port_refuses_what_it_does_not_know(self, engine: Any, name: str, parameters: Any) -> None:
        with pytest.raises(AssertionError):
            engine.fault(name, **parameters)
