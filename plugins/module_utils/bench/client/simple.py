# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One request outside the measured time: metrics, names of models, counts of tokens. An edge; it blocks."""

from __future__ import annotations

import contextlib
import select
import socket
import time
from dataclasses import dataclass

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.failures import (
    BAD_JSON,
    TIMEOUT_TOTAL,
    TRUNCATED,
    TargetError,
    first_words,
    waited,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.framing import Framing
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.head import HeadError, request_head
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.link import PIECE, Door
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.opening import open_ahead
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.target import Target, resolve


@dataclass(frozen=True)
class Once:
    """An answer: its status, the type of its body, and the body."""

    status: int
    content_type: str
    body: bytes


def ask_once(
    target: Target, method: str, path: str, body: bytes = b"", *, timeout_s: float = 10.0, accept: str = "*/*"
) -> Once:
    """Send one request and wait for its answer; anything but a whole answer is a `TargetError`."""
    door = Door(target, resolve(target))
    epoll = select.epoll()
    with contextlib.closing(epoll):
        links, faults = open_ahead(door, epoll, 1, timeout_s)
        if faults:
            raise faults[0]
        link = links[0]
        epoll.unregister(link.fd)
        link.sock.settimeout(timeout_s)
        with link.sock:
            head = request_head(target, door.place, path, len(body), method=method, accept=accept)
            try:
                link.sock.sendall(head + body)
                return _answer(link.sock, time.monotonic() + timeout_s, timeout_s, target.key)
            except TimeoutError:
                raise TargetError(TIMEOUT_TOTAL, waited(TIMEOUT_TOTAL, timeout_s)) from None
            except OSError as fault:
                raise TargetError(TRUNCATED, f"the connection broke: {fault.strerror or fault}") from None


def _answer(sock: socket.socket, until: float, timeout_s: float, secret: str) -> Once:
    framing, parts = Framing(), []
    while not framing.ended:
        if time.monotonic() > until:
            raise TargetError(TIMEOUT_TOTAL, waited(TIMEOUT_TOTAL, timeout_s))
        piece = sock.recv(PIECE)
        if not piece:
            if framing.close():
                break
            raise TargetError(TRUNCATED, "the server closed the connection before the answer was complete")
        try:
            parts.append(framing.feed(piece))
        except HeadError as fault:
            raise TargetError(BAD_JSON, f"the answer is not HTTP: {first_words(str(fault), secret)}") from None
    head = framing.head
    return Once(head.status if head else 0, head.content_type if head else "", b"".join(parts))
