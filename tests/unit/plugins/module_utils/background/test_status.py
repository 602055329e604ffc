# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests of how far work is."""

from __future__ import annotations

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.background.status import Status, decoded, line


def test_kept_and_read() -> None:
    status = Status("running", 5, 10, "x", 1.5, result={"a": 1})
    assert decoded(status.encoded()) == status
    assert "result" not in status.public()


@pytest.mark.parametrize("content", [b"", b"{", b'{"state": "running", "more": 1}', b"[1]"])
def test_what_is_no_status(content: bytes) -> None:
    with pytest.raises(ValueError):
        decoded(content)


@pytest.mark.parametrize(
    ("now", "before", "words"),
    [
        (Status(seconds=12), None, "s1: hashing m: 12 s"),
        (Status(done=10**10, total=4 * 10**10, seconds=10), None, "s1: hashing m: 10.0 GB of 40.0 GB, 1.00 GB/s, 10 s"),
        (
            Status(done=3 * 10**10, total=4 * 10**10, seconds=20, text="last"),
            Status(done=10**10, total=4 * 10**10, seconds=10),
            "s1: hashing m: 30.0 GB of 40.0 GB, 2.00 GB/s, last, 20 s",
        ),
        (Status(done=10**9, seconds=10), Status(done=10**9, seconds=10), "s1: hashing m: 1.0 GB, 10 s"),
    ],
)
def test_line(now: Status, before: Status | None, words: str) -> None:
    assert line("s1", "hashing m", now.public(), before.public() if before else None) == words
