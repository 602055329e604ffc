# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the next request comes from: drawn ahead, so that making one does not hold up the stamps of others. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.ask import Ask

# Bytes of bodies that are kept ready.
MOST_BYTES = 8_000_000


class Supply:
    """Requests for users.

    :param asks: an iterator for all of them, or what is called with a user's number and gives None at their end
    :param ahead: how many to have ready; 0 when a request depends on the answer before it
    """

    def __init__(self, asks: Iterator[Ask] | Callable[[int], Ask | None], ahead: int) -> None:
        self._of_user = asks if callable(asks) else None
        self._asks = iter(()) if callable(asks) else asks
        self._ahead = 0 if callable(asks) else ahead
        self._ready: deque[Ask] = deque()
        self._bytes = 0
        self._ended = False

    def fill(self, most: int) -> None:
        """Draw so many requests, as long as there is room for them."""
        while most > 0 and len(self._ready) < self._ahead and self._bytes < MOST_BYTES:
            ask = self._draw()
            if ask is None:
                return
            self._ready.append(ask)
            self._bytes += len(ask.body)
            most -= 1

    def next(self, user: int) -> Ask | None:
        """Give the next request of a user; None when there is none."""
        if self._of_user is not None:
            return self._of_user(user)
        if not self._ready:
            return self._draw()
        ask = self._ready.popleft()
        self._bytes -= len(ask.body)
        return ask

    def peek(self) -> Ask | None:
        """Show the next request without taking it."""
        if not self._ready:
            ask = self._draw()
            if ask is None:
                return None
            self._ready.append(ask)
            self._bytes += len(ask.body)
        return self._ready[0]

    def _draw(self) -> Ask | None:
        if self._ended:
            return None
        ask = next(self._asks, None)
        self._ended = ask is None
        return ask
