# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kinds of failed requests, and the words that go with them. Pure."""

from __future__ import annotations

import errno
import json
import os
import socket
import ssl

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result import no_secrets

CONNECT, TLS, DNS = "connect", "tls", "dns"
TIMEOUT_CONNECT, TIMEOUT_TTFT = "timeout_connect", "timeout_ttft"
TIMEOUT_IDLE, TIMEOUT_TOTAL = "timeout_idle", "timeout_total"
HTTP_4XX, HTTP_429, HTTP_5XX = "http_4xx", "http_429", "http_5xx"
STREAM_ERROR, TRUNCATED, SHORT_OUTPUT = "stream_error", "truncated", "short_output"
EMPTY_OUTPUT, BAD_JSON, ABORTED = "empty_output", "bad_json", "aborted"
KINDS = (
    CONNECT, TLS, DNS, TIMEOUT_CONNECT, TIMEOUT_TTFT, TIMEOUT_IDLE, TIMEOUT_TOTAL, HTTP_4XX, HTTP_429, HTTP_5XX,
    STREAM_ERROR, TRUNCATED, SHORT_OUTPUT, EMPTY_OUTPUT, BAD_JSON, ABORTED,
)  # fmt: skip
# Characters of a foreign text that are shown.
WORDS = 200
# What stands in place of the key.
HIDDEN = "***"

_WAITS = {
    TIMEOUT_CONNECT: "connection",
    TIMEOUT_TTFT: "first byte of the answer",
    TIMEOUT_IDLE: "next piece of the answer",
    TIMEOUT_TOTAL: "end of the answer",
}


class TargetError(Exception):
    """A target cannot be talked to.

    :ivar kind: one of `KINDS`
    """

    def __init__(self, kind: str, message: str) -> None:
        self.kind, self.message = kind, message
        super().__init__(message)


def waited(kind: str, seconds: float) -> str:
    """Say that it was the client who gave up: the server may still have been at work (field fault B14)."""
    return f"the client's own time-out: no {_WAITS[kind]} within {seconds:g} s; the server did not end the request"


def of_status(status: int) -> str:
    """Kind of a reply that is no success."""
    if status == 429:
        return HTTP_429
    if 400 <= status < 500:
        return HTTP_4XX
    return HTTP_5XX if status >= 500 else BAD_JSON


def of_connect(fault: OSError) -> TargetError:
    """Kind and words of what the system said to an attempt to connect."""
    if isinstance(fault, ssl.SSLCertVerificationError):
        return TargetError(TLS, f"the certificate is refused: {fault.verify_message}")
    if isinstance(fault, ssl.SSLError):
        reason = str(getattr(fault, "reason", None) or fault)
        return TargetError(TLS, f"the TLS handshake failed: {reason.replace('_', ' ').lower()}")
    if isinstance(fault, socket.gaierror):
        return TargetError(DNS, f"the name has no address: {fault.strerror}")
    return TargetError(CONNECT, f"no connection: {os.strerror(fault.errno) if fault.errno else fault}")


def of_errno(number: int) -> TargetError:
    """As `of_connect`, for the number that a socket keeps."""
    if number == errno.ETIMEDOUT:
        return TargetError(TIMEOUT_CONNECT, "the client's own time-out: its system gave up connecting")
    return TargetError(CONNECT, f"no connection: {os.strerror(number)}")


def hidden(text: str, secret: str) -> str:
    """The text without a key that it says back, as it is or as JSON writes it.

    Of a text that is to be cut this comes first: of a key that lies across the cut a part would stay.
    """
    if not secret:
        return text
    return text.replace(secret, HIDDEN).replace(json.dumps(secret)[1:-1], HIDDEN)


def first_words(text: str, secret: str = "") -> str:
    """Begin of a foreign text in one line, without ``secret`` and without what looks like another key."""
    begin = hidden(text, secret)[: 8 * WORDS]
    line = no_secrets.text(" ".join(begin.encode("utf-8", "replace").decode().split()))
    return line if len(line) <= WORDS else line[: WORDS - 1] + "…"
