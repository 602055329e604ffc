# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The other way: one thread for each user, over `http.client`. An edge.

It shares no line with the loop but the reading of what came, and serves as its cross-check (`self_test`): both must
agree. Its stamps are later than the loop's as soon as there are many users.
"""

from __future__ import annotations

import http.client
import threading
import time
from collections.abc import Iterator, Mapping
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client import failures
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.ask import Ask, Limits
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.in_flight import concurrency, steady
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.lag import Lag
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.link import PIECE, tls_context
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.played import Played
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.reading import read
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.reply import Reply
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.target import Target, place_of, resolve
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.usage import cpu_seconds, rss_mb


class _Users:
    """What the threads share."""

    def __init__(self, target: Target, asks: Iterator[Ask], requests: int, limits: Limits) -> None:
        self.target, self.limits, self.place = target, limits, place_of(target.url)
        self.host = str(resolve(target).sockaddr[0])
        self.context = tls_context(target) if self.place.tls else None
        self.clock = time.perf_counter()
        self.replies: list[Reply] = []
        self._asks, self._left = asks, requests
        self._lock = threading.Lock()

    def next(self) -> Ask | None:
        """Give the next request; None when there are no more."""
        with self._lock:
            if self._left <= 0:
                return None
            self._left -= 1
            return next(self._asks, None)

    def connection(self) -> http.client.HTTPConnection:
        """A connection that is open already."""
        place, patience = self.place, self.limits.connect_s
        if self.context is not None:
            made: http.client.HTTPConnection = http.client.HTTPSConnection(
                place.host, place.port, timeout=patience, context=self.context
            )
        else:
            made = http.client.HTTPConnection(self.host, place.port, timeout=patience)
        made.connect()
        return made

    def work(self, user: int, go: threading.Barrier) -> None:
        """Be one user."""
        connection: http.client.HTTPConnection | None = None
        fault: OSError | None = None
        try:
            connection = self.connection()
        except OSError as error:
            fault = error
        go.wait()
        while (ask := self.next()) is not None:
            reply = Reply(ask, user, time.perf_counter() - self.clock)
            try:
                if connection is None:
                    if fault is not None:
                        raise fault
                    connection = self.connection()
                connection = self._ask(connection, reply)
            except (OSError, http.client.HTTPException) as error:
                reply.kind, reply.message = _kind(error, connection is None, self.limits)
                connection, fault = None, None
            reply.t_end = time.perf_counter() - self.clock
            self.replies.append(reply)

    def _ask(self, connection: http.client.HTTPConnection, reply: Reply) -> http.client.HTTPConnection | None:
        headers = {"Content-Type": "application/json", "Host": self.place.authority}
        if self.target.key:
            headers["Authorization"] = f"Bearer {self.target.key}"
        if connection.sock is not None:
            connection.sock.settimeout(self.limits.ttft_s)
        reply.t_write = time.perf_counter() - self.clock
        connection.request("POST", f"{self.place.path}{reply.ask.path}", reply.ask.body, headers)
        answer = connection.getresponse()
        if connection.sock is not None:
            connection.sock.settimeout(self.limits.idle_s)
        # To the reader it is a body that ends with its connection: http.client has taken the chunks apart.
        kind = answer.headers.get("Content-Type", "")
        self._keep(reply, f"HTTP/1.1 {answer.status} X\r\nContent-Type: {kind}\r\n\r\n".encode("latin-1"))
        if answer.length is not None:
            # Until Python 3.12 read1 does not see the end of a body whose length is known.
            self._keep(reply, answer.read())
        while not answer.isclosed() and (piece := answer.read1(PIECE)):
            self._keep(reply, piece)
        if answer.will_close:
            connection.close()
            return None
        return connection

    def _keep(self, reply: Reply, piece: bytes) -> None:
        reply.add(time.perf_counter() - self.clock, piece)


def play_threads(target: Target, load: Mapping[str, Any], asks: Iterator[Ask], limits: Limits) -> Played:
    """Play a closed round in this way; ``min_s`` is not looked at, and no proxy is used."""
    cpu, users = cpu_seconds(), int(load.get("n") or 1)
    shared = _Users(target, asks, int(load.get("requests") or users), limits)
    began = time.time()

    def start() -> None:
        shared.clock = time.perf_counter()

    go = threading.Barrier(users, action=start)
    threads = [threading.Thread(target=shared.work, args=(user, go), daemon=True) for user in range(users)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    replies = sorted(shared.replies, key=lambda reply: reply.t_end)
    seconds = replies[-1].t_end if replies else 0.0
    records = [read(reply, secret=target.key, sample=number == 0) for number, reply in enumerate(replies)]
    client = {"cpu_s": round(cpu_seconds() - cpu, 4), "rss_mb": rss_mb(), "lag_ms": Lag().summary(),
              "address": resolve(target).text, "connections": users}  # fmt: skip
    return Played(
        records, began, shared.clock, round(seconds, 6), client, concurrency(records, seconds), steady(records, users)
    )


def _kind(error: Exception, connecting: bool, limits: Limits) -> tuple[str, str]:
    """Kind and words of what `http.client` says."""
    if isinstance(error, TimeoutError):
        kind = failures.TIMEOUT_CONNECT if connecting else failures.TIMEOUT_IDLE
        return kind, failures.waited(kind, limits.connect_s if connecting else limits.idle_s)
    if isinstance(error, OSError) and connecting:
        found = failures.of_connect(error)
        return found.kind, found.message
    return failures.TRUNCATED, "the server closed the connection before the answer was complete"
