# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tokens that servers count, asked of their /tokenize outside the measured time. An edge: it asks engines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.cases.prompts import (
    guessed_words,
    messages_for,
    nonce_text,
    prompt_text,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.failures import SHORT_OUTPUT
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.said import Said
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.run.doors import Door
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.run.fit import Fit, fit
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.run.questions import post
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.run.short import short_words

# A tokenizer answers in milliseconds; one that hangs is not to hold up the run.
SECONDS = 10.0
COUNTING = "counting tokens"
# Prompts that are laid side by side: two nonces could begin alike.
ALIKE = 3


def count(door: Door, document: Mapping[str, Any]) -> int | None:
    """Tokens of a text or of messages; None when no engine of the target says."""
    for answer in _answers(door, document):
        number = answer.get("count")
        if isinstance(number, int) and not isinstance(number, bool):
            return number
    return None


def head_tokens(door: Door, case: Mapping[str, Any], endpoint: str, nonce: str) -> int | None:
    """Tokens with which all requests of a cold case begin, whatever their nonce: the head of the chat template.

    They fill whole blocks of the prefix cache, and each request but the first one finds them there: that is no prompt
    that was seen before. A case that is warm on purpose has more in common, and all of it counts.

    :returns: None when the case is warm, or no engine tells the tokens of a prompt
    """
    if case["cache"] != "cold":
        return None
    prompts = []
    for number in range(ALIKE):
        tokens = _tokens(door, _document(case, endpoint, f"{nonce}-{number}", 0))
        if tokens is None:
            return None
        prompts.append(tokens)
    head = len(list(takewhile(lambda same: all(one == same[0] for one in same), zip(*prompts, strict=False))))
    # What ends before the nonces part is no list of the tokens that were asked for.
    return head if head < min(map(len, prompts)) else None


def _answers(door: Door, document: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for engine in door.engines:
        if engine.url in door.mute:
            continue
        answer = post(engine, "/tokenize", {"model": door.model, **document}, SECONDS)
        if answer.status is None:
            door.mute.add(engine.url)
        said = answer.json()
        if isinstance(said, dict):
            yield said


def _tokens(door: Door, document: Mapping[str, Any]) -> list[Any] | None:
    found = (answer.get("tokens") for answer in _answers(door, document))
    return next((tokens for tokens in found if isinstance(tokens, list) and tokens), None)


def _document(case: Mapping[str, Any], endpoint: str, nonce: str, words: int) -> dict[str, Any]:
    """The first prompt of a case as /tokenize takes it."""
    messages = messages_for(case, 0, nonce_text(nonce), words)
    return {"prompt": prompt_text(messages)} if endpoint == "completions" else {"messages": messages}


def fit_case(door: Door, case: Mapping[str, Any], endpoint: str, nonce: str) -> Fit:
    """How much filler the prompts of a case need at a target, and what the server puts before them."""
    wanted = case["prompt_tokens"]
    head = head_tokens(door, case, endpoint, nonce)
    if wanted is None:
        return Fit(None, None, head)

    def tokens(words: int) -> int | None:
        return count(door, _document(case, endpoint, nonce, words))

    guess = guessed_words(case)
    found = fit(tokens, wanted, guess or wanted) if door.engines else None
    return replace(found or Fit(guess, None), head=head)


def fill_in(door: Door, records: Sequence[MutableMapping[str, Any]], tell: Callable[[str], None]) -> None:
    """Count the tokens of answers whose server did not (fault 4 of benchmark.md), and compute what rests on them.

    The first answer that no engine counts is the last one that any is asked about. An answer that proves to be shorter
    than it had to be becomes a failure.

    :param tell: is told what it is at
    """
    counts = bool(door.engines)
    for record in records:
        text = record.pop("text", None) or ""
        if record["token_source"] != "none" or record["error"] is not None:
            continue
        number = None
        if text and counts:
            tell(COUNTING)
            number = count(door, {"prompt": text, "add_special_tokens": False})
            counts = number is not None
        if number is not None:
            record["tokens"] = {**record["tokens"], "completion": number}
            record["token_source"] = "tokenize"
            record["tpot_ms"] = tpot_ms(record)
        why = short_words(number, record["requested_tokens"], record["finish"])
        if why:
            record["error"] = {"kind": SHORT_OUTPUT, "status": record["status"], "message": why}
            record["sample"] = Said().begin(text)


def tpot_ms(record: Mapping[str, Any]) -> float | None:
    """Milliseconds for each token after those of the first piece; None when there is none or the times are unknown."""
    number, first, last = record["tokens"]["completion"], record["t_first"], record["t_last"]
    after = (number or 0) - (record.get("first_chunk_tokens") or 1)
    if number is None or first is None or last is None or after < 1 or last <= first:
        return None
    return round((last - first) * 1000 / after, 3)
