# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Datagrams of a group."""

from __future__ import annotations

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.messages import Message, decode, encode


@pytest.mark.parametrize(
    "message",
    [
        Message("big-0", "0123456789ab", 0, 7, "serving", "serve"),
        Message("big-0", "0123456789ab", 1, 7, "serving", pressure=True),
        Message("big-0", "0123456789ab", 1, 7, "stopping", "", "the engine ended with exit code 0"),
    ],
)
def test_there_and_back(message: Message) -> None:
    assert decode(encode(message)) == message


def test_a_long_reason_fits_into_a_frame() -> None:
    told = Message("big-0", "0123456789ab", 1, 7, "stopping", "", "x" * 5000)
    assert len(encode(told)) < 1400


@pytest.mark.parametrize(
    "datagram",
    [
        b"",
        b"\xff\xfe",
        b"hello",
        b"[1, 2]",
        b"null",
        b"{}",
        b'{"replica": "big-0", "generation": "a", "rank": "one", "epoch": 1, "phase": "down", "reason": ""}',
        b'{"replica": "big-0", "generation": "a", "rank": 1, "epoch": null, "phase": "down", "reason": ""}',
        b"[" * 100_000,
    ],
)
def test_garbage_is_ignored(datagram: bytes) -> None:
    assert decode(datagram) is None
