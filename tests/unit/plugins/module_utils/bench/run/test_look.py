# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a first look at a target shows, and the keys that it takes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.run import look
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.run.doors import Door, doors
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.run.questions import Answer
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.bench.run.run_rounds import order


def door(**more: Any) -> Door:
    document = order()
    document["targets"][0].update(more)
    found, faults = doors(document)
    assert not faults
    return found["gateway"]


def answer(document: Any, status: int = 200) -> Answer:
    return Answer(status, json.dumps(document).encode())


@pytest.mark.parametrize(
    ("seen", "found", "wanted"),
    [
        (Answer(None, error="no connection: Connection refused"), "no answer to /v1/models: no connection", "OpenAI"),
        (
            answer({"error": {"message": "Unauthorized"}}, 401),
            "refuses requests without a key (HTTP 401: Unauth",
            "key",
        ),
        (answer({"data": [{"id": "A"}, {"id": "B"}]}), "that it serves A, B", "tiny-chat"),
        (answer({"data": []}), "that it serves no model", "tiny-chat"),
        (Answer(200, b"<html>It works!</html>"), "none of an OpenAI API (HTTP 200: <html>It works!", "list of models"),
        (answer({"models": [{"name": "tiny-chat"}]}), "none of an OpenAI API", "list of models"),
        (answer({"detail": "Not Found"}, 404), "none of an OpenAI API (HTTP 404: ", "list of models"),
        (answer([1]), "none of an OpenAI API", "list of models"),
    ],
)
def test_models(seen: Answer, found: str, wanted: str) -> None:
    fault = look.models_fault(door(), seen)
    assert fault is not None
    assert found in fault.found
    assert wanted in fault.wanted
    assert fault.variable == "target gateway (http://127.0.0.1:1)"


def test_the_right_name_is_no_fault() -> None:
    assert look.models_fault(door(), answer({"data": [{"id": "A"}, {"id": "tiny-chat"}]})) is None


def test_a_refused_key_is_named_by_its_file(tmp_path: Path) -> None:
    path = tmp_path / "key"
    path.write_text("sk-secret\n", encoding="ascii")
    opened = door(key_file=str(path))
    fault = look.models_fault(opened, answer({"error": {"message": "no"}}, 403))
    assert fault is not None
    assert f"refuses the key in {path} (HTTP 403: no)" in fault.found
    assert "sk-secret" not in repr(fault) + repr(opened)


@pytest.mark.parametrize(
    "document",
    [
        {"usage": {"completion_tokens": 16}, "choices": []},
        {"usage": {"output_tokens": 16}},
        {"choices": [{"message": {"content": "Hello"}}]},
        pytest.param({"choices": [{"message": {"content": None, "reasoning_content": "Hm"}}]}, id="B01"),
        pytest.param({"choices": [{"message": {"content": None, "reasoning": "Hm"}}]}, id="B01 by its new name"),
        {"choices": [{"text": " there"}]},
        {"output": [{"type": "message", "content": [{"type": "output_text", "text": "Hello"}]}]},
        {"output": [{"type": "reasoning", "content": [{"type": "reasoning_text", "text": "Hm"}]}]},
    ],
)
def test_tokens(document: dict[str, Any]) -> None:
    assert look.has_tokens(document)
    assert look.answer_fault(door(), "chat", answer(document)) is None


@pytest.mark.parametrize(
    ("seen", "found"),
    [
        pytest.param(answer({"choices": [{"message": {"content": ""}}]}), "without a token", id="B08"),
        pytest.param(answer({"choices": [], "usage": {"completion_tokens": 0}}), "without a token", id="B08 usage 0"),
        pytest.param(answer({"usage": None}), "without a token", id="B08 nothing"),
        pytest.param(answer({"error": {"message": "EngineCore died"}}), "HTTP 200: EngineCore died", id="B06"),
        (answer({"error": {"message": "EngineCore died"}}, 500), "HTTP 500: EngineCore died"),
        (answer({"detail": "Not Found"}, 404), "HTTP 404: "),
        (answer({"error": "no"}, 401), "refuses requests without a key"),
        (Answer(None, error="the client's own time-out"), "the client's own time-out"),
        (Answer(200, b"data: [DONE]"), "HTTP 200: data: [DONE]"),
    ],
)
def test_no_tokens(seen: Answer, found: str) -> None:
    fault = look.answer_fault(door(), "responses", seen)
    assert fault is not None
    assert found in fault.found
    assert fault.variable == "target gateway (http://127.0.0.1:1/v1/responses)"


@pytest.mark.parametrize(
    ("content", "found"),
    [(None, "No such file or directory"), ("", "with 0 words"), ("two words", "with 2 words"), ("ключ", "ASCII")],
)
def test_key_file(tmp_path: Path, content: str | None, found: str) -> None:
    path = tmp_path / "key"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    document = order()
    document["targets"][0]["engines"][0]["key_file"] = str(path)
    _doors, (fault,) = doors(document)
    assert fault.variable == "key file of target gateway"
    assert str(path) in fault.found
    assert found in fault.found


def test_engines_are_asked_without_the_proxy_of_the_target() -> None:
    found, _faults = doors(order(proxy="http://proxy:3128"))
    assert found["gateway"].target.proxy == "http://proxy:3128"
    assert [engine.proxy for engine in found["gateway"].engines] == [""]


@pytest.mark.parametrize(("endpoint", "key"), [("chat", "messages"), ("completions", "prompt"), ("responses", "input")])
def test_what_is_asked(endpoint: str, key: str) -> None:
    asked = look.short_ask(endpoint, "m")
    assert asked["model"] == "m"
    assert key in asked


ENGINE = {"replica": "main-0", "url": "http://127.0.0.1:2"}
AGAIN = "Deploy again, so that engine and host have one key"


@pytest.mark.parametrize(
    ("via", "given", "of_engine", "remedy"),
    [
        ("gateway", True, False, "Give its key by benchmark_api_key_file"),
        ("gateway", False, False, "Give its key by benchmark_api_key_file"),
        ("gateway", True, True, "Give its key by benchmark_api_key_file"),
        ("direct", True, True, AGAIN),
        ("direct", True, False, "Give its key by benchmark_api_key_file"),
        ("direct", False, False, f"Give its key by benchmark_api_key_file; behind a gateway: {AGAIN.lower()}"),
    ],
)
def test_what_helps_against_a_refused_key(tmp_path: Path, via: str, given: bool, of_engine: bool, remedy: str) -> None:
    """An engine behind a gateway has a key of its own, which is not the user's to give."""
    own, users = tmp_path / "engine.key", tmp_path / "users.key"
    for path in (own, users):
        path.write_text("sk-secret", encoding="ascii")
    key = str(own if of_engine and via == "direct" else users) if given else ""
    engines = [{**ENGINE, "key_file": str(own) if of_engine else ""}]
    opened = door(via=via, key_file=key, engines=engines)
    fault = look.models_fault(opened, answer({"error": "no"}, 401))
    assert fault is not None
    assert fault.remedy == remedy


def test_remedies_name_variables() -> None:
    wrong_name = look.models_fault(door(), answer({"data": [{"id": "A"}]}))
    no_endpoint = look.answer_fault(door(), "responses", answer({"detail": "Not Found"}, 404))
    assert wrong_name is not None
    assert wrong_name.remedy == "Correct serving_served_model_name, or deploy that model"
    assert no_endpoint is not None
    assert no_endpoint.remedy == "Leave responses out with benchmark_endpoints, or serve it"
