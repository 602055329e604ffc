# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The API of the engine on this host, asked with the key that it wants. An edge."""

from __future__ import annotations

import json
import os
from pathlib import Path

from .plain_http import address_of, exchange

# Statuses by which an engine says that it does not take our key.
REFUSED = (401, 403)
# Characters of what an engine says of its error.
MOST_WORDS = 300


class Engine:
    """:param api: base URL
    :param key_file: file with the key that the engine wants; empty when it wants none. It is read at each ask.
    """

    def __init__(self, api: str, key_file: str = "") -> None:
        self._address = address_of(api)
        self.key_file = key_file

    def ask(self, path: str, timeout: float, content: bytes | None = None) -> tuple[int, bytes]:
        """Get a path, or post ``content``, which is JSON, to it; status and body.

        :param timeout: seconds for all of it
        :raises OSError: no answer, or none that is HTTP
        """
        headers = [] if content is None else ["Content-Type: application/json"]
        key = self._key()
        if key:
            headers.append(f"Authorization: Bearer {key}")
        method = "GET" if content is None else "POST"
        return exchange(self._address, method, path, timeout, self._address[0], headers, content or b"")

    def refusal(self, status: int) -> str:
        """That an answer means that the engine refuses our key, in words; empty when it does not mean that."""
        return refusal(status, self.key_file) if status in REFUSED else ""

    def _key(self) -> str:
        """Our key; empty when there is none, which the engine will tell."""
        try:
            return Path(self.key_file).read_text(encoding="ascii").strip() if self.key_file else ""
        except (OSError, ValueError):
            return ""


def refusal(status: int, key_file: str) -> str:
    """What is said of an engine that refuses our key (field fault G13)."""
    where = f" in {key_file}" if key_file else ""
    return f"the engine refuses our key ({status}): wrong or missing key{where}"


def own_words(body: bytes) -> str:
    """What an engine says in an error, in one line."""
    try:
        error = json.loads(body)
        text = str(error.get("error", error).get("message", ""))
    except (ValueError, AttributeError):
        text = body.decode(errors="replace")
    return " ".join(text.split())[:MOST_WORDS] or "no message"


def why(error: OSError) -> str:
    """What went wrong with a socket, without numbers and addresses."""
    return os.strerror(error.errno) if error.errno and error.errno > 0 else str(error)
