# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Prompts: no two are alike, each begins with its nonce, and all of a case are about as long."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.cases import filler, prompts


def case(language: str = "en", **more: Any) -> dict[str, Any]:
    questions = {
        "en": ["Why is it so?", "How long does it take to walk to the harbour?"],
        "zh": ["为什么?", "走到港口要多久?"],
    }
    good = {"language": language, "prompt_tokens": 256, "shared_prefix": False, "prompts": questions[language]}
    return {**good, **more}


def talk(**more: Any) -> dict[str, Any]:
    without = {key: value for key, value in case(**more).items() if key != "prompts"}
    return {**without, "conversations": [["Hello.", "And then?", "Thanks."], ["Good day.", "Why?"]]}


def text(made: dict[str, Any], number: int, nonce: str, words: int | None) -> str:
    (message,) = prompts.messages_for(made, number, nonce, words)
    assert message["role"] == "user"
    return message["content"]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_b_row_9_the_nonce_is_the_very_first_text(language: str) -> None:
    """Else the engine's prefix cache answers (vllm-project/vllm#54227: TTFT 49 times smaller on a DGX Spark)."""
    for words in (None, 0, 50):
        one, other = (text(case(language), 0, nonce, words) for nonce in ("aaaa", "bbbb"))
        assert one.startswith("aaaa")
        assert one[4:] == other[4:]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_b_row_9_a_shared_prefix_is_alike_up_to_the_nonce(language: str) -> None:
    made = case(language, shared_prefix=True)
    one, other = (text(made, number, nonce, 80) for number, nonce in ((0, "aaaa"), (1, "bbbb")))
    before = one.index("aaaa")
    assert before > 80
    assert one[:before] == other[:before]
    assert other[before:].startswith("bbbb")


def test_b_row_9_no_nonce_comes_twice() -> None:
    names = [f"{run}-{number:04d}-{request}" for run in "ab" for number in range(20) for request in range(50)]
    assert len({prompts.nonce_text(name) for name in names}) == len(names)
    assert len(prompts.nonce_text("a")) == 12
    assert int(prompts.nonce_text("a"), 16) >= 0


def test_the_questions_follow_each_other() -> None:
    made = case()
    ends = [text(made, number, "n", 10).splitlines()[-1] for number in range(3)]
    assert ends == [made["prompts"][0], made["prompts"][1], made["prompts"][0]]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_prompts_of_a_case_are_equally_long(language: str) -> None:
    made = case(language)
    sizes = {filler.size_of(language, text(made, number, "n", 40)) for number in range(2)}
    assert len(sizes) == 1


@pytest.mark.parametrize("language", ["en", "zh"])
def test_more_filler_is_a_longer_prompt(language: str) -> None:
    sizes = [filler.size_of(language, text(case(language), 1, "n", words)) for words in range(0, 600, 7)]
    assert sizes == sorted(set(sizes))


def test_no_size_no_filler() -> None:
    assert text(case(prompt_tokens=None), 0, "n", None) == "n\n\nWhy is it so?"
    assert prompts.guessed_words(case(prompt_tokens=None)) is None


@pytest.mark.parametrize(("language", "tokens"), [("en", 2048), ("zh", 2048), ("en", 128)])
def test_without_a_counting_engine_the_size_is_guessed(language: str, tokens: int) -> None:
    words = prompts.guessed_words(case(language, prompt_tokens=tokens))
    assert words is not None
    size = filler.size_of(language, text(case(language), 1, "n", words))
    assert 0.6 * tokens < size * {"en": 1.3, "zh": 0.7}[language] < 1.4 * tokens


def test_a_prompt_longer_than_wished_has_no_filler() -> None:
    assert prompts.guessed_words(case(prompt_tokens=8)) == 0


def test_a_conversation_has_its_nonce_in_the_first_turn_alone() -> None:
    turns = prompts.turns_for(talk(), 0, "nonce", None)
    assert [[message["content"] for message in turn] for turn in turns] == [
        ["nonce\n\nHello."],
        ["And then?"],
        ["Thanks."],
    ]
    assert prompts.messages_for(talk(), 0, "nonce", None) == turns[0]
    assert len(prompts.turns_for(talk(), 1, "nonce", None)) == 2


def test_messages_as_one_text() -> None:
    said = [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Yes?"}]
    assert prompts.prompt_text(said) == "Hello.\n\nYes?"


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("size", [0, 1, 23, 500, 7000])
def test_the_filler_has_its_size_and_begins_alike(language: str, size: int) -> None:
    found = filler.filler(language, size)
    assert filler.size_of(language, found) == size
    assert filler.filler(language, size + 50).startswith(found)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_filler_does_not_repeat_itself(language: str) -> None:
    mark = "。" if language == "zh" else ". "
    sentences = filler.filler(language, 6000).split(mark)
    with_numbers = [sentence for sentence in sentences if any(sign.isdigit() for sign in sentence)]
    assert len(set(with_numbers)) > 0.8 * len(with_numbers)
