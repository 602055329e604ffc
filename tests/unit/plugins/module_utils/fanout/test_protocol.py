# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests of what hosts say to each other."""

from __future__ import annotations

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.fanout import protocol


def test_a_request_brings_the_token_and_where_to_begin() -> None:
    assert protocol.request("/7", "192.0.2.1", "abc", 5) == (
        b"GET /7 HTTP/1.1\r\nHost: 192.0.2.1\r\nAuthorization: Bearer abc\r\nRange: bytes=5-\r\n\r\n"
    )
    assert b"Range" not in protocol.request("/7", "192.0.2.1", "abc")


@pytest.mark.parametrize(
    ("header", "good"), [("Bearer abc", True), ("Bearer abd", False), ("abc", False), ("", False), (None, False)]
)
def test_only_the_token_opens(header: str | None, good: bool) -> None:
    assert protocol.authorized(header, "abc") is good


@pytest.mark.parametrize(
    ("path", "number"),
    [("/0", 0), ("/17", 17), ("/", None), ("/07", None), ("/-1", None), ("/1/2", None), ("/1\n", None), ("/٣", None)],
)
def test_a_path_is_a_number(path: str, number: int | None) -> None:
    assert protocol.number_in(path) == number


@pytest.mark.parametrize(
    ("header", "offset"),
    [(None, 0), ("bytes=0-", 0), ("bytes=9-", 9), ("bytes=10-", None), ("bytes=1-5", None), ("bytes=-5", None)],
)
def test_a_range_is_the_rest_of_a_file(header: str | None, offset: int | None) -> None:
    assert protocol.offset_in(header, 10) == offset


@pytest.mark.parametrize(
    ("head", "length", "cause"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n", 12, ""),
        (b"HTTP/1.1 206 Partial Content\r\ncontent-length:12\r\n\r\n", 12, ""),
        (b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n", 0, "refuses with HTTP status 401"),
        (b"HTTP/1.1 200 OK\r\n\r\n", 0, "answers with something that is not HTTP"),
        (b"SSH-2.0-OpenSSH_9.2\r\n\r\n", 0, "answers with something that is not HTTP"),
    ],
)
def test_the_head_of_an_answer(head: bytes, length: int, cause: str) -> None:
    assert protocol.head_end(head[:-1]) == 0
    assert protocol.head_end(head + b"body") == len(head)
    if cause:
        with pytest.raises(protocol.BadAnswer, match=cause):
            protocol.length_in(head)
    else:
        assert protocol.length_in(head) == length


def test_a_head_that_never_ends_is_given_up() -> None:
    with pytest.raises(protocol.BadAnswer):
        protocol.head_end(b"x" * 5000)
