# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a server said, in words that a record may keep: in one line, short, and without the key. Pure."""

from __future__ import annotations

import json
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.failures import WORDS, first_words, hidden
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result import no_secrets


class Said:
    """Words of a server that knows a secret.

    :param secret: what it may say back and nobody may read; empty when there is none
    """

    def __init__(self, secret: str = "") -> None:
        self._secret = secret

    def words(self, text: str) -> str:
        """Begin of a text in one line."""
        return first_words(text, self._secret)

    def begin(self, text: str) -> str:
        """Begin of an answer, its lines as they are."""
        return no_secrets.text(hidden(text, self._secret)[: 8 * WORDS])[:WORDS]

    def error(self, error: Any) -> tuple[str, int | None]:
        """Words and code of an ``error`` member."""
        if not isinstance(error, dict):
            return self.words(str(error)), None
        inner = error.get("error")
        if isinstance(inner, dict):
            error = inner
        code = error.get("code", error.get("status"))
        number = int(code) if isinstance(code, int) or (isinstance(code, str) and code.isdigit()) else None
        words = str(error.get("message") or json.dumps(error, ensure_ascii=False))
        return self.words(f"{words} ({code})" if code is not None else words), number

    def body(self, body: bytes) -> str:
        """First words of a body: the message of an error object, else the text."""
        text = hidden(body.decode("utf-8", "replace"), self._secret)
        try:
            value = json.loads(body)
        except (ValueError, RecursionError):
            return self.words(text) or "(empty)"
        if isinstance(value, dict) and value.get("error"):
            return self.error(value["error"])[0]
        return self.words(text)
