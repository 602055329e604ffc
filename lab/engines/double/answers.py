# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The forms of an answer: chat completion, completion and response, whole or as an event stream."""

from __future__ import annotations

import json
import time
from abc import ABC, abstractmethod
from typing import Any

from .core import Tokens
from .faults import Faults
from .wishes import Wish

DONE = b"data: [DONE]\n\n"


def event(value: Any, name: str = "") -> bytes:
    """Return one server-sent event."""
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(value, ensure_ascii=False, separators=(',', ':'))}\n\n".encode()


def failed(error: dict[str, Any]) -> bytes:
    """Return the end of a stream that broke: an error line, although the status was 200."""
    return event(error) + DONE


class Form(ABC):
    """An answer that grows by tokens."""

    def __init__(self, number: str, model: str, fingerprint: str, wish: Wish, faults: Faults) -> None:
        self.number = number
        self.model = model
        self.fingerprint = fingerprint
        self.wish = wish
        self.faults = faults
        self.created = int(time.time())
        self.made = [0] * len(wish.prompts)
        self.text = [""] * len(wish.prompts)
        self.thought = [""] * len(wish.prompts)
        self.finish: list[str | None] = [None] * len(wish.prompts)

    def add(self, index: int, tokens: Tokens) -> str | None:
        """Take tokens in; return the name of the reasoning field they belong to, if any."""
        reasoning = self.faults.get("reasoning")
        thinking = reasoning is not None and self.made[index] < reasoning["tokens"]
        self.made[index] += tokens.count
        if thinking:
            self.thought[index] += tokens.text
        else:
            self.text[index] += tokens.text
        self.finish[index] = tokens.finish
        return reasoning["field"] if thinking and reasoning else None

    def reasoning_field(self) -> str:
        """The name under which reasoning text is given; vLLM's own when no fault asks for another."""
        reasoning = self.faults.get("reasoning")
        return reasoning["field"] if reasoning else "reasoning"

    def usage(self) -> dict[str, int] | None:
        """Return exact counts, or None when the fault `no-usage` is on."""
        if self.faults.on("no-usage"):
            return None
        prompt, completion = sum(count for _text, count in self.wish.prompts), sum(self.made)
        return {"prompt_tokens": prompt, "total_tokens": prompt + completion, "completion_tokens": completion}

    @abstractmethod
    def start(self) -> bytes:
        """Return what a stream begins with."""

    @abstractmethod
    def piece(self, index: int, tokens: Tokens) -> bytes:
        """Return the event for these tokens."""

    @abstractmethod
    def end(self) -> bytes:
        """Return what a complete stream ends with."""

    @abstractmethod
    def whole(self) -> dict[str, Any]:
        """Return the answer that is no stream."""


class _WithChoices(Form):
    """What the two forms with choices share."""

    prefix = ""
    kind = ""
    chunk_kind = ""

    def _frame(self, choices: list[dict[str, Any]], kind: str) -> dict[str, Any]:
        return {
            "id": f"{self.prefix}-{self.number}",
            "object": kind,
            "created": self.created,
            "model": self.model,
            "choices": choices,
        }

    def _chunk(self, index: int, content: dict[str, Any], finish: str | None) -> bytes:
        choice = {"index": index, **content, "logprobs": None, "finish_reason": finish}
        frame = self._frame([choice], self.chunk_kind)
        if finish and not self.wish.include_usage:
            frame["system_fingerprint"] = self.fingerprint
        return event(frame)

    def end(self) -> bytes:
        usage = self.usage()
        if not self.wish.include_usage or usage is None:
            return DONE
        frame = {**self._frame([], self.chunk_kind), "usage": usage, "system_fingerprint": self.fingerprint}
        return event(frame) + DONE

    def whole(self) -> dict[str, Any]:
        choices = [
            {"index": index, **self._content(index), "logprobs": None, "finish_reason": finish, "stop_reason": None}
            for index, finish in enumerate(self.finish)
        ]
        frame = {**self._frame(choices, self.kind), "system_fingerprint": self.fingerprint}
        usage = self.usage()
        return frame if usage is None else {**frame, "usage": usage}

    @abstractmethod
    def _content(self, index: int) -> dict[str, Any]:
        """Return what a choice of a whole answer holds."""


class Chat(_WithChoices):
    """/v1/chat/completions."""

    prefix, kind, chunk_kind = "chatcmpl", "chat.completion", "chat.completion.chunk"

    def start(self) -> bytes:
        bare = self.faults.on("role-only-first-chunk")
        delta = {"role": "assistant"} if bare else {"role": "assistant", "content": ""}
        return b"".join(self._chunk(index, {"delta": delta}, None) for index in range(len(self.made)))

    def piece(self, index: int, tokens: Tokens) -> bytes:
        field = self.add(index, tokens)
        return self._chunk(index, {"delta": {field or "content": tokens.text}}, tokens.finish)

    def _content(self, index: int) -> dict[str, Any]:
        message = {
            "role": "assistant",
            "content": self.text[index] or None,
            self.reasoning_field(): self.thought[index] or None,
        }
        return {"message": message}


class Completion(_WithChoices):
    """/v1/completions."""

    prefix, kind, chunk_kind = "cmpl", "text_completion", "text_completion"

    def start(self) -> bytes:
        return b""

    def piece(self, index: int, tokens: Tokens) -> bytes:
        self.add(index, tokens)
        return self._chunk(index, {"text": tokens.text}, tokens.finish)

    def _content(self, index: int) -> dict[str, Any]:
        return {"text": self.thought[index] + self.text[index]}


class Responses(Form):
    """/v1/responses; it has a single output, a message."""

    def __init__(self, number: str, model: str, fingerprint: str, wish: Wish, faults: Faults) -> None:
        super().__init__(number, model, fingerprint, wish, faults)
        self._sequence = 0

    def _event(self, name: str, **fields: Any) -> bytes:
        value = {**fields, "sequence_number": self._sequence, "type": name}
        self._sequence += 1
        return event(value, name)

    @property
    def _item_id(self) -> str:
        return f"msg_{self.number}"

    def _part(self) -> dict[str, Any]:
        return {"annotations": [], "text": self.text[0], "type": "output_text", "logprobs": None}

    def _item(self, status: str) -> dict[str, Any]:
        content = [self._part()] if status == "completed" else []
        return {"id": self._item_id, "content": content, "role": "assistant", "status": status, "type": "message"}

    def _output(self) -> list[dict[str, Any]]:
        thought = {
            "id": f"rs_{self.number}",
            "type": "reasoning",
            "summary": [],
            "content": [{"type": "reasoning_text", "text": self.thought[0]}],
        }
        return [thought, self._item("completed")] if self.thought[0] else [self._item("completed")]

    def _frame(self, status: str, output: list[dict[str, Any]], usage: dict[str, Any] | None) -> dict[str, Any]:
        cut = {"reason": "max_output_tokens"} if status == "incomplete" else None
        return {
            "id": f"resp_{self.number}",
            "object": "response",
            "created_at": self.created,
            "status": status,
            "incomplete_details": cut,
            "model": self.model,
            "output": output,
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            "max_output_tokens": self.wish.max_tokens,
            "previous_response_id": self.wish.previous,
            "usage": usage,
        }

    def start(self) -> bytes:
        opening = self._frame("in_progress", [], None)
        place = {"output_index": 0}
        return b"".join(
            (
                self._event("response.created", response=opening),
                self._event("response.in_progress", response=opening),
                self._event("response.output_item.added", item=self._item("in_progress"), **place),
                self._event(
                    "response.content_part.added", item_id=self._item_id, content_index=0, part=self._part(), **place
                ),
            )
        )

    def piece(self, index: int, tokens: Tokens) -> bytes:
        kind = "reasoning_text" if self.add(index, tokens) else "output_text"
        return self._event(
            f"response.{kind}.delta", item_id=self._item_id, content_index=0, output_index=0, delta=tokens.text
        )

    def end(self) -> bytes:
        place = {"item_id": self._item_id, "content_index": 0, "output_index": 0}
        return b"".join(
            (
                self._event("response.output_text.done", text=self.text[0], **place),
                self._event("response.content_part.done", part=self._part(), **place),
                self._event("response.output_item.done", item=self._item("completed"), output_index=0),
                self._event("response.completed", response=self.whole()),
            )
        )

    def whole(self) -> dict[str, Any]:
        counts = self.usage()
        usage = counts and {
            "input_tokens": counts["prompt_tokens"],
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": counts["completion_tokens"],
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": counts["total_tokens"],
        }
        return self._frame("completed" if self.finish[0] == "stop" else "incomplete", self._output(), usage)
