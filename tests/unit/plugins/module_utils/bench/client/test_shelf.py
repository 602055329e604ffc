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
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.shelf import Shelf


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
def test_without_room_on_the_disk_nothing_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(**_options: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    replies = [reply(number) for number in range(4)]
    with Shelf() as shelf:
        for one in replies:
            shelf.put(one)
            shelf.take(one)
    assert [list(one.received()) for one in replies] == [list(reply(number).received()) for number in range(4)]
