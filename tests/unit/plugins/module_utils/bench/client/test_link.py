# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a connection gives when it breaks."""

from __future__ import annotations

import select
import socket
import ssl
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.link import Link


@pytest.fixture
def link() -> Iterator[Link]:
    door: Any = SimpleNamespace(tls=object())
    one, other = socket.socketpair()
    with one, other, select.epoll() as epoll:
        yield Link(door, one, epoll, None)


@pytest.mark.parametrize(
    ("end", "found"),
    [
        (ssl.SSLWantReadError(), [b"one", b"two"]),
        (ssl.SSLWantWriteError(), [b"one", b"two"]),
        (b"", [b"one", b"two", b""]),
        (ssl.SSLEOFError(), [b"one", b"two", b""]),
        (ConnectionResetError(), [b"one", b"two", b""]),
        (ssl.SSLError(1, "DECRYPTION_FAILED_OR_BAD_RECORD_MAC"), [b"one", b"two", b""]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_had_come_before_a_break_is_not_lost(link: Link, end: Any, found: list[bytes]) -> None:
    """B6: an answer that is whole stays one although a reset follows it."""
    coming = iter([b"one", b"two", end])

    def recv(_most: int) -> bytes:
        piece = next(coming)
        if isinstance(piece, Exception):
            raise piece
        return bytes(piece)

    link.recv = recv
    assert link.pieces() == found
