# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Heads of HTTP/1.1: what we send, and what comes back. Pure."""

from __future__ import annotations

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.target import Place, Target

AGENT = "dgxspark.serving-benchmark"
# A head larger than this comes from no server that we talk to.
MOST_BYTES = 65536


class HeadError(ValueError):
    """Bytes that are no head of HTTP/1.x.

    Its text is what came, all of it: who shows it takes the key out first and cuts it then (`failures.first_words`).
    """


class Head:
    """Status and headers (names in lower case) of a reply.

    :ivar length: bytes of the body where that is said, else None
    :ivar content_type: of the body, without its parameters
    :ivar closes: the server closes the connection afterwards
    """

    def __init__(self, text: bytes) -> None:
        first, *lines = text.split(b"\r\n")
        words = first.split(b" ", 2)
        if not words[0].startswith(b"HTTP/1.") or len(words) < 2 or not words[1].isdigit():
            raise HeadError(first.decode("latin-1"))
        self.status = int(words[1])
        pairs = (line.partition(b":") for line in lines)
        self.headers = {name.strip().lower(): value.strip() for name, _colon, value in pairs}
        self.chunked = self.headers.get(b"transfer-encoding", b"").lower().endswith(b"chunked")
        length = self.headers.get(b"content-length", b"")
        self.length = int(length) if length.isdigit() and not self.chunked else None
        if self.status in (204, 304):
            self.chunked, self.length = False, 0
        kind = self.headers.get(b"content-type", b"").partition(b";")[0]
        self.content_type = kind.strip().lower().decode("latin-1")
        said = self.headers.get(b"connection", b"").lower()
        old = words[0] == b"HTTP/1.0" and said != b"keep-alive"
        self.closes = old or said == b"close" or (self.length is None and not self.chunked)


def request_head(
    target: Target, place: Place, path: str, length: int, *, method: str = "POST", accept: str = "*/*"
) -> bytes:
    """Write the head of a request; through a proxy a plain one names its whole URL."""
    where = f"{place.path}{path}"
    if target.proxy and not place.tls:
        where = f"http://{place.authority}{where}"
    lines = [f"{method} {where} HTTP/1.1", f"Host: {place.authority}", f"Accept: {accept}", f"User-Agent: {AGENT}"]
    if method == "POST":
        lines += ["Content-Type: application/json", f"Content-Length: {length}"]
    if target.key:
        lines.append(f"Authorization: Bearer {target.key}")
    return "\r\n".join([*lines, "", ""]).encode("latin-1", "replace")


def connect_head(place: Place) -> bytes:
    """Ask a proxy for a way to the target."""
    host = f"[{place.host}]" if ":" in place.host else place.host
    return f"CONNECT {host}:{place.port} HTTP/1.1\r\nHost: {host}:{place.port}\r\n\r\n".encode("latin-1")
