# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The hosts that a stream may ask, and which of them is next. Thin: it waits, and asks no host itself."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

# Seconds before a host is asked again that may still be starting, and one that has given nothing.
STARTING, PAUSE = 0.1, 1.0
# So often each address may fail one after the other without a byte in between.
ROUNDS = 2


class NobodyLeft(Exception):
    """No host gives any more; the text says who did what."""


@dataclass(frozen=True)
class Route:
    """One address of one host.

    :ivar host: its place among the hosts, nearest first
    """

    host: int
    address: str


class Routes:
    """The ways of one stream to the payload.

    :param upstreams: addresses of each host, nearest first
    :param stream: number of the stream: streams begin at different addresses of a host, so that all cables carry
    :param patience: seconds from now in which a host that has not answered yet may still be starting
    """

    def __init__(self, upstreams: Sequence[Sequence[str]], stream: int, patience: float) -> None:
        self._routes = [
            Route(host, addresses[(stream + shift) % len(addresses)])
            for host, addresses in enumerate(upstreams)
            for shift in range(len(addresses))
        ]
        self.hosts = len(upstreams)
        self._at = 0
        self._failures = 0
        self._causes: dict[str, str] = {}
        self._answered: set[int] = set()
        self._until = time.monotonic() + patience

    @property
    def current(self) -> Route:
        """Whom to ask now."""
        return self._routes[self._at]

    def answered(self) -> None:
        """Say that the current host is there."""
        self._answered.add(self.current.host)

    def gave(self) -> None:
        """Say that the current host has sent something."""
        self._failures = 0

    def failed(self, cause: str) -> None:
        """Say that the current host gave nothing, and go to the next one; back to the nearest after a pause only.

        :raises NobodyLeft: when all have failed again and again
        """
        here = self.current
        self._causes[here.address] = cause
        if here.host not in self._answered and time.monotonic() < self._until:
            self._next_address()
            time.sleep(STARTING)
            return
        self._failures += 1
        if self._failures >= ROUNDS * len(self._routes):
            raise NobodyLeft("; ".join(f"{address} {cause}" for address, cause in sorted(self._causes.items())))
        self._at = (self._at + 1) % len(self._routes)
        if self._at == 0:
            time.sleep(PAUSE)

    def other_host(self) -> None:
        """Go to another host, if there is one: the current one gave something wrong."""
        host = self.current.host
        while self.hosts > 1 and self.current.host == host:
            self._at = (self._at + 1) % len(self._routes)

    def _next_address(self) -> None:
        """The next address of the same host."""
        same = [at for at, route in enumerate(self._routes) if route.host == self.current.host]
        self._at = same[(same.index(self._at) + 1) % len(same)]
