# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A request and what came of it."""

from __future__ import annotations

import http
from dataclasses import dataclass, field

from benchmarks.gateway.http_reply import Body, Head

TOKEN = b'"content":"'
EMPTY = b'"content":""'


@dataclass
class Wish:
    """One request to make: tokens asked for, streamed or not."""

    tokens: int = 128
    stream: bool = True


@dataclass
class Outcome:
    """One request; times are of CLOCK_MONOTONIC, in seconds. `failure` is empty or says what went wrong."""

    wish: Wish
    user: int
    started: float
    ended: float = 0.0
    failure: str = ""
    pieces: list[tuple[float, bytes]] = field(default_factory=list)
    head: Head | None = None
    token_times: list[float] = field(default_factory=list)
    body: bytes = b""

    @property
    def ttft(self) -> float:
        """Seconds from the write of the request to the first token that is not empty."""
        return self.token_times[0] - self.started

    @property
    def gaps(self) -> list[float]:
        """Seconds between tokens; those that came in one piece have none between them."""
        return [late - early for early, late in zip(self.token_times, self.token_times[1:], strict=False)]

    def read(self) -> None:
        """Read the pieces; called once, when all is over and reading disturbs nothing."""
        raw = b""
        pieces, self.pieces = self.pieces, []
        body, events = Body(), b""
        for now, data in pieces:
            if self.head is None:
                text, found, data = (raw + data).partition(b"\r\n\r\n")
                if not found:
                    raw = text
                    continue
                self.head = Head(text)
            if not self.head.chunked:
                self.body += data
            else:
                *whole, events = (events + body.feed(data)).split(b"\n\n")
                self._take(whole, now)
        if self.head and self.head.chunked and not self.wish.stream:
            self.body = events
        self.failure = self.failure or self._fault()

    def _take(self, events: list[bytes], now: float) -> None:
        for event in events:
            if TOKEN in event and EMPTY not in event:
                self.token_times.append(now)
            elif b"[DONE]" in event or b'"error"' in event:
                self.body = event

    def _fault(self) -> str:
        """Say what is wrong with a reply that is complete, or nothing."""
        if self.head is None or self.head.status != http.HTTPStatus.OK:
            return f"status {self.head.status}" if self.head else "closed without an answer"
        if not self.wish.stream:
            return "" if self.body.count(b"tok ") == self.wish.tokens else "short"
        if b"[DONE]" not in self.body:
            return "error in the stream" if self.body else "no end"
        return "" if len(self.token_times) == self.wish.tokens else "short"
