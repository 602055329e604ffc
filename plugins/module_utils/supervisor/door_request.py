# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a gateway asks at the door, and how it is answered, as bytes. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

# Bytes of a question.
MOST = 8192
AGENT, READY, REFUSED = "agent", "ready", "refused"
_WORDS = {
    200: "OK",
    400: "Bad Request",
    404: "Not Found",
    405: "Method Not Allowed",
    503: "Service Unavailable",
}


@dataclass(frozen=True)
class Asked:
    """One question.

    :ivar what: AGENT, READY or REFUSED
    :ivar new: whether the replica should get new requests is asked, not only whether it is ready
    :ivar status: of a question that is refused
    """

    what: str
    new: bool = False
    status: int = 0


def parse(data: bytes) -> Asked | None:
    """The question in what was received so far; None when there is more to come."""
    first, ended, _rest = data.partition(b"\n")
    if ended and first.strip() == b"agent":
        return Asked(AGENT)
    if len(data) > MOST:
        return Asked(REFUSED, status=400)
    if not ended:
        return None
    words = first.split()
    if len(words) != 3 or not words[2].startswith(b"HTTP/1."):
        return Asked(REFUSED, status=400)
    if b"\r\n\r\n" not in data and b"\n\n" not in data:
        return None
    path, _mark, query = words[1].partition(b"?")
    if path != b"/ready":
        return Asked(REFUSED, status=404)
    if words[0] != b"GET":
        return Asked(REFUSED, status=405)
    return Asked(READY, new=b"new=1" in query.split(b"&"))


def http_answer(status: int, content: Mapping[str, Any]) -> bytes:
    """An HTTP answer with a JSON body, after which the connection ends."""
    body = json.dumps(content).encode() + b"\n"
    head = (
        f"HTTP/1.1 {status} {_WORDS[status]}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body
