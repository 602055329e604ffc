# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a stream is written: as vLLM does, or with one of the faults that clients stumble over (pure).

The faults are the rows of the matrix in README.md.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from typing import Any

from benchmarks.gateway.engine import MODEL

# What each fault is, and how many of the requests are good.
FAULTS: Mapping[str, str] = {
    "base": "nothing unusual",
    "role-start": "the role at once, the first token 200 ms later",
    "chunk4": "four tokens in each chunk",
    "nousage": "no usage object",
    "reason-half": "the first half of the tokens in reasoning_content",
    "reason-all": "all tokens in reasoning_content",
    "reasoning-all": "all tokens in reasoning",
    "crlf": "lines end with CR LF",
    "nospace": "no blank after data:",
    "ping": "a comment before each event",
    "split-utf8": "each event cut inside a Chinese character",
    "err-in-200": "an error object after 16 tokens, then [DONE]",
    "trunc": "the connection closed after 16 tokens",
    "http500": "status 500 for every second request",
    "short": "16 tokens although 64 were wanted with ignore_eos",
}
NONE_IS_GOOD = frozenset({"err-in-200", "trunc", "short"})
BROKEN_AFTER = 16
# Of the tokens that the matrix asks for.
HALF = 32
# Words that are one token of the tokenizer that all get; not all the same: some clients take many equal chunks in a row
# for a model that has lost its mind.
WORDS = (" the", " way", " one")
CHARACTERS = ("\u5b57", "\u6c49", "\u8bed")
ERROR = {"error": {"message": "mock failure", "type": "InternalServerError", "param": None, "code": 500}}


def http_chunk(data: bytes) -> bytes:
    """One chunk of a body in transfer-encoding chunked."""
    return b"%x\r\n%s\r\n" % (len(data), data)


class Dialect:
    """One way to write the events of a stream."""

    def __init__(self, fault: str, *, chat: bool) -> None:
        if fault not in FAULTS:
            raise ValueError(f"no fault is called {fault!r}; there are {', '.join(FAULTS)}")
        self.fault, self.chat = fault, chat
        self.per_chunk = 4 if fault == "chunk4" else 1
        self.breaks = fault in ("err-in-200", "trunc")
        words = CHARACTERS if fault == "split-utf8" else WORDS
        self._plain = [self._event("content", word * self.per_chunk) for word in words]
        self._reasoning = [self._event(self._field(), word * self.per_chunk) for word in words]
        self.opening = self._role() if fault == "role-start" and chat else b""
        self.breaking = self._written(json.dumps(ERROR).encode()) + self._done() if fault == "err-in-200" else b""

    @classmethod
    @functools.cache
    def of(cls, fault: str, *, chat: bool) -> Dialect:
        """The dialect of a fault, made once."""
        return cls(fault, chat=chat)

    def length(self, wanted: int) -> int:
        """How many tokens a request gets."""
        return min(BROKEN_AFTER, wanted) if self.fault == "short" else wanted

    def event(self, sent: int, *, usage: bool = False) -> bytes:
        """What carries the tokens up to number `sent`; with usage, as continuous_usage_stats asks."""
        if usage and self.fault != "nousage":
            return self._written(self._choice("content", WORDS[0] * self.per_chunk, None, self._usage(sent)))
        thinks = self.fault in ("reason-all", "reasoning-all") or (self.fault == "reason-half" and sent <= HALF)
        events = self._reasoning if thinks and self.chat else self._plain
        return events[sent % len(events)]

    def cut(self, data: bytes) -> int:
        """Where to cut an event in two; 0: nowhere."""
        if self.fault != "split-utf8":
            return 0
        return next(place for place, byte in enumerate(data) if byte > 0x7F) + 1

    def ending(self, tokens: int, *, usage: bool) -> bytes:
        """What follows the last token."""
        end = self._written(self._choice("content", "", "length"))
        if usage and self.fault != "nousage":
            end += self._written(json.dumps({**self._envelope(), "choices": [], **self._usage(tokens)}).encode())
        return end + self._done()

    def _usage(self, tokens: int) -> dict[str, Any]:
        return {"usage": {"prompt_tokens": 8, "completion_tokens": tokens, "total_tokens": 8 + tokens}}

    def _field(self) -> str:
        return "reasoning" if self.fault == "reasoning-all" else "reasoning_content"

    def _done(self) -> bytes:
        return self._written(b"[DONE]") + b"0\r\n\r\n"

    def _role(self) -> bytes:
        choice = {"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}
        return self._written(json.dumps({**self._envelope(), "choices": [choice]}).encode())

    def _envelope(self) -> dict[str, Any]:
        kind = "chat.completion.chunk" if self.chat else "text_completion"
        return {"id": "cmpl-mock", "object": kind, "created": 1700000000, "model": MODEL}

    def _choice(self, field: str, text: str, finish: str | None, usage: Mapping[str, Any] | None = None) -> bytes:
        said: dict[str, Any] = {"delta": {field: text} if text else {}} if self.chat else {"text": text}
        choice = {"index": 0, **said, "logprobs": None, "finish_reason": finish}
        return json.dumps({**self._envelope(), "choices": [choice], **(usage or {})}, ensure_ascii=False).encode()

    def _event(self, field: str, text: str) -> bytes:
        return self._written(self._choice(field, text, None))

    def _written(self, data: bytes) -> bytes:
        end = b"\r\n" if self.fault == "crlf" else b"\n"
        comment = b": ping" + end + end if self.fault == "ping" else b""
        name = b"data:" if self.fault == "nospace" else b"data: "
        return http_chunk(comment + name + data + end + end)
