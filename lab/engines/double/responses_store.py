# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The store of /v1/responses: in memory, for ever, and off unless it is switched on, as in vLLM."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from .wishes import ApiError

SWITCH = "VLLM_ENABLE_RESPONSES_API_STORE"


@dataclass(frozen=True)
class Stored:
    """A response and all that was said until its end."""

    response: dict[str, Any]
    messages: list[dict[str, Any]]


class ResponsesStore:
    """The responses of one engine; no other has them."""

    def __init__(self) -> None:
        """Read the switch; raises ValueError when it is no number."""
        self._is_on = bool(int(os.environ.get(SWITCH, "0")))
        self._stored: dict[str, Stored] = {}

    def check(self, body: dict[str, Any]) -> None:
        """Raise ApiError for a request that needs a store where there is none."""
        if body.get("background") and body.get("store", True) and not self._is_on:
            message = (
                f"This vLLM engine does not support `store=True` and therefore no background mode; set {SWITCH}=1."
            )
            raise ApiError(400, message, "invalid_request_error", "background")

    def history(self, response_id: str | None) -> list[dict[str, Any]]:
        """Return what was said before; raises ApiError when the response that is named is not here."""
        return self.get(response_id).messages if response_id is not None else []

    def get(self, response_id: str) -> Stored:
        """Return a response; raises ApiError when it is not here."""
        if response_id not in self._stored:
            message = f"Response with id '{response_id}' not found."
            raise ApiError(404, message, "invalid_request_error", "response_id")
        return self._stored[response_id]

    def keep(self, body: dict[str, Any], response: dict[str, Any], messages: list[dict[str, Any]]) -> None:
        """Store a response, unless the store is off or the request does not want it."""
        if self._is_on and body.get("store", True):
            said = [
                {"role": "assistant", "content": part["text"]}
                for item in response["output"]
                if item["type"] == "message"
                for part in item["content"]
            ]
            self._stored[response["id"]] = Stored(response, [*messages, *said])
