# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Replies that wait: in memory, in a file, and in memory when there is no room on the disk."""

from __future__ import annotations

import tempfile
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client import shelf as shelf_module
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.ask import Ask
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.reply import Reply
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.shelf import Shelf, part_for


def reply(number: int) -> Reply:
    made = Reply(Ask(number, "/v1/x", b"", "chat"), 0, 0.0)
    for length in (1, 5, 30):
        made.add(float(length), b"%d" % number * length)
    return made


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shelf_module, "IN_MEMORY", 50)


@pytest.mark.usefixtures("small")
def test_what_is_too_much_for_memory_comes_back_from_the_file() -> None:
    replies = [reply(number) for number in range(4)]
    with Shelf() as shelf:
        for one in replies:
            shelf.put(one)
        assert [bool(one.raw) for one in replies] == [True, False, False, False]
        for one in reversed(replies):
            shelf.take(one)
    assert [list(one.received()) for one in replies] == [list(reply(number).received()) for number in range(4)]


@pytest.mark.usefixtures("small")
def test_parts_of_replies_that_are_under_way_come_back_in_their_order() -> None:
    replies = [reply(number) for number in range(3)]
    wanted = [[*reply(number).received(), (9.0, b"the rest"), (10.0, b"end")] for number in range(3)]
    with Shelf() as shelf:
        for one in replies:
            held = one.raw
            shelf.put_part(one)
            assert held is one.raw
            assert not held
        for stamp, piece in ((9.0, b"the rest"), (10.0, b"end")):
            for one in reversed(replies):
                one.add(stamp, piece)
        for one in replies[:2]:
            shelf.put_part(one)
        for one in replies:
            shelf.put(one)
            shelf.take(one)
    assert [list(one.received()) for one in replies] == wanted


def test_the_more_are_under_way_the_shorter_is_long() -> None:
    assert [part_for(users) for users in (0, 1, 256, 100_000)] == [2_000_000, 2_000_000, 7812, 4096]


@pytest.mark.usefixtures("small")
def test_without_room_on_the_disk_nothing_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(**_options: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    replies = [reply(number) for number in range(4)]
    with Shelf() as shelf:
        for one in replies:
            shelf.put_part(one)
            shelf.put(one)
            shelf.take(one)
    assert [list(one.received()) for one in replies] == [list(reply(number).received()) for number in range(4)]
