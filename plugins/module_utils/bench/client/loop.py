# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The loop: many connections, one thread, stamps of the wake that brought what came. An edge.

Nothing is parsed while it runs but the framing of HTTP, and the collector of garbage is off: both would make stamps
late. A wake reads all ready sockets first and looks at what they brought afterwards.
"""

from __future__ import annotations

import heapq
import select
import sys
import time
from collections.abc import Callable

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client import failures
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.ask import Limits
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.head import HeadError
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.lag import SHORT_PIECE, Lag, tokens_in
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.link import OPEN, PIECE, Door, Link
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.opening import open_ahead
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.overdue import (
    overdue,
    overdue_words,
    shortest,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.owner import Nobody, Owner
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.reply import Reply
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.wakes import Wakes
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.writing import write, write_on

# How often time-outs are looked for and the owner is asked whether to go on, in seconds.
SWEEP_S = 0.1
# How often a wait ends by its own time, so that its lateness can be seen.
WAIT_S = 0.05
# A kept connection that closes so soon after a request without a word was closed before the request came.
STALE_S = 0.1


class Loop:
    """Connections to one target.

    :ivar owner: the load; to be set before the first request
    :ivar clock: the stamp that is the zero of all times
    :ivar in_flight: requests under way
    :ivar opened: connections that were opened
    :ivar long: bytes from which on a reply under way is shown to the owner
    """

    def __init__(self, door: Door, limits: Limits) -> None:
        self.door, self.limits = door, limits
        self.owner: Owner = Nobody()
        self.clock = time.perf_counter()
        self.in_flight = 0
        self.opened = 0
        self.long = sys.maxsize
        self.epoll = select.epoll()
        self._wakes = Wakes(self.epoll)
        self._links: dict[int, Link] = {}
        self._timers: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = 0
        self._sweep_s = max(0.01, min(SWEEP_S, shortest(limits) / 5))

    @property
    def lag(self) -> Lag:
        """How late the stamps are."""
        return self._wakes.lag

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
            write(self.door, link, reply, self.clock)
            return
        try:
            link = self.door.open(self.epoll, reply)
        except OSError as fault:
            # Not at once: who asked would be called before it has heard of its request.
            error = failures.of_connect(fault)
            self.at(reply.t_write, lambda: self._end(reply, None, error.kind, error.message))
            return
        self._links[link.fd] = link

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
        owner, wakes, perf = self.owner, self._wakes, time.perf_counter
        sweep_at = tick_at = 0.0
        tick = min(WAIT_S, self._sweep_s)
        wakes.begin()
        while going():
            since = perf() - self.clock
            if since >= sweep_at:
                sweep_at = since + self._sweep_s
                self._sweep(since)
                if not owner.sweep(since):
                    return
            if tick_at <= since:
                tick_at = since + tick
            ready, wake = wakes.wait(self._wait(since, tick_at))
            if ready:
                self._receive(ready, wake - self.clock)
            else:
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

    def _receive(self, ready: list[tuple[int, int]], stamp: float) -> None:
        """Read all ready connections, then look at what came.

        The stamp is that of the wake: what made a connection ready had come by then, and a stamp after each read would
        only add the time that the reads before it took. What comes while they are read is stamped too early, by so much
        at most.
        """
        links = self._links
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
        off = max(self._wakes.late, self.now() - stamp)
        tokens = 0
        for link, piece in got:
            self._take(link, stamp, piece)
            tokens += 1 if len(piece) < SHORT_PIECE else tokens_in(piece)
        self.lag.wake(off, tokens)

    def _slow(self, link: Link, mask: int, got: list[tuple[Link, bytes]]) -> None:
        """A connection that is encrypted, or of which epoll says more than that it can be read."""
        if mask & select.EPOLLOUT and link.reply is not None and link.out is not None:
            write_on(link, link.reply, self.clock)
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
            write(self.door, link, reply, self.clock)

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
            ended = link.ending.reached(piece)
            if not ended and len(reply.raw) > self.long:
                ended = link.ending.let_go(lambda: self.owner.long(reply))
            if ended:
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
        if link.used and not reply.lengths and stamp - reply.t_write < STALE_S and not reply.again:
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
        elif reply.lengths:
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
            kind = overdue(link, self.limits, now, self.clock)
            if kind:
                reply = link.reply
                self._drop(link)
                if reply is None:
                    self.owner.opened(None)
                else:
                    self._end(reply, None, kind, overdue_words(kind, self.limits))

    def stop(self) -> None:
        """End what is under way as aborted, and close all."""
        for link in list(self._links.values()):
            reply = link.reply
            self._drop(link)
            if reply is not None:
                self._end(reply, None, failures.ABORTED, "the round was ended while the request was under way")
        self._wakes.close()
        self.epoll.close()

    def _give_back(self, reply: Reply, link: Link | None) -> None:
        self.in_flight -= 1
        self.owner.ended(reply, link)

    def _drop(self, link: Link) -> None:
        self._links.pop(link.fd, None)
        link.close()
