# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Single questions to a server outside the measured time: /v1/models, /metrics, /tokenize. An edge: it uses sockets."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.failures import TargetError
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.simple import ask_once
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.target import Target
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.engine import own_words

HIDDEN = b"(the key)"


@dataclass(frozen=True)
class Answer:
    """What came back.

    :ivar status: None when nothing came back
    :ivar error: why nothing came back; empty when something did
    """

    status: int | None
    body: bytes = b""
    error: str = ""

    def json(self) -> Any:
        """The body as JSON; None when it is none or the answer is an error."""
        if self.status != 200:
            return None
        try:
            return json.loads(self.body)
        except ValueError:
            return None

    def text(self) -> str | None:
        """The body as text; None when the answer is an error."""
        return self.body.decode("utf-8", "replace") if self.status == 200 else None

    def words(self) -> str:
        """What came back in one line."""
        return f"HTTP {self.status}: {own_words(self.body)}" if self.status is not None else self.error


def get(target: Target, path: str, seconds: float) -> Answer:
    """Ask by GET."""
    return _ask(target, "GET", path, b"", seconds)


def post(target: Target, path: str, document: Mapping[str, Any], seconds: float) -> Answer:
    """Ask by POST with JSON."""
    return _ask(target, "POST", path, json.dumps(document).encode(), seconds)


def _ask(target: Target, method: str, path: str, body: bytes, seconds: float) -> Answer:
    try:
        once = ask_once(target, method, path, body, timeout_s=seconds)
    except TargetError as error:
        return Answer(None, error=error.message)
    # Some servers repeat the key that they refuse, and their words are shown.
    secret = target.key.encode()
    return Answer(once.status, once.body.replace(secret, HIDDEN) if secret else once.body)
