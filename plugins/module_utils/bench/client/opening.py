# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Connections that are opened, and handshaken, before the clock starts. An edge."""

from __future__ import annotations

import select
import time

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.failures import (
    TIMEOUT_CONNECT,
    TargetError,
    of_connect,
    waited,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.link import Door, Link

# Connections begun at the same time: more than a server's backlog holds would wait for TCP's second attempt.
ABREAST = 32


def open_ahead(door: Door, epoll: select.epoll, number: int, connect_s: float) -> tuple[list[Link], list[TargetError]]:
    """Open so many connections; give them, and what went wrong with the others."""
    good: list[Link] = []
    bad: list[TargetError] = []
    opening: dict[int, Link] = {}
    while len(good) + len(bad) < number:
        while len(opening) < ABREAST and len(good) + len(bad) + len(opening) < number:
            _begin(door, epoll, opening, bad)
        for fd, _mask in epoll.poll(min(0.1, connect_s / 5)) if opening else ():
            if fd in opening:
                _advance(fd, opening, good, bad)
        late = time.perf_counter() - connect_s
        for fd in [fd for fd, link in opening.items() if link.began < late]:
            opening.pop(fd).close()
            bad.append(TargetError(TIMEOUT_CONNECT, waited(TIMEOUT_CONNECT, connect_s)))
    return good, bad


def _begin(door: Door, epoll: select.epoll, opening: dict[int, Link], bad: list[TargetError]) -> None:
    try:
        link = door.open(epoll)
    except OSError as fault:
        bad.append(of_connect(fault))
    else:
        opening[link.fd] = link


def _advance(fd: int, opening: dict[int, Link], good: list[Link], bad: list[TargetError]) -> None:
    link = opening[fd]
    try:
        if link.advance():
            good.append(opening.pop(fd))
    except TargetError as fault:
        opening.pop(fd).close()
        bad.append(fault)
