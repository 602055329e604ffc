# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One stream of the mock engine: what is sent when, and the book that is kept of it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

from tests.bench.mock_words import Words


class Stream:
    """Sends one answer and keeps the times of its tokens.

    :ivar row: of the book that GET /mock/sent shows
    """

    def __init__(self, transport: asyncio.Transport, words: Words, row: dict[str, Any], ended: Callable[[], None]):
        self.transport, self.words, self.row, self.ended = transport, words, row, ended
        wishes = words.wishes
        self.several = int(wishes.get("per_chunk", 1))
        self.itl = float(wishes.get("itl", 0.001)) * self.several
        self.cut = wishes.get("cut", "")
        self.chunked = wishes.get("framing", "chunked") == "chunked"
        self.sent = 0
        self.loop = asyncio.get_running_loop()
        self.first_at = row["received"] + float(wishes.get("ttft", 0.004))
        if wishes.get("batch"):
            # All streams of a batching engine get their token in the same step.
            self.first_at = (int(self.first_at / self.itl) + 1) * self.itl

    def begin(self) -> None:
        """Send the head, and what comes before the first token."""
        wishes = self.words.wishes
        if wishes.get("hang") == "silent":
            return
        lines = ["HTTP/1.1 200 OK", "Content-Type: text/event-stream; charset=utf-8"]
        lines.append("Transfer-Encoding: chunked" if self.chunked else "Connection: close")
        early = "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" if wishes.get("interim") else ""
        self.transport.write((early + "\r\n".join([*lines, "", ""])).encode())
        if wishes.get("bom"):
            self.write(b"\xef\xbb\xbf")
        if wishes.get("role_start", self.words.endpoint == "responses"):
            self.write(self.words.start())
        if wishes.get("hang") != "head":
            self.at(self.first_at)

    def at(self, when: float) -> None:
        """Send the next tokens then."""
        # The book's clock and the loop's are the same one of the kernel.
        self.loop.call_at(when, self.step, when)

    def step(self, due: float) -> None:
        """Send the next tokens, or what comes after the last ones."""
        words, wishes = self.words, self.words.wishes
        if self.transport.is_closing():
            self.ended()
            return
        if self.sent == wishes.get("error_after", -1):
            self.close(words.error())
        elif self.sent >= wishes.get("truncate_after", 1 << 30):
            self.transport.close()
            self.ended()
        elif self.sent >= wishes.get("hang_after", 1 << 30):
            return
        elif self.sent >= words.tokens:
            self.close(words.finish())
        else:
            several = min(self.several, words.tokens - self.sent)
            frame = words.token(self.sent, several)
            self.row["sent"].append(time.perf_counter())
            self.write(frame)
            self.sent += several
            if wishes.get("ping"):
                self.write(b": ping\n\n")
            if self.sent >= words.tokens and "error_after" not in wishes:
                self.step(due)
            else:
                self.at(due + self.itl)

    def close(self, frames: list[bytes]) -> None:
        """Send the end of the answer."""
        for frame in frames:
            self.write(frame)
        if self.chunked:
            self.transport.write(b"0\r\n\r\n")
        else:
            self.transport.close()
        self.ended()

    def write(self, frame: bytes) -> None:
        """Send bytes of the body, cut as was asked for."""
        if self.cut == "bytes":
            parts = [frame[at : at + 1] for at in range(len(frame))]
        elif self.cut == "middle":
            # Inside of a character of several bytes where there is one.
            wide = next((at for at, byte in enumerate(frame) if byte >= 0xC0), len(frame) // 2)
            parts = [frame[: wide + 1], frame[wide + 1 :]]
        else:
            parts = [frame]
        for part in parts:
            if part:
                self.transport.write(b"%x\r\n%b\r\n" % (len(part), part) if self.chunked else part)
