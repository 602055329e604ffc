# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The client: N users, each with one connection, who ask again as soon as they are answered.

One thread on bare sockets, so that its own work does not show: what a stream brings is kept with its time, and read
when all is over. All connections are open before the clock starts. Time to first token counts from the write of the
request to the first token that is not empty, on CLOCK_MONOTONIC, in seconds.
"""

from __future__ import annotations

import gc
import json
import select
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from benchmarks.gateway.http_reply import End
from benchmarks.gateway.outcome import Outcome, Wish

# Between two looks for requests that take too long, and before a user connects again who could not.
LOOK_SECONDS = 0.25
RETRY_SECONDS = 0.05
PIECE = 1 << 14


@dataclass
class Loaded:
    """All outcomes in the order of their ends, and how late the client itself was (seconds), event for event."""

    outcomes: list[Outcome] = field(default_factory=list)
    lags: list[float] = field(default_factory=list)
    cpu: float = 0.0
    began: float = 0.0
    ended: float = 0.0


class User:
    """One user: a connection and the request under way on it."""

    def __init__(self, number: int, port: int, headers: bytes, model: str) -> None:
        self.number, self.port, self.headers, self.model = number, port, headers, model
        self.sock: socket.socket | None = None
        self.outcome = Outcome(Wish(), number, 0.0, 1.0)
        self.reply = End()

    def connect(self, epoll: select.epoll) -> socket.socket:
        self.sock = socket.create_connection(("127.0.0.1", self.port), timeout=5)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sock.setblocking(False)
        epoll.register(self.sock, select.EPOLLIN)
        return self.sock

    def disconnect(self) -> None:
        if self.sock:
            self.sock.close()
            self.sock = None

    def request(self, wish: Wish) -> bytes:
        # A prompt of its own for each user, as prefix-aware routers would put equal ones on one engine.
        text = f"user {self.number}: tell a story"
        ask = {"model": self.model, "messages": [{"role": "user", "content": text}]}
        body = json.dumps({**ask, "max_tokens": wish.tokens, "stream": wish.stream}).encode()
        head = b"POST /v1/chat/completions HTTP/1.1\r\nhost: gateway\r\ncontent-type: application/json\r\n"
        return head + self.headers + b"content-length: %d\r\n\r\n" % len(body) + body

    @property
    def over(self) -> bool:
        return bool(self.outcome.ended)

    def start(self, wish: Wish, epoll: select.epoll) -> None:
        self.reply = End()
        self.outcome = Outcome(wish, self.number, time.monotonic())
        data = self.request(wish)
        try:
            sock = self.sock or self.connect(epoll)
            self.outcome.started = time.monotonic()
            sock.sendall(data)
        except OSError as error:
            self.end(f"connect: {error.strerror}")

    def end(self, failure: str = "") -> None:
        self.outcome.failure, self.outcome.ended = failure, time.monotonic()
        if failure or (self.reply.head and self.reply.head.closes):
            self.disconnect()

    def read(self, now: float) -> bool:
        """Take what came; say whether this ended the request."""
        try:
            data = self.sock.recv(PIECE) if self.sock else b""
        except BlockingIOError:
            return False
        except OSError:
            data = b""
        if self.over:
            # Nothing was asked: the other side closes an idle connection.
            self.disconnect()
            return False
        if not data:
            self.end("truncated" if self.outcome.pieces else "closed without an answer")
            return True
        self.outcome.pieces.append((now, data))
        if self.reply.reached(data):
            self.end()
        return self.over


def load(
    ports: Sequence[int],
    wishes: Iterator[Wish] | Callable[[int], Wish | None],
    users: int,
    *,
    seconds: float = 0.0,
    patience: float = 60.0,
    stagger: float = 0.0,
    over: threading.Event | None = None,
    key: str = "",
    model: str = "mock",
) -> Loaded:
    """Have users ask until the wishes (a shared iterator, or a function of the user), the seconds or all is over.

    Users are spread evenly over ports (of several engines, or the one of a gateway). A request under way when the
    time is over is awaited; one that takes longer than the patience fails. With a stagger the users begin one after
    the other, over that many seconds.
    """
    epoll, loaded = select.epoll(), Loaded()
    headers = f"authorization: Bearer {key}\r\n".encode() if key else b""
    everybody = [User(number, ports[number % len(ports)], headers, model) for number in range(users)]
    by_socket = {user.connect(epoll).fileno(): user for user in everybody}
    gc.disable()
    cpu, loaded.began = time.process_time(), time.monotonic()

    def following(user: User) -> Wish | None:
        if (seconds and time.monotonic() - loaded.began >= seconds) or (over and over.is_set()):
            return None
        return wishes(user.number) if callable(wishes) else next(wishes, None)

    def go_on(user: User) -> bool:
        """Start the user's next request, and the one after it when it fails at once; say whether one is under way."""
        while wish := following(user):
            user.start(wish, epoll)
            if user.sock and not user.over:
                by_socket[user.sock.fileno()] = user
                return True
            loaded.outcomes.append(user.outcome)
            time.sleep(RETRY_SECONDS)
        return False

    to_begin = [(loaded.began + stagger * number / users, user) for number, user in enumerate(everybody)]
    busy: set[User] = set()
    next_look = loaded.began + LOOK_SECONDS
    while busy or to_begin:
        while to_begin and to_begin[0][0] <= time.monotonic():
            user = to_begin.pop(0)[1]
            if go_on(user):
                busy.add(user)
        done = []
        events = epoll.poll(0.001 if to_begin else LOOK_SECONDS)
        woke = time.monotonic()
        for number, _event in events:
            user, now = by_socket[number], time.monotonic()
            loaded.lags.append(now - woke)
            if user.read(now):
                done.append(user)
        if woke >= next_look:
            next_look = woke + LOOK_SECONDS
            for user in busy:
                if not user.over and woke - user.outcome.started > patience:
                    user.end("timed out")
                    done.append(user)
        for user in done:
            loaded.outcomes.append(user.outcome)
            if not go_on(user):
                busy.remove(user)
    loaded.ended, loaded.cpu = time.monotonic(), time.process_time() - cpu
    for user in everybody:
        user.disconnect()
    epoll.close()
    gc.enable()
    for outcome in loaded.outcomes:
        outcome.read()
    return loaded
