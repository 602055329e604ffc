# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What hosts say to each other: HTTP/1.1, one file by its number in the manifest, from an offset on. Pure."""

from __future__ import annotations

import hmac
import re

# Where a host says how it gets on.
STATUS = "/status"
# No head of ours is as long.
LONGEST_HEAD = 4096
_NUMBER = re.compile(r"/(0|[1-9][0-9]{0,8})", re.ASCII)
_RANGE = re.compile(r"bytes=([0-9]{1,18})-", re.ASCII)
_STATUS_LINE = re.compile(rb"HTTP/1\.[01] ([0-9]{3}) ")
_LENGTH = re.compile(rb"\r\ncontent-length: *([0-9]{1,18}) *\r\n", re.IGNORECASE)


class BadAnswer(Exception):
    """The other host answered with something else than the file; the text says what."""


def request(path: str, host: str, token: str, offset: int = 0) -> bytes:
    """The bytes that ask for something.

    :param offset: bytes of the file that are there
    """
    lines = [f"GET {path} HTTP/1.1", f"Host: {host}", f"Authorization: Bearer {token}"]
    if offset:
        lines.append(f"Range: bytes={offset}-")
    return "\r\n".join([*lines, "", ""]).encode("ascii")


def authorized(header: str | None, token: str) -> bool:
    """Whether a request brings the token."""
    return hmac.compare_digest((header or "").encode(), f"Bearer {token}".encode())


def number_in(path: str) -> int | None:
    """The number of the entry that is asked for; None when the path is no number."""
    match = _NUMBER.fullmatch(path)
    return int(match[1]) if match else None


def offset_in(header: str | None, size: int) -> int | None:
    """Where to begin in a file of this size; None when the header asks for anything else than the rest of it."""
    if header is None:
        return 0
    match = _RANGE.fullmatch(header)
    offset = int(match[1]) if match else size
    return offset if offset < size else None


def head_end(received: bytes) -> int:
    """Bytes of the head of an answer; 0 while it has not all arrived.

    :raises BadAnswer: when it never ends
    """
    end = received.find(b"\r\n\r\n") + 4
    if end < 4 and len(received) > LONGEST_HEAD:
        raise BadAnswer("answers with something that is not HTTP")
    return end if end >= 4 else 0


def length_in(head: bytes) -> int:
    """How many bytes follow.

    :raises BadAnswer: when the answer is none of ours, or a refusal
    """
    status, length = _STATUS_LINE.match(head), _LENGTH.search(head)
    if not status or not length:
        raise BadAnswer("answers with something that is not HTTP")
    if status[1] not in (b"200", b"206"):
        raise BadAnswer(f"refuses with HTTP status {status[1].decode()}")
    return int(length[1])
