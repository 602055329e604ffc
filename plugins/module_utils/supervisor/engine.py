# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The API of the engine on this host, asked with the key that it wants. An edge."""

from __future__ import annotations

import os
from pathlib import Path

from .plain_http import address_of, exchange

REFUSED = (401, 403)


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
        if status not in REFUSED:
            return ""
        where = f" in {self.key_file}" if self.key_file else ""
        return f"the engine refuses our key ({status}): wrong or missing key{where}"

    def _key(self) -> str:
        """Our key; empty when there is none, which the engine will tell."""
        try:
            return Path(self.key_file).read_text(encoding="ascii").strip() if self.key_file else ""
        except (OSError, ValueError):
            return ""


def why(error: OSError) -> str:
    """What went wrong with a socket, without numbers and addresses."""
    return os.strerror(error.errno) if error.errno and error.errno > 0 else str(error)
