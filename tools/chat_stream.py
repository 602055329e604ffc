# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ask an OpenAI-style endpoint one question and give its answer piece by piece (standard library alone)."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

TIMEOUT = 120.0  # seconds without a byte


class ChatError(Exception):
    """The endpoint did not answer as it should; the text says what came instead."""


@dataclass(frozen=True)
class Piece:
    """One event of a stream: new text (may be empty) and, in the last one, the token counts."""

    text: str
    completion_tokens: int | None = None


@dataclass(frozen=True)
class Answer:
    """What one streamed answer took, in tokens and seconds."""

    tokens: int
    first_token: float
    total: float

    @property
    def tokens_per_second(self) -> float:
        """Return the speed of decoding: the tokens after the first, over the time after the first."""
        return (self.tokens - 1) / (self.total - self.first_token) if self.tokens > 1 else 0.0


def events(lines: Iterable[bytes]) -> Iterator[Piece]:
    """Turn the lines of an event stream into pieces.

    Raises ChatError for an error in the stream, which engines send with status 200, and for an end without [DONE].
    """
    for line in lines:
        if not line.startswith(b"data:"):
            continue
        data = line.removeprefix(b"data:").strip()
        if data == b"[DONE]":
            return
        event: dict[str, Any] = json.loads(data)
        if "error" in event:
            raise ChatError(f"the stream holds an error: {json.dumps(event['error'])[:200]}")
        choice = next(iter(event.get("choices") or []), {})
        delta = choice.get("delta") or {}
        # Reasoning models send their thoughts under one of two other names, and `content` can be null.
        text = delta.get("content") or delta.get("reasoning_content") or delta.get("reasoning") or ""
        yield Piece(text, (event.get("usage") or {}).get("completion_tokens"))
    raise ChatError("the stream ended without [DONE]")


@contextmanager
def _request(
    address: str, port: int, method: str, path: str, body: dict[str, Any] | None = None
) -> Iterator[http.client.HTTPResponse]:
    """Send a request and give the response; raises ChatError for anything but status 200."""
    connection = http.client.HTTPConnection(address, port, timeout=TIMEOUT)
    try:
        headers = {"Content-Type": "application/json"} if body else {}
        connection.request(method, path, json.dumps(body) if body else None, headers)
        response = connection.getresponse()
        if response.status != 200:
            raise ChatError(f"{method} {path} gave {response.status}: {response.read(200).decode(errors='replace')}")
        yield response
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise ChatError(f"{method} {path}: {error}") from error
    finally:
        connection.close()


def served_model(address: str, port: int) -> str:
    """Return the first name of /v1/models; raises ChatError when there is none."""
    with _request(address, port, "GET", "/v1/models") as response:
        models = json.load(response).get("data") or []
    if not models:
        raise ChatError("GET /v1/models names no model")
    return models[0]["id"]


def ask(address: str, port: int, model: str, question: str, tokens: int, show: Callable[[str], None]) -> Answer:
    """Stream one answer of at most `tokens` tokens, and hand each piece of text to `show` as it comes.

    Tokens are taken from `usage`: a chunk can hold several. Raises ChatError, also when the usage is missing.
    """
    body = {
        "model": model,
        "messages": [{"role": "user", "content": question}],
        "max_tokens": tokens,
        # The tiny model ends its noise after a few words; an answer that is seen to stream has to be longer.
        "ignore_eos": True,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    began = time.monotonic()
    first: float | None = None
    count: int | None = None
    with _request(address, port, "POST", "/v1/chat/completions", body) as response:
        for piece in events(response):
            if piece.text and first is None:
                first = time.monotonic() - began
            show(piece.text)
            count = count if piece.completion_tokens is None else piece.completion_tokens
    if count is None or first is None:
        raise ChatError("the answer came without text or without a token count")
    return Answer(count, first, time.monotonic() - began)
