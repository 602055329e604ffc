# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies of requests to the three endpoints. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

CHAT, COMPLETIONS, RESPONSES = "chat", "completions", "responses"
PATHS = {CHAT: "/v1/chat/completions", COMPLETIONS: "/v1/completions", RESPONSES: "/v1/responses"}


def path_of(endpoint: str) -> str:
    """Path of an endpoint below the target's URL."""
    return PATHS[endpoint]


def requested_tokens(output: Mapping[str, Any]) -> int | None:
    """Tokens that the server must make; None where it may end by itself."""
    return int(output["tokens"]) if output["mode"] == "fixed" else None


def body_of(
    endpoint: str,
    model: str,
    *,
    messages: Sequence[Mapping[str, Any]] | None = None,
    prompt: str | None = None,
    output: Mapping[str, Any],
    stream: bool = True,
    continuous_usage: bool = False,
    extra: Mapping[str, Any] | None = None,
) -> bytes:
    """Write the body of one request.

    :param messages: what chat and responses are asked
    :param prompt: what completions is asked
    :param output: ``mode`` (``fixed``: exactly so many tokens, ``natural``: at most so many) and ``tokens``
    :param continuous_usage: ask for the count of tokens with each piece
    :param extra: more members, as they are
    """
    body: dict[str, Any] = {"model": model, "stream": stream, "temperature": 0}
    if endpoint == RESPONSES:
        # vLLM knows no min_tokens here: ignore_eos alone makes the length exact. What it stores would cost memory.
        body |= {"input": list(messages or ()), "max_output_tokens": output["tokens"], "store": False}
    elif endpoint == CHAT:
        body |= {"messages": list(messages or ()), "max_tokens": output["tokens"]}
    else:
        body |= {"prompt": prompt or "", "max_tokens": output["tokens"]}
    if output["mode"] == "fixed":
        body["ignore_eos"] = True
        if endpoint != RESPONSES:
            body["min_tokens"] = output["tokens"]
    if stream and endpoint != RESPONSES:
        body["stream_options"] = {"include_usage": True}
        if continuous_usage:
            body["stream_options"]["continuous_usage_stats"] = True
    return json.dumps({**body, **(extra or {})}, ensure_ascii=False).encode()
