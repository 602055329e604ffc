# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What requests to the OpenAI-compatible endpoints ask for, read and checked."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from .text import chat_text, token_ids


class ApiError(Exception):
    """An answer in OpenAI's error shape."""

    def __init__(self, status: int, message: str, kind: str = "BadRequestError", parameter: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.parameter = parameter

    def value(self) -> dict[str, Any]:
        """Return the JSON of the answer."""
        return {
            "error": {"message": str(self), "type": self.kind, "param": self.parameter, "code": self.status},
        }


@dataclass(frozen=True)
class Wish:
    """A generation that a client asks for; `prompts` has one entry per choice, `previous` is a response's id."""

    prompts: list[tuple[str, int]]
    max_tokens: int
    ignore_eos: bool
    stream: bool
    include_usage: bool
    previous: str | None = None


def json_body(body: bytes) -> dict[str, Any]:
    """Return a request's JSON object."""
    try:
        value = json.loads(body)
    except ValueError as error:
        raise ApiError(400, f"1 validation error:\n  JSON decode error: {error}", "Bad Request", "body") from None
    if not isinstance(value, dict):
        raise ApiError(400, "1 validation error:\n  Input should be an object", "Bad Request", "body")
    return value


def check_model(body: dict[str, Any], names: tuple[str, ...]) -> str:
    """Return the model that the request names (the first when it names none); raises ApiError for another."""
    model = body.get("model") or names[0]
    if model not in names:
        aliases = ", ".join(names)
        message = f"The model `{model}` does not exist. Valid aliases: {aliases}."
        raise ApiError(404, message, "NotFoundError", "model")
    return str(model)


def _integer(body: dict[str, Any], *names: str) -> int | None:
    for name in names:
        value = body.get(name)
        if value is None:
            continue
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise ApiError(400, f"{name} must be at least 1, got {value!r}.", parameter=name)
        return value
    return None


def _limit(body: dict[str, Any], prompt_tokens: int, context: int, default: int | None, *names: str) -> int:
    """Return how many tokens may be made."""
    asked = _integer(body, *names)
    if asked is not None and asked > context:
        raise ApiError(
            400,
            f"{names[0]}={asked} cannot be greater than max_model_len={context}. Please request fewer output tokens. "
            f"(parameter={names[0]}, value={asked})",
            parameter=names[0],
        )
    room = context - prompt_tokens
    wanted = asked or default or room
    if room < 1 or (asked or 0) > room:
        raise ApiError(
            400,
            f"This model's maximum context length is {context} tokens. However, you requested {asked or 0} output "
            f"tokens and your prompt contains {prompt_tokens} input tokens.",
            parameter="input_tokens",
        )
    return min(wanted, room)


def _wish(body: dict[str, Any], texts: list[tuple[str, int]], max_tokens: int) -> Wish:
    options = body.get("stream_options") or {}
    copies = _integer(body, "n") or 1
    return Wish(
        prompts=[text for text in texts for _copy in range(copies)],
        max_tokens=max_tokens,
        ignore_eos=bool(body.get("ignore_eos")),
        stream=bool(body.get("stream")),
        include_usage=bool(options.get("include_usage")),
        previous=body.get("previous_response_id"),
    )


def _messages(value: Any, name: str) -> list[dict[str, Any]]:
    if not isinstance(value, list) or not value or not all(isinstance(message, dict) for message in value):
        message = f"1 validation error:\n  {{'type': 'missing', 'loc': 'body.{name}', 'msg': 'Field required'}}"
        raise ApiError(400, message, "Bad Request", f"body.{name}")
    return value


def chat_wish(body: dict[str, Any], context: int) -> Wish:
    """Read /v1/chat/completions."""
    prompt = chat_text(_messages(body.get("messages"), "messages"))
    count = len(token_ids(prompt))
    limit = _limit(body, count, context, None, "max_completion_tokens", "max_tokens")
    return _wish(body, [(prompt, count)], limit)


def _one_prompt(prompt: Any) -> tuple[str, int] | None:
    if isinstance(prompt, str):
        return prompt, max(1, len(token_ids(prompt)))
    if isinstance(prompt, list) and prompt and all(isinstance(token, int) for token in prompt):
        return " ".join(map(str, prompt)), len(prompt)
    return None


def completion_wish(body: dict[str, Any], context: int) -> Wish:
    """Read /v1/completions; the prompt is a text, tokens, or a list of these."""
    prompt = body.get("prompt")
    one = _one_prompt(prompt)
    texts = [one] if one else [_one_prompt(item) for item in prompt] if isinstance(prompt, list) else []
    found = [text for text in texts if text is not None]
    if not found or len(found) != len(texts):
        message = "Either prompt or prompt_embeds must be provided and non-empty."
        raise ApiError(400, message, parameter="prompt")
    limit = _limit(body, max(count for _text, count in found), context, 16, "max_tokens")
    return _wish(body, found, limit)


def responses_messages(body: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the input of /v1/responses, which is a text or a list of messages, as messages."""
    given = body.get("input")
    return [{"role": "user", "content": given}] if isinstance(given, str) else _messages(given, "input")


def responses_wish(body: dict[str, Any], context: int, messages: list[dict[str, Any]]) -> Wish:
    """Read /v1/responses; `messages` are its input and what was said before it."""
    if body.get("instructions"):
        messages = [{"role": "system", "content": body["instructions"]}, *messages]
    prompt = chat_text(messages)
    count = len(token_ids(prompt))
    return _wish(body, [(prompt, count)], _limit(body, count, context, None, "max_output_tokens"))
