# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""HTTP/1.1 replies from bytes, wherever their pieces begin and end: heads, chunks, lengths, and the end. Pure."""

from __future__ import annotations

from collections.abc import Callable

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.head import MOST_BYTES, Head, HeadError

_END = b"\r\n\r\n"


def _whole_chunk(data: bytes) -> bytes:
    """The body of exactly one chunk, which is what a piece of a stream nearly always is; empty when it is not."""
    digits, _end, rest = data.partition(b"\r\n")
    if not rest.endswith(b"\r\n") or not digits.isalnum():
        return b""
    try:
        size = int(digits, 16)
    except ValueError:
        return b""
    return rest[:-2] if size == len(rest) - 2 else b""


class Chunks:
    """Takes a chunked body apart.

    :ivar ended: the last chunk and its trailer were seen
    """

    def __init__(self) -> None:
        self.ended = False
        self._rest = b""
        self._left = -1  # of the chunk, in bytes; -1 before its size, -2 in the trailer

    def feed(self, data: bytes) -> bytes:
        """Return what of the body came with this piece; sizes that are none are a `HeadError`."""
        if self._left == -1 and not self._rest:
            whole = _whole_chunk(data)
            if whole:
                return whole
        if self._rest:
            data, self._rest = self._rest + data, b""
        body = []
        start, size = 0, len(data)
        while start < size and not self.ended:
            if self._left > 0:
                # The line end after the chunk is not part of the body.
                body.append(data[start : start + self._left])
                taken = min(self._left, size - start)
                start += taken
                self._left -= taken
                if self._left == 0:
                    self._left = -3
                continue
            found = data.find(b"\n", start)
            if found < 0:
                self._rest = data[start:]
                break
            line, start = data[start:found].strip(), found + 1
            self._line(line)
        if len(self._rest) > MOST_BYTES:
            raise HeadError("a line without an end between chunks")
        return b"".join(body)

    def _line(self, line: bytes) -> None:
        """Take a line between chunks: a size, a line of the trailer, or the end of a chunk."""
        if self._left == -3:
            if line:
                raise HeadError("a chunk longer than its size")
            self._left = -1
        elif self._left == -2:
            self.ended = not line
        else:
            try:
                self._left = int(line.partition(b";")[0], 16)
            except ValueError:
                raise HeadError(f"no size of a chunk: {line.decode('latin-1')}") from None
            if self._left < 0:
                raise HeadError(f"no size of a chunk: {line.decode('latin-1')}")
            if self._left == 0:
                self._left = -2


class Framing:
    """Follows one reply.

    :ivar head: of the reply proper; 1xx ones before it are skipped. None before it came
    :ivar ended: the reply is complete
    """

    def __init__(self) -> None:
        self.head: Head | None = None
        self.ended = False
        self._rest = b""
        self._chunks = Chunks()
        self._left = -1

    def feed(self, data: bytes) -> bytes:
        """Return what of the body came with this piece."""
        head = self.head
        if head is None:
            data = self._heads(self._rest + data)
            head = self.head
            if head is None:
                return b""
        if head.chunked:
            body = self._chunks.feed(data)
            self.ended = self._chunks.ended
            return body
        if head.length is None:
            return data
        body = data[: self._left]
        self._left -= len(body)
        self.ended = self._left == 0
        return body

    def _heads(self, data: bytes) -> bytes:
        """Read heads until the proper one; return what follows it."""
        while True:
            text, found, after = data.partition(_END)
            if not found:
                if not b"HTTP/".startswith(data[:5]) or len(data) > MOST_BYTES:
                    raise HeadError(data.decode("latin-1"))
                self._rest = data
                return b""
            head = Head(text)
            data = after
            if head.status >= 200 or head.status == 101:
                self.head, self._rest = head, b""
                self._left = head.length or 0
                self.ended = head.length == 0
                return data

    def close(self) -> bool:
        """The connection ended; say whether the reply is complete with that."""
        if self.head is not None and not self.head.chunked and self.head.length is None:
            self.ended = True
        return self.ended


class Ending:
    """Says cheaply, while the pieces come, when a reply is complete.

    Chunks are only looked at when they can be the last ones: the end of a chunked body is an empty line after a line,
    so its last four bytes are known, unless they came in pieces shorter than that.

    :ivar raw: all that came
    """

    def __init__(self, raw: bytearray | None = None) -> None:
        self.framing = Framing()
        self.raw = bytearray() if raw is None else raw
        self._seen = 0
        self._body = False
        self._in_chunks = False

    @property
    def begun(self) -> bool:
        """Something of the body came."""
        return self._body or (self.framing.head is not None and self._seen < len(self.raw))

    def reached(self, data: bytes) -> bool:
        """Take the next piece; say whether the reply is complete with it."""
        self.raw += data
        if self._in_chunks and len(data) >= 4 and not data.endswith(_END):
            return False
        return self._look()

    def _look(self) -> bool:
        """Look at all that was not looked at before."""
        data = bytes(memoryview(self.raw)[self._seen :])
        self._seen = len(self.raw)
        framing = self.framing
        if framing.feed(data):
            self._body = True
        self._in_chunks = framing.head is not None and framing.head.chunked
        return framing.ended

    def let_go(self, empty: Callable[[], None]) -> bool:
        """Look at all that came, then let ``empty`` clear `raw` if it can; say whether the reply is complete."""
        ended = self._look()
        empty()
        self._seen = len(self.raw)
        return ended

    def closed(self) -> bool:
        """The connection ended; say whether the reply is complete."""
        self._look()
        return self.framing.close()
