# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What one event of a stream, or one whole answer, brings: text, reasoning, usage, its end, an error. Pure.

Fields that are of another type than they should be are passed over, never stumbled on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.body import RESPONSES

_REASONING = ("reasoning", "reasoning_content")
# Where a token's text can stand.
_TEXTS = frozenset({"text", "content", "refusal", "tool_calls", "function_call", *_REASONING})
# Events of the Responses API that bring tokens.
_OUTPUT_DELTAS = (
    "response.output_text.delta", "response.refusal.delta", "response.function_call_arguments.delta",
    "response.mcp_call_arguments.delta", "response.custom_tool_call_input.delta",
    "response.code_interpreter_call_code.delta",
)  # fmt: skip
_REASONING_DELTAS = (
    "response.reasoning_text.delta", "response.reasoning_summary_text.delta", "response.reasoning.delta",
)  # fmt: skip
_ENDS = ("response.completed", "response.incomplete", "response.failed", "response.cancelled")
_FINISHES = {"max_output_tokens": "length"}


@dataclass(slots=True)
class Delta:
    """What was found.

    :ivar known: it has the form that the endpoint's answers have
    :ivar step: a text stands where a token's text belongs, but it is empty
    :ivar usage: counts in the names of chat
    :ivar error: the member of that name
    """

    known: bool = False
    text: str = ""
    reasoning: str = ""
    step: bool = False
    finish: str | None = None
    usage: Mapping[str, Any] | None = None
    error: Any = None

    @property
    def brings_token(self) -> bool:
        """A token that can be seen."""
        return bool(self.text or self.reasoning)


def delta_of(endpoint: str, value: Mapping[str, Any]) -> Delta:
    """Read one event of a stream, or one whole answer."""
    found = _of_responses(value) if endpoint == RESPONSES else _of_choices(value)
    if value.get("error"):
        found.error = value["error"]
    return found


def _of_choices(value: Mapping[str, Any]) -> Delta:
    found = Delta(known=isinstance(value.get("choices"), list), usage=_mapping(value.get("usage")) or None)
    for choice in _list(value.get("choices")):
        choice = _mapping(choice)
        _take(found, choice)
        _take(found, _mapping(choice.get("delta")) or _mapping(choice.get("message")))
        if isinstance(choice.get("finish_reason"), str):
            found.finish = choice["finish_reason"]
    return found


def _take(found: Delta, fields: Mapping[str, Any]) -> None:
    """Take the texts of a choice, or of the delta or message in it."""
    if _TEXTS.isdisjoint(fields):
        return
    for name, part in fields.items():
        if name not in _TEXTS:
            continue
        if part == "":
            found.step = True
        elif name in _REASONING:
            # A server that knows both names sends the same text by both.
            found.reasoning = found.reasoning or _text(part)
        elif name == "tool_calls":
            found.text += _calls(part)
        elif name == "function_call":
            found.text += _call(_mapping(part))
        else:
            found.text += _text(part)


def _calls(calls: Any) -> str:
    return "".join(_call(_mapping(_mapping(call).get("function"))) for call in _list(calls))


def _call(function: Mapping[str, Any]) -> str:
    return _text(function.get("name")) + _text(function.get("arguments"))


def _of_responses(value: Mapping[str, Any]) -> Delta:
    kind = value.get("type")
    if value.get("object") == "response":
        return _whole_response(value)
    found = Delta(known=isinstance(kind, str) and (kind.startswith("response.") or kind == "error"))
    if kind in _OUTPUT_DELTAS or kind in _REASONING_DELTAS:
        part = value.get("delta")
        if kind in _REASONING_DELTAS:
            found.reasoning = _text(part)
        else:
            found.text = _text(part)
        found.step = part == ""
    elif kind == "error":
        found.error = value.get("error") or {"message": value.get("message"), "code": value.get("code")}
    elif kind in _ENDS:
        end = _whole_response(_mapping(value.get("response")))
        # The whole text comes once more here: it was counted before.
        found.usage, found.finish, found.error = end.usage, end.finish, end.error
        if kind == "response.failed" and not found.error:
            found.error = {"message": "the response failed"}
    return found


def _whole_response(value: Mapping[str, Any]) -> Delta:
    found = Delta(known=isinstance(value.get("output"), list), usage=_usage(_mapping(value.get("usage"))) or None)
    status = value.get("status")
    if status == "completed":
        found.finish = "stop"
    elif status == "cancelled":
        found.finish = "cancelled"
    elif status == "incomplete":
        reason = _mapping(value.get("incomplete_details")).get("reason")
        found.finish = _FINISHES.get(str(reason), str(reason or "incomplete"))
    found.error = value.get("error") or ({"message": f"the response is {status}"} if status == "failed" else None)
    for item in _list(value.get("output")):
        item = _mapping(item)
        text = "".join(_text(_mapping(part).get("text")) for part in _list(item.get("content")))
        if item.get("type") == "reasoning":
            found.reasoning += text
        else:
            found.text += text + _text(item.get("arguments"))
    return found


def _usage(usage: Mapping[str, Any]) -> dict[str, Any]:
    """Counts of the Responses API in the names of chat."""
    if not usage:
        return {}
    return {
        "prompt_tokens": usage.get("input_tokens"),
        "completion_tokens": usage.get("output_tokens"),
        "prompt_tokens_details": usage.get("input_tokens_details"),
        "completion_tokens_details": usage.get("output_tokens_details"),
    }


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: Any) -> str:
    """A text, or the texts of its parts."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "".join(_text(_mapping(part).get("text")) for part in value)
    return ""
