# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The loop: many connections, one thread, stamps straight after the read. An edge.

Nothing is parsed while it runs but the framing of HTTP, and the collector of garbage is off: both would make stamps
late. A wake reads all ready sockets first and looks at what they brought afterwards.
"""

from __future__ import annotations

import heapq
import select
import time
from collections.abc import Callable

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client import failures
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.ask import Limits
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.framing import Ending
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.head import HeadError, request_head
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.lag import NO_SLEEP_S, Lag
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.link import OPEN, PIECE, Door, Link
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.opening import open_ahead
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.owner import Nobody, Owner
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.reply import Reply

# How often time-outs are looked for and the owner is asked whether to go on, in seconds.
SWEEP_S = 0.1
# How often a wait ends by its own time, so that its lateness can be seen.
WAIT_S = 0.05
_LIMITS = {
    failures.TIMEOUT_CONNECT: "connect_s",
    failures.TIMEOUT_TTFT: "ttft_s",
    failures.TIMEOUT_IDLE: "idle_s",
    failures.TIMEOUT_TOTAL: "total_s",
}
# A kept connection that closes so soon after a request without a word was closed before the request came.
STALE_S = 0.1


class Loop:
    """Connections to one target.

    :ivar owner: the load; to be set before the first request
    :ivar clock: the stamp that is the zero of all times
    :ivar in_flight: requests under way
    :ivar opened: connections that were opened
    """

    def __init__(self, door: Door, limits: Limits) -> None:
        self.door, self.limits = door, limits
        self.owner: Owner = Nobody()
        self.clock = time.perf_counter()
        self.lag = Lag()
        self.in_flight = 0
        self.opened = 0
        self.epoll = select.epoll()
        self._links: dict[int, Link] = {}
        self._timers: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = 0
        shortest = min(limits.connect_s, limits.ttft_s, limits.idle_s, limits.total_s)
        self._sweep_s = max(0.01, min(SWEEP_S, shortest / 5))

    def now(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self.clock

    def at(self, when: float, call: Callable[[], None]) -> None:
        """Call something at a time."""
        self._numbers += 1
        heapq.heappush(self._timers, (when, self._numbers, call))

    def open_ahead(self, number: int) -> tuple[list[Link], list[failures.TargetError]]:
        """Open connections before the clock starts; give them and what went wrong with the others."""
        good, bad = open_ahead(self.door, self.epoll, number, self.limits.connect_s)
        for link in good:
            self._links[link.fd] = link
        self.opened += len(good)
        return good, bad

    def send(self, reply: Reply, link: Link | None) -> None:
        """Send a request over an idle connection, or over a new one when there is none."""
        self.in_flight += 1
        reply.t_write = self.now()
        if link is not None and link.fd >= 0:
            self._write(link, reply)
            return
        try:
            link = self.door.open(self.epoll, reply)
        except OSError as fault:
            # Not at once: who asked would be called before it has heard of its request.
            error = failures.of_connect(fault)
            self.at(reply.t_write, lambda: self._end(reply, None, error.kind, error.message))
            return
        self._links[link.fd] = link

    def _write(self, link: Link, reply: Reply) -> None:
        ask = reply.ask
        accept = "text/event-stream" if ask.stream else "application/json"
        head = request_head(self.door.target, self.door.place, ask.path, len(ask.body), accept=accept)
        link.reply, link.ending, link.out = reply, Ending(reply.raw), memoryview(head + ask.body)
        self._write_on(link, reply)

    def _write_on(self, link: Link, reply: Reply) -> None:
        try:
            stamp = link.write()
        except OSError:
            # The server has closed its side; what it said before stands in the way to here and is read first.
            link.out = None
            return
        if stamp is not None:
            reply.t_write = link.last = stamp - self.clock

    def open_spare(self) -> bool:
        """Begin a connection for later; say whether that went well so far."""
        try:
            link = self.door.open(self.epoll)
        except OSError:
            return False
        self._links[link.fd] = link
        return True

    def run(self, going: Callable[[], bool]) -> None:
        """Go on until ``going`` says that all is done, or the owner that it is enough."""
        owner = self.owner
        perf, poll, lag = time.perf_counter, self.epoll.poll, self.lag
        sweep_at = tick_at = 0.0
        tick, wake = min(WAIT_S, self._sweep_s), perf()
        while going():
            since = perf() - self.clock
            if since >= sweep_at:
                sweep_at = since + self._sweep_s
                self._sweep(since)
                if not owner.sweep(since):
                    return
            if tick_at <= since:
                tick_at = since + tick
            wait = self._wait(since, tick_at)
            before = perf()
            # A little less than whole milliseconds: binary fractions must not make it one more.
            ready = poll(wait - 1e-7 if wait > 0.0 else 0.0)
            last, wake = wake, perf()
            if ready:
                count = self._receive(ready, wake)
                lag.wake(0.0 if wake - before > NO_SLEEP_S else wake - last, count)
            else:
                if wait > 0.0:
                    lag.waited(wake - before - wait)
                owner.idle()
            self._due(wake - self.clock)

    def _wait(self, since: float, until: float) -> float:
        """How long to sleep: whole milliseconds, as epoll can; before something that is due rather too short."""
        timers = self._timers
        if timers and timers[0][0] < until:
            return max(0, int((timers[0][0] - since) * 1000.0)) / 1000.0
        return max(1, int((until - since) * 1000.0)) / 1000.0

    def _due(self, since: float) -> None:
        timers = self._timers
        while timers and timers[0][0] <= since:
            heapq.heappop(timers)[2]()

    def _receive(self, ready: list[tuple[int, int]], wake: float) -> int:
        """Read all ready connections, then look at what came; give the number of pieces.

        The stamp is that of the wake: all that it brings had come by then, and a stamp after each read would only add
        the time that the reads before it took.
        """
        links, stamp = self._links, wake - self.clock
        got: list[tuple[Link, bytes]] = []
        for fd, mask in ready:
            link = links.get(fd)
            if link is None:
                continue
            if link.state is not OPEN:
                self._advance(link)
            elif link.tls or mask & ~1:
                self._slow(link, mask, got)
            else:
                try:
                    piece = link.recv(PIECE)
                except BlockingIOError:
                    continue
                except OSError:
                    piece = b""
                got.append((link, piece))
        for link, piece in got:
            self._take(link, stamp, piece)
        return len(got)

    def _slow(self, link: Link, mask: int, got: list[tuple[Link, bytes]]) -> None:
        """A connection that is encrypted, or of which epoll says more than that it can be read."""
        if mask & select.EPOLLOUT and link.reply is not None and link.out is not None:
            self._write_on(link, link.reply)
            if link.out is None:
                self.epoll.modify(link.fd, select.EPOLLIN)
        if mask & ~select.EPOLLOUT:
            try:
                if link.tls:
                    got.extend((link, piece) for piece in link.pieces())
                else:
                    got.append((link, link.recv(PIECE)))
            except BlockingIOError:
                pass
            except OSError:
                got.append((link, b""))

    def _advance(self, link: Link) -> None:
        reply = link.reply
        try:
            if not link.advance():
                return
        except failures.TargetError as fault:
            self._drop(link)
            if reply is None:
                self.owner.opened(None)
            else:
                self._end(reply, None, fault.kind, fault.message)
            return
        self.opened += 1
        if reply is None:
            self.owner.opened(link)
        else:
            reply.connect_s = link.took
            self._write(link, reply)

    def _take(self, link: Link, stamp: float, piece: bytes) -> None:
        """Take what a connection brought."""
        reply = link.reply
        if link.fd < 0:
            return
        if reply is None:
            # Nothing is under way: the server has closed an idle connection, or talks out of turn.
            self._drop(link)
            return
        if not piece:
            self._closed(link, reply, stamp)
            return
        reply.stamps.append(stamp)
        reply.lengths.append(len(piece))
        link.last = stamp
        try:
            if link.ending.reached(piece):
                self._ended(link, reply, stamp)
        except HeadError:
            # The reader says what is wrong with it.
            self._drop(link)
            self._end(reply, None)

    def _ended(self, link: Link, reply: Reply, stamp: float) -> None:
        head = link.ending.framing.head
        link.reply = None
        link.used += 1
        reply.t_end, reply.status = stamp, head.status if head else None
        if link.out is not None or head is None or head.closes:
            self._drop(link)
        self._give_back(reply, link if link.fd >= 0 else None)

    def _closed(self, link: Link, reply: Reply, stamp: float) -> None:
        """The server closed the connection with a request under way."""
        self._drop(link)
        if link.used and not reply.raw and stamp - reply.t_write < STALE_S and not reply.again:
            reply.again = True
            self.in_flight -= 1
            self.send(reply, None)
            return
        try:
            whole = link.ending.closed()
        except HeadError:
            whole = True
        if whole:
            head = link.ending.framing.head
            reply.status = head.status if head else None
            self._end(reply, None)
        elif reply.raw:
            self._end(
                reply, None, failures.TRUNCATED, "the server closed the connection before the answer was complete"
            )
        else:
            self._end(reply, None, failures.TRUNCATED, "the server closed the connection without an answer")

    def fail(self, reply: Reply, error: failures.TargetError) -> None:
        """End a request that could not be sent at all."""
        self.in_flight += 1
        reply.t_write = self.now()
        self._end(reply, None, error.kind, error.message)

    def _end(self, reply: Reply, link: Link | None, kind: str = "", message: str = "") -> None:
        reply.t_end, reply.kind, reply.message = self.now(), kind, message
        self._give_back(reply, link)

    def _sweep(self, now: float) -> None:
        """End the requests that took too long."""
        for link in list(self._links.values()):
            kind = self._late(link, now)
            if kind:
                reply = link.reply
                self._drop(link)
                if reply is None:
                    self.owner.opened(None)
                else:
                    self._end(reply, None, kind, failures.waited(kind, getattr(self.limits, _LIMITS[kind])))

    def _late(self, link: Link, now: float) -> str:
        """Kind of the time-out that a connection has run into; empty when it has not."""
        limits, reply = self.limits, link.reply
        if link.state is not OPEN:
            return failures.TIMEOUT_CONNECT if now + self.clock - link.began > limits.connect_s else ""
        if reply is None:
            return ""
        if now - reply.t_write > limits.total_s:
            return failures.TIMEOUT_TOTAL
        if not link.ending.begun:
            return failures.TIMEOUT_TTFT if now - reply.t_write > limits.ttft_s else ""
        return failures.TIMEOUT_IDLE if now - link.last > limits.idle_s else ""

    def stop(self) -> None:
        """End what is under way as aborted, and close all."""
        for link in list(self._links.values()):
            reply = link.reply
            self._drop(link)
            if reply is not None:
                self._end(reply, None, failures.ABORTED, "the round was ended while the request was under way")
        self.epoll.close()

    def _give_back(self, reply: Reply, link: Link | None) -> None:
        self.in_flight -= 1
        self.owner.ended(reply, link)

    def _drop(self, link: Link) -> None:
        self._links.pop(link.fd, None)
        link.close()
