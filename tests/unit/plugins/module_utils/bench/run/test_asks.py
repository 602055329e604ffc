# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The requests of a round, and the tokens that are counted after it."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.ask import Ask
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.run import tokens
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.run.asks import Asks, Talks
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.run.doors import Door, doors
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.run.questions import Answer
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.bench.run.run_rounds import CASE, order, spec

RUN = order()["run"]
TALK = {**CASE, "name": "multi-turn.en", "conversations": [["One?", "Two?"], ["Three?", "Four?"]]}
del TALK["prompts"]


def asks(
    case: dict[str, Any] | None = None,
    run: dict[str, Any] | None = None,
    continuous_usage: bool = False,
    **more: Any,
) -> Asks:
    return Asks(spec(**more), case or CASE, "tiny-chat", run or RUN, None, continuous_usage=continuous_usage)


def text_of(ask: Ask) -> str:
    document = json.loads(ask.body)
    return str(document.get("prompt") or (document.get("messages") or document["input"])[-1]["content"])


def first(number: int, made: Asks) -> list[Ask]:
    return list(itertools.islice(made.singles(None), number))


def test_no_two_requests_of_a_run_and_no_two_runs_share_the_begin_of_a_prompt() -> None:
    texts = [text_of(ask) for ask in first(20, asks())]
    texts += [text_of(ask) for ask in first(20, asks(round_id="0002"))]
    texts += [text_of(ask) for ask in first(20, asks(run={**RUN, "nonce": "fedcba9876543210"}))]
    assert len({text[:12] for text in texts}) == 60


def test_requests_never_end_and_are_the_same_in_a_repeated_order() -> None:
    assert [ask.id for ask in first(30, asks())] == list(range(30))
    assert first(30, asks()) == first(30, asks())


@pytest.mark.parametrize(
    ("endpoint", "path", "length"),
    [
        ("chat", "/v1/chat/completions", "max_tokens"),
        ("completions", "/v1/completions", "max_tokens"),
        ("responses", "/v1/responses", "max_output_tokens"),
    ],
)
def test_endpoint(endpoint: str, path: str, length: str) -> None:
    (ask,) = first(1, asks(endpoint=endpoint))
    body = json.loads(ask.body)
    assert (ask.path, ask.endpoint, ask.stream, ask.requested_tokens) == (path, endpoint, True, 8)
    assert (body["model"], body[length], body["ignore_eos"]) == ("tiny-chat", 8, True)
    assert text_of(ask).endswith("Name a river.")


def test_a_natural_end_asks_for_no_number_of_tokens() -> None:
    (ask,) = first(1, asks({**CASE, "output": {"mode": "natural", "tokens": 64}}))
    assert ask.requested_tokens is None


@pytest.mark.parametrize("wished", [False, True])
def test_the_count_with_each_piece_is_asked_for_when_it_is_wished(wished: bool) -> None:
    (ask,) = first(1, asks(continuous_usage=wished))
    more = {"continuous_usage_stats": True} if wished else {}
    assert json.loads(ask.body)["stream_options"] == {"include_usage": True, **more}


def test_an_open_load_has_a_schedule_and_an_end() -> None:
    load = {"model": "open", "rate": 4.0, "share": None, "requests": 9}
    made = list(asks(load=load).singles(4.0))
    due = [ask.due for ask in made]
    assert len(made) == 9
    assert None not in due
    assert due == sorted(due)  # type: ignore[type-var]
    other = [ask.due for ask in asks(load=load, run={**RUN, "seed": 2}).singles(4.0)]
    assert due != other
    again = list(asks(load=load, run={**RUN, "nonce": "fedcba9876543210-1"}).singles(4.0))
    assert [ask.due for ask in again] == due
    # Another start has other prompts, and they are as long.
    assert [len(ask.body) for ask in again] == [len(ask.body) for ask in made]
    assert {ask.body for ask in again}.isdisjoint(ask.body for ask in made)


def test_a_conversation_sends_all_that_was_said() -> None:
    assert asks(TALK).is_talk
    assert not asks().is_talk
    talks = Talks(asks(TALK))
    one, two = talks.next(0), talks.next(1)
    assert [text_of(one)[-4:], text_of(two)[-6:]] == ["One?", "Three?"]
    talks.heard(two, "drei")
    talks.heard(one, "eins")
    again = talks.next(0)
    said = json.loads(again.body)["messages"]
    assert [message["role"] for message in said] == ["user", "assistant", "user"]
    assert [message["content"] for message in said[1:]] == ["eins", "Two?"]
    assert said[0] == json.loads(one.body)["messages"][0]
    talks.heard(again, "zwei")
    fresh = talks.next(0)
    assert len(json.loads(fresh.body)["messages"]) == 1
    assert text_of(fresh) != text_of(one)
    assert sorted({one.id, two.id, again.id, fresh.id}) == [0, 1, 2, 3]


def test_a_conversation_without_an_answer_ends() -> None:
    talks = Talks(asks(TALK))
    one = talks.next(0)
    talks.heard(one, "")
    assert len(json.loads(talks.next(0).body)["messages"]) == 1


class Counting:
    """A /tokenize that counts words."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, knows: bool = True) -> None:
        self.asked: list[dict[str, Any]] = []

        def count(_door: Door, document: dict[str, Any]) -> int | None:
            self.asked.append(document)
            text = document.get("prompt") or document["messages"][0]["content"]
            return len(text.split()) if knows else None

        monkeypatch.setattr(tokens, "count", count)


def door() -> Door:
    return doors(order())[0]["gateway"]


def nobody(_text: str) -> None:
    pass


def _alone() -> dict[str, Any]:
    """A target whose engines cannot be reached."""
    return {**order()["targets"][0], "engines": []}


def record(**more: Any) -> dict[str, Any]:
    return {
        "tokens": {"prompt": None, "completion": None, "reasoning": None, "cached": None},
        "token_source": "none", "error": None, "t_first": 1.0, "t_last": 1.6, "first_chunk_tokens": 1,
        "tpot_ms": None, "text": "one two three four", "requested_tokens": None, "finish": "length", "status": 200,
        "sample": "", **more,
    }  # fmt: skip


def test_b04_missing_usage_is_counted_by_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    Counting(monkeypatch)
    one, told = record(), []
    tokens.fill_in(door(), [one], told.append)
    assert told == ["counting tokens"]
    assert (one["tokens"]["completion"], one["token_source"], one["tpot_ms"]) == (4, "tokenize", 200.0)
    assert "text" not in one


@pytest.mark.parametrize(
    "more",
    [
        {"token_source": "usage", "tokens": {"completion": 17}},
        {"error": {"kind": "truncated", "status": 200, "message": "cut"}},
        {"text": ""},
    ],
)
def test_other_answers_are_left_as_they_are(monkeypatch: pytest.MonkeyPatch, more: dict[str, Any]) -> None:
    counting = Counting(monkeypatch)
    one = record(**more)
    before = {key: value for key, value in one.items() if key != "text"}
    told: list[str] = []
    tokens.fill_in(door(), [one], told.append)
    assert one == before
    assert counting.asked == told == []


def test_tokens_that_nobody_counts_stay_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    counting = Counting(monkeypatch, knows=False)
    one, other = record(), record()
    tokens.fill_in(door(), [one, other], nobody)
    assert (one["tokens"]["completion"], one["token_source"], one["tpot_ms"]) == (None, "none", None)
    # Who does not say it of the first answer is not asked about the others.
    assert len(counting.asked) == 1
    assert "text" not in other


def test_an_engine_whose_tokenize_hangs_is_asked_once_in_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def post(engine: Any, _path: str, _document: Any, seconds: float) -> Answer:
        asked.append((engine.url, seconds))
        return Answer(None, error="no answer") if engine.url.endswith(":1") else Answer(200, b'{"count": 4}')

    monkeypatch.setattr(tokens, "post", post)
    entry = order()["targets"][0]
    engines = [{"replica": f"main-{number}", "url": f"http://127.0.0.1:{number}"} for number in (1, 2)]
    two = doors({**order(), "targets": [{**entry, "engines": engines}]})[0]["gateway"]
    records = [record(), record()]
    for one in records:
        tokens.fill_in(two, [one], nobody)
    assert [one["token_source"] for one in records] == ["tokenize"] * 2
    assert [url[-1] for url, _seconds in asked] == ["1", "2", "2"]
    assert {seconds for _url, seconds in asked} == {10.0}


@pytest.mark.parametrize("tokenizer", [True, False])
def test_b06_a_short_answer_without_usage_is_a_failure(monkeypatch: pytest.MonkeyPatch, tokenizer: bool) -> None:
    Counting(monkeypatch, knows=tokenizer)
    one = record(requested_tokens=64, finish="stop")
    tokens.fill_in(door() if tokenizer else doors(order(targets=[_alone()]))[0]["gateway"], [one], nobody)
    assert one["error"]["kind"] == "short_output"
    assert one["error"]["status"] == 200
    assert "where exactly 64 " in one["error"]["message"]
    assert one["sample"] == "one two three four"


@pytest.mark.parametrize(
    ("number", "first_chunk", "t_first", "expected"),
    [
        pytest.param(17, 1, 0.0, 62.5, id="B12"),
        pytest.param(17, 1, 1.0, None, id="all at once"),
        (2, 1, 0.0, 1000.0),
        (1, 1, 0.0, None),
        (3, 3, 0.0, None),
        (4, 1, None, None),
        (None, 1, 0.0, None),
    ],
)
def test_tpot(number: int | None, first_chunk: int, t_first: float | None, expected: float | None) -> None:
    one = record(tokens={"completion": number}, first_chunk_tokens=first_chunk, t_first=t_first, t_last=1.0)
    assert tokens.tpot_ms(one) == expected


@pytest.mark.parametrize(("endpoint", "key"), [("chat", "messages"), ("completions", "prompt")])
def test_a_case_is_sized_by_the_tokens_of_the_server(monkeypatch: pytest.MonkeyPatch, endpoint: str, key: str) -> None:
    counting = Counting(monkeypatch)
    found = tokens.fit_case(door(), {**CASE, "prompt_tokens": 500}, endpoint, "n")
    assert found.tokens is not None
    assert abs(found.tokens - 500) <= 5
    assert all(key in document for document in counting.asked)


def test_without_a_server_that_counts_a_size_is_guessed(monkeypatch: pytest.MonkeyPatch) -> None:
    Counting(monkeypatch, knows=False)
    found = tokens.fit_case(door(), {**CASE, "prompt_tokens": 500}, "chat", "n")
    assert found.tokens is None
    assert found.words is not None and found.words > 100
    assert tokens.fit_case(door(), CASE, "chat", "n").words is None


class Tokenizing:
    """A server that gives each word of a prompt a token, behind the head of its chat template."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, head: int, **more: Any) -> None:
        self.asked: list[dict[str, Any]] = []

        def post(_engine: object, path: str, document: dict[str, Any], _seconds: float) -> Answer:
            assert path == "/tokenize"
            self.asked.append(document)
            template = [f"<{number}>" for number in range(head)] if "messages" in document else ["<s>"]
            text = document.get("prompt") or document["messages"][0]["content"]
            known = {"tokens": [*template, *text.split()], **more}
            return Answer(200, json.dumps({key: value for key, value in known.items() if value is not None}).encode())

        monkeypatch.setattr(tokens, "post", post)


@pytest.mark.parametrize(
    ("case", "endpoint", "head", "more", "expected"),
    [
        pytest.param({}, "chat", 70, {}, 70, id="gpt-oss"),
        pytest.param({}, "responses", 70, {}, 70, id="responses"),
        pytest.param({}, "chat", 0, {}, 0, id="none"),
        pytest.param({}, "completions", 70, {}, 1, id="no template"),
        pytest.param({"prompt_tokens": 500}, "chat", 20, {"count": 500}, 20, id="with a size"),
        pytest.param({"cache": "warm"}, "chat", 70, {}, None, id="warm on purpose"),
        pytest.param({}, "chat", 70, {"tokens": None, "count": 99}, None, id="a count alone"),
        pytest.param({}, "chat", 70, {"tokens": list(range(99))}, None, id="the same for any prompt"),
        pytest.param({}, "chat", 70, {"tokens": []}, None, id="no tokens"),
    ],
)
def test_the_head_of_the_chat_template_is_what_prompts_with_other_nonces_share(
    monkeypatch: pytest.MonkeyPatch,
    case: dict[str, Any],
    endpoint: str,
    head: int,
    more: dict[str, Any],
    expected: int | None,
) -> None:
    server = Tokenizing(monkeypatch, head, **more)
    assert tokens.fit_case(door(), {**CASE, **case}, endpoint, "n").head == expected
    if case.get("cache") == "warm":
        assert server.asked == []


def test_without_an_engine_the_head_is_not_known() -> None:
    alone = doors(order(targets=[{**order()["targets"][0], "engines": []}]))[0]["gateway"]
    assert tokens.fit_case(alone, CASE, "chat", "n").head is None
