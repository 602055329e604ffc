# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the mock engine says: events and whole answers of the three endpoints, as a request's wishes have them."""

from __future__ import annotations

import json
from typing import Any

FINISH = "length"


class Words:
    """Events of one answer.

    :ivar wishes: what stands under "mock" in the request's body
    """

    def __init__(self, endpoint: str, wishes: dict[str, Any], tokens: int) -> None:
        self.endpoint, self.wishes, self.tokens = endpoint, wishes, tokens
        self.text = str(wishes.get("text", "tok "))
        self.prompt_tokens = int(wishes.get("prompt_tokens", 9))
        self._plain: dict[str, bytes] = {}

    def event(self, value: Any, name: str = "") -> bytes:
        """One event, in the dress that was asked for."""
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        end = {"crlf": "\r\n", "cr": "\r"}.get(self.wishes.get("lines", ""), "\n")
        colon = ":" if self.wishes.get("nospace") else ": "
        lines = [f"event{colon}{name}"] if name else []
        if self.wishes.get("multiline") and text.startswith("{"):
            # JSON may be broken between its members.
            first, comma, rest = text.partition(", ")
            lines += [f"data{colon}{first}{comma}", *([f"data{colon}{rest}"] if rest else [])]
        else:
            lines.append(f"data{colon}{text}")
        return (end.join(lines) + end * 2).encode()

    def start(self) -> bytes:
        """What comes before the first token, at once when `role_start` is asked for."""
        if self.endpoint == "responses":
            return self.event({"type": "response.created", "response": {"status": "in_progress", "output": []}},
                              "response.created")  # fmt: skip
        return self._chunk({"role": "assistant", "content": self.wishes.get("role_content", "")})

    def token(self, number: int, several: int) -> bytes:
        """Tokens from ``number`` on, in one event."""
        field = self._field(number)
        continuous = self.wishes.get("usage") == "continuous"
        key = f"{field}/{several}"
        if not continuous and key in self._plain:
            return self._plain[key]
        made = self._token(field, self.text * several, number + several if continuous else 0)
        self._plain[key] = made
        return made

    def _field(self, number: int) -> str:
        reasoning = int(self.wishes.get("reasoning_tokens", 0))
        return str(self.wishes.get("reasoning_field", "reasoning_content")) if number < reasoning else str(
            self.wishes.get("field", "content"))  # fmt: skip

    def _token(self, field: str, text: str, counted: int) -> bytes:
        if self.endpoint == "responses":
            kind = "response.output_text.delta" if field == "content" else "response.reasoning_text.delta"
            return self.event({"type": kind, "delta": text, "sequence_number": 1}, kind)
        delta: dict[str, Any] = {field: text}
        if field == "tool_calls":
            delta = {"tool_calls": [{"index": 0, "function": {"arguments": text}}]}
        elif field == "both":
            delta = {"reasoning": text, "reasoning_content": text}
        return self._chunk(delta, counted=counted)

    def _chunk(self, delta: dict[str, Any], finish: str | None = None, counted: int = 0) -> bytes:
        choice: dict[str, Any] = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        if self.endpoint == "completions":
            choice = {"index": 0, "text": delta.get("content") or "", "logprobs": None, "finish_reason": finish}
        body = {"id": "cmpl-5c1f0a6be9d24f0b", "object": "chunk", "created": 1764500000, "model": "mock",
                "choices": [choice]}  # fmt: skip
        return self.event(body | {"usage": self.usage(counted)} if counted else body)

    def usage(self, completion: int) -> dict[str, Any]:
        """Counts as chat and completions have them."""
        return {
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": completion,
            "total_tokens": self.prompt_tokens + completion,
            "prompt_tokens_details": {"cached_tokens": int(self.wishes.get("cached_tokens", 0))},
            "completion_tokens_details": {"reasoning_tokens": int(self.wishes.get("reasoning_tokens", 0))},
        }

    def finish(self) -> list[bytes]:
        """What comes after the last token."""
        wishes, out = self.wishes, []
        if self.endpoint == "responses":
            if not wishes.get("no_finish"):
                kind = "response.completed"
                out.append(self.event({"type": kind, "response": self.whole()}, kind))
            return out
        if not wishes.get("no_finish"):
            out.append(self._chunk({}, wishes.get("finish", FINISH)))
        if wishes.get("usage", True):
            out.append(self.event({"choices": [], "usage": self.usage(self.tokens)}))
        if not wishes.get("no_done"):
            out.append(self.event("[DONE]"))
        return out

    def error(self) -> list[bytes]:
        """An error after the head has said 200."""
        inner = {"message": "EngineCore died", "type": "InternalServerError", "code": 500}
        if self.wishes.get("error_form") == "event":
            return [self.event(inner, "error")]
        if self.endpoint == "responses":
            failed = {"type": "response.failed", "response": {"status": "failed", "output": [], "error": inner}}
            return [self.event(failed, "response.failed")]
        return [self.event({"error": inner}), *([] if self.wishes.get("no_done") else [self.event("[DONE]")])]

    def whole(self) -> dict[str, Any]:
        """The answer in one piece."""
        text = self.text * self.tokens
        if self.endpoint == "responses":
            incomplete = self.wishes.get("incomplete")
            output = [{"type": "message", "content": [{"type": "output_text", "text": text}]}] if text else []
            return {
                "object": "response",
                "status": "incomplete" if incomplete else "completed",
                "incomplete_details": {"reason": "max_output_tokens"} if incomplete else None,
                "error": None,
                "output": output,
                "usage": {
                    "input_tokens": self.prompt_tokens,
                    "output_tokens": self.tokens,
                    "input_tokens_details": {"cached_tokens": 0},
                    "output_tokens_details": {"reasoning_tokens": int(self.wishes.get("reasoning_tokens", 0))},
                },
            }
        choice: dict[str, Any] = {
            "index": 0,
            "finish_reason": FINISH,
            "message": {"role": "assistant", "content": text},
        }
        if self.endpoint == "completions":
            choice = {"index": 0, "finish_reason": FINISH, "text": text}
        body: dict[str, Any] = {"id": "cmpl-1", "model": "mock", "choices": [choice]}
        if self.wishes.get("usage", True):
            body["usage"] = self.usage(self.tokens)
        return body
