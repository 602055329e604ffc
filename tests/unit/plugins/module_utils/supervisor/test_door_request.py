# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Questions at the door, as bytes."""

from __future__ import annotations

import json

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.door_request import (
    AGENT,
    READY,
    REFUSED,
    Asked,
    http_answer,
    parse,
)


@pytest.mark.parametrize(
    ("data", "asked"),
    [
        (b"", None),
        (b"agen", None),
        (b"agent\n", Asked(AGENT)),
        (b"agent\r\n", Asked(AGENT)),
        (b"GET /ready HTTP/1.0\r\n", None),
        (b"GET /ready HTTP/1.0\r\n\r\n", Asked(READY)),
        (b"GET /ready HTTP/1.1\r\nHost: a\r\n\r\n", Asked(READY)),
        (b"GET /ready HTTP/1.0\n\n", Asked(READY)),
        (b"GET /ready?new=1 HTTP/1.1\r\n\r\n", Asked(READY, new=True)),
        (b"GET /ready?a=b&new=1 HTTP/1.1\r\n\r\n", Asked(READY, new=True)),
        (b"GET /ready?new=0 HTTP/1.1\r\n\r\n", Asked(READY)),
        (b"GET / HTTP/1.1\r\n\r\n", Asked(REFUSED, status=404)),
        (b"GET /ready/x HTTP/1.1\r\n\r\n", Asked(REFUSED, status=404)),
        (b"POST /ready HTTP/1.1\r\n\r\n", Asked(REFUSED, status=405)),
        (b"GET /ready\r\n\r\n", Asked(REFUSED, status=400)),
        (b"\n", Asked(REFUSED, status=400)),
        (b"\x16\x03\x01\x02\x00\n", Asked(REFUSED, status=400)),
        (b"GET /ready HTTP/2\r\n\r\n", Asked(REFUSED, status=400)),
        (b"x" * 9000, Asked(REFUSED, status=400)),
        (b"GET /ready HTTP/1.1\r\nX: " + b"x" * 9000, Asked(REFUSED, status=400)),
    ],
)
def test_parse(data: bytes, asked: Asked | None) -> None:
    assert parse(data) == asked


@pytest.mark.parametrize("status", [200, 400, 404, 405, 503])
def test_http_answer(status: int) -> None:
    head, _blank, body = http_answer(status, {"ready": "\u00e9"}).partition(b"\r\n\r\n")
    assert head.startswith(f"HTTP/1.1 {status} ".encode())
    assert f"Content-Length: {len(body)}".encode() in head.split(b"\r\n")
    assert json.loads(body) == {"ready": "\u00e9"}
