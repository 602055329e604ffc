# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""HTTP/1.1 replies from bytes: where one ends, found cheaply as it comes, and what is in it, read afterwards."""

from __future__ import annotations

END_OF_CHUNKS = b"0\r\n\r\n"


class Head:
    """Status and headers (names in lower case) of a reply."""

    def __init__(self, text: bytes) -> None:
        first, *lines = text.split(b"\r\n")
        self.status = int(first.split(b" ", 2)[1])
        pairs = (line.partition(b":") for line in lines)
        self.headers = {name.strip().lower(): value.strip() for name, _colon, value in pairs}
        self.chunked = self.headers.get(b"transfer-encoding", b"").lower() == b"chunked"
        self.length = int(self.headers.get(b"content-length", b"0"))
        self.closes = self.headers.get(b"connection", b"").lower() == b"close"


class End:
    """Looks for the end of one reply. A chunk of ours ends in a line end, so nothing else looks like the last one."""

    def __init__(self) -> None:
        self.head: Head | None = None
        self.rest = b""
        self.left = 0

    def reached(self, data: bytes) -> bool:
        """Take the next piece; say whether the reply is complete with it."""
        if self.head is None:
            text, found, data = (self.rest + data).partition(b"\r\n\r\n")
            if not found:
                self.rest = text
                return False
            self.head, self.rest = Head(text), b""
            self.left = self.head.length
        if self.head.chunked:
            self.rest = (self.rest + data[-5:])[-5:]
            return self.rest == END_OF_CHUNKS
        self.left -= len(data)
        return self.left <= 0


class Body:
    """Takes the chunks of a body apart, wherever the pieces begin and end."""

    def __init__(self) -> None:
        self.rest = b""
        self.left = -1  # of the chunk, in bytes; -1 before its size

    def feed(self, data: bytes) -> bytes:
        """Return what of the body came with this piece."""
        data, body = self.rest + data, []
        while data:
            if self.left < 0:
                size, found, after = data.partition(b"\r\n")
                if not found or size == b"0":
                    break
                data, self.left = after, int(size.partition(b";")[0], 16)
            # The line end after the chunk belongs to it.
            if len(data) < self.left + 2:
                if len(data) < self.left:
                    body.append(data)
                    self.left -= len(data)
                    data = b""
                break
            body.append(data[: self.left])
            data, self.left = data[self.left + 2 :], -1
        self.rest = data
        return b"".join(body)
