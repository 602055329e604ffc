# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who asks when: users who ask again as soon as they have their answer, or a schedule that waits for nobody."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client import failures
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.ask import Ask
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.link import Link
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.loop import Loop
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.reply import Reply
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.shelf import Shelf
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.supply import Supply

# After a failure a user waits before the next request, in seconds: a dead endpoint is not to be stormed.
PAUSE_S = 0.05
CONNECT_PAUSE_S = 0.5
# Idle connections that an open load keeps at hand.
SPARE = 4
_UNREACHED = (failures.CONNECT, failures.TLS, failures.DNS, failures.TIMEOUT_CONNECT)

Progress = Callable[[int, int, int, float], None]
Answer = Callable[[Reply], None]


class Load:
    """What all loads have in common: they keep the replies and tell how far they are.

    :ivar replies: in the order of their end
    :ivar failed: of these the ones whose failure shows on the wire
    """

    def __init__(self, loop: Loop, supply: Supply) -> None:
        self.loop, self.supply = loop, supply
        self.replies: list[Reply] = []
        self.failed = 0
        self.on_progress: Progress | None = None
        self.over: Callable[[], bool] | None = None
        self.on_reply: Answer | None = None
        self.shelf: Shelf | None = None
        self._told = 0.0
        loop.owner = self

    def going(self) -> bool:
        """Something is under way or still to come."""
        raise NotImplementedError

    def begin(self) -> None:
        """Send the first requests."""
        raise NotImplementedError

    def ended(self, reply: Reply, link: Link | None) -> None:
        """Keep the reply, and let the load go on."""
        self.replies.append(reply)
        self.failed += _failed(reply)
        if self.on_reply is not None:
            self.on_reply(reply)
        if self.shelf is not None:
            self.shelf.put(reply)
        self.go_on(reply, link)

    def long(self, reply: Reply) -> None:
        """Put aside what a reply has got so far."""
        if self.shelf is not None:
            self.shelf.put_part(reply)

    def go_on(self, reply: Reply, link: Link | None) -> None:
        """Do what follows the end of a request."""
        raise NotImplementedError

    def opened(self, link: Link | None) -> None:
        """Nobody asked for a connection."""

    def idle(self) -> None:
        """Make the next request while nobody waits."""
        self.supply.fill(1)

    def sweep(self, now: float) -> bool:
        """Tell how far it is; ask whether to go on."""
        if self.on_progress is not None and now - self._told >= 1.0:
            self._told = now
            self.on_progress(len(self.replies), self.loop.in_flight, self.failed, now)
        return self.over is None or not self.over()


class Closed(Load):
    """So many users: each asks again at once, until enough requests have begun and enough time has passed."""

    def __init__(self, loop: Loop, supply: Supply, load: Mapping[str, Any]) -> None:
        super().__init__(loop, supply)
        self.users = int(load.get("n") or 1)
        self.requests = int(load.get("requests") or 0)
        self.min_s = float(load.get("min_s") or 0.0)
        self._begun = 0
        self._waiting = 0  # users who pause after a failure

    def prepare(self) -> None:
        """Open a connection for each user."""
        self._links, self._faults = self.loop.open_ahead(self.users)
        self.supply.fill(self.users)

    def begin(self) -> None:
        """Let each user send a request; who has no connection has failed already."""
        for user in range(self.users):
            if user < len(self._links):
                self._next(user, self._links[user])
                continue
            ask = self._draw(user)
            if ask is not None:
                self.loop.fail(Reply(ask, user, 0.0), self._faults[user - len(self._links)])

    def going(self) -> bool:
        """A request is under way, or a user is about to send one."""
        return self.loop.in_flight > 0 or self._waiting > 0

    def go_on(self, reply: Reply, link: Link | None) -> None:
        """Send the user's next request; after a failure, after a pause."""
        if not _failed(reply):
            self._next(reply.user, link)
            return
        pause = CONNECT_PAUSE_S if reply.kind in _UNREACHED else PAUSE_S
        self._waiting += 1
        self.loop.at(self.loop.now() + pause, lambda: self._resume(reply.user, link))

    def _resume(self, user: int, link: Link | None) -> None:
        self._waiting -= 1
        self._next(user, link)

    def _next(self, user: int, link: Link | None) -> None:
        ask = self._draw(user)
        if ask is not None:
            self.loop.send(Reply(ask, user, 0.0), link)

    def _draw(self, user: int) -> Ask | None:
        hopeless = self.failed == len(self.replies) > 0
        if self._begun >= self.requests and (hopeless or self.loop.now() >= self.min_s):
            return None
        ask = self.supply.next(user)
        self._begun += ask is not None
        return ask


class Open(Load):
    """A schedule: each request is sent when it is due, whether or not others have been answered."""

    def __init__(self, loop: Loop, supply: Supply, load: Mapping[str, Any]) -> None:
        super().__init__(loop, supply)
        self.requests = int(load.get("requests") or 0)
        self._begun = 0
        self._pending = False
        self._opening = 0
        self._idle: deque[Link] = deque()

    def prepare(self) -> None:
        """Open some connections."""
        links, _faults = self.loop.open_ahead(SPARE)
        self._idle.extend(links)
        self.supply.fill(SPARE)

    def begin(self) -> None:
        """Wait for the first request to be due."""
        self._schedule()

    def going(self) -> bool:
        """A request is under way or will be due."""
        return self.loop.in_flight > 0 or self._pending

    def go_on(self, reply: Reply, link: Link | None) -> None:
        """Keep the connection for another request."""
        if link is not None:
            self._idle.append(link)

    def opened(self, link: Link | None) -> None:
        """Keep a connection that was opened for later; None when that failed."""
        self._opening -= 1
        if link is not None:
            self._idle.append(link)

    def _schedule(self) -> None:
        ask = self.supply.peek() if not self.requests or self._begun < self.requests else None
        self._pending = ask is not None
        if ask is not None:
            self.loop.at(ask.due or 0.0, self._send)

    def _send(self) -> None:
        ask = self.supply.next(0)
        if ask is not None:
            self._begun += 1
            self.loop.send(Reply(ask, self._begun - 1, 0.0, t_sched=ask.due or 0.0), self._spare())
            if len(self._idle) + self._opening < SPARE and self.loop.open_spare():
                self._opening += 1
        self._schedule()

    def _spare(self) -> Link | None:
        """An idle connection that the server has not closed; the last used one is the likeliest to be open."""
        while self._idle:
            link = self._idle.pop()
            if link.fd >= 0:
                return link
        return None


def _failed(reply: Reply) -> bool:
    """Say whether a request has failed, as far as it shows without reading its body."""
    return bool(reply.kind) or reply.status != 200
