# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One HTTP exchange over a socket, as little as Docker and the engines need. An edge.

The standard library's clients load four times the memory that a supervisor may take. HTTP/1.0 has no chunks and no
connections to keep.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Sequence

# More than any answer that is asked for; it bounds what a broken peer can make a supervisor read.
MOST = 16 * 1024**2


def exchange(
    address: str | tuple[str, int],
    method: str,
    path: str,
    timeout: float,
    host: str = "localhost",
    headers: Sequence[str] = (),
    content: bytes = b"",
) -> tuple[int, bytes]:
    """Ask once and read the whole answer.

    :param address: path of a Unix socket, or host and port
    :param timeout: seconds for all of it
    :param headers: further lines of the request's head
    :returns: status and body
    :raises OSError: no connection, no answer in time, or none that is HTTP
    """
    deadline = time.monotonic() + timeout
    family = socket.AF_UNIX if isinstance(address, str) else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as connection:
        connection.settimeout(timeout)
        connection.connect(address)
        lines = (f"{method} {path} HTTP/1.0", f"Host: {host}", f"Content-Length: {len(content)}", *headers, "", "")
        connection.sendall("\r\n".join(lines).encode() + content)
        parts, size = [], 0
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError(f"no whole answer within {timeout:g} s")
            connection.settimeout(left)
            part = connection.recv(65536)
            if not part:
                break
            size += len(part)
            if size > MOST:
                raise ConnectionError("the answer is too long")
            parts.append(part)
    head, found, body = b"".join(parts).partition(b"\r\n\r\n")
    words = head.split(b"\r\n", 1)[0].split()
    if not found or len(words) < 2 or not words[0].startswith(b"HTTP/") or not words[1].isdigit():
        raise ConnectionError("the answer is not HTTP")
    return int(words[1]), body


def address_of(base_url: str) -> tuple[str, int]:
    """Host and port of ``http://HOST:PORT``.

    :raises ValueError: it is not such a URL
    """
    scheme, _slashes, rest = base_url.partition("://")
    host, _colon, port = rest.strip("/").rpartition(":")
    if scheme != "http" or not host:
        raise ValueError(f"{base_url!r} is not http://HOST:PORT")
    return host, int(port)
