# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Prompts: the messages of one request, made from its case. Pure.

Each request begins with a nonce, so that no prompt is in the engine's prefix cache (vllm-project/vllm#54227: on a DGX
Spark a repeated prompt made TTFT 49 times smaller). Only a case with ``shared_prefix`` has it behind the text that its
requests share. Then comes filler up to the size that the case asks for, and the question last.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.cases.filler import filler, size_of

Message = dict[str, str]

_HEADS = {"en": ("Document:", "Task:"), "zh": ("资料:", "任务:")}
# Where no engine counts: tokens for a word (English) or a character (Chinese) of the filler, as common tokenizers give.
_TOKENS_FOR_ONE = {"en": 1.3, "zh": 0.7}
# Nonce, heads and the chat template, about.
_TOKENS_AROUND = 30


def nonce_text(text: str) -> str:
    """Twelve hexadecimal digits that another text does not have.

    >>> nonce_text("run-0001-0") == nonce_text("run-0001-1")
    False
    """
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def messages_for(case: Mapping[str, Any], number: int, nonce: str, filler_words: int | None) -> list[Message]:
    """The messages of a request, or those of the first turn of a conversation.

    :param number: the request's number; questions follow each other
    :param nonce: what no other request has
    :param filler_words: words or characters that fill the case's longest prompt; shorter ones get as many more
    """
    return turns_for(case, number, nonce, filler_words)[0]


def turns_for(case: Mapping[str, Any], number: int, nonce: str, filler_words: int | None) -> list[list[Message]]:
    """What the user says turn by turn; between them stands what the engine answered.

    The nonce and the filler are in the first turn only: each turn sends all that was said before.
    """
    conversations = _conversations(case)
    first, *later = conversations[number % len(conversations)]
    texts = [_first_text(case, first, nonce, _words(case, first, filler_words)), *later]
    return [[{"role": "user", "content": text}] for text in texts]


def prompt_text(messages: Sequence[Message]) -> str:
    """Messages as one text, for ``/v1/completions``, which knows no roles."""
    return "\n\n".join(message["content"] for message in messages)


def guessed_words(case: Mapping[str, Any]) -> int | None:
    """The filler that about gives ``prompt_tokens``, where the engine does not count tokens."""
    if case["prompt_tokens"] is None:
        return None
    language = case["language"]
    wanted = (case["prompt_tokens"] - _TOKENS_AROUND) / _TOKENS_FOR_ONE[language]
    return max(0, round(wanted) - _longest(case))


def _conversations(case: Mapping[str, Any]) -> list[list[str]]:
    if "conversations" in case:
        return [list(turns) for turns in case["conversations"]]
    return [[prompt] for prompt in case["prompts"]]


def _longest(case: Mapping[str, Any]) -> int:
    return max(size_of(case["language"], turns[0]) for turns in _conversations(case))


def _words(case: Mapping[str, Any], question: str, filler_words: int | None) -> int:
    """The filler of one question: all requests of a case are to be as long as the others."""
    if filler_words is None:
        return 0
    if case["shared_prefix"]:
        return max(0, filler_words)  # what requests begin with is to be the same for each of them
    return max(0, filler_words) + _longest(case) - size_of(case["language"], question)


def _first_text(case: Mapping[str, Any], question: str, nonce: str, words: int) -> str:
    if words <= 0:
        return f"{nonce}\n\n{question}"
    document, task = _HEADS[case["language"]]
    text = f"{document}\n{filler(case['language'], words)}"
    if case["shared_prefix"]:
        return f"{text}\n\n{nonce}\n\n{task}\n{question}"
    return f"{nonce}\n\n{text}\n\n{task}\n{question}"
