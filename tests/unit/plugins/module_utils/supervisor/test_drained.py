# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The flag that keeps a replica out of rotation."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.drained import Drained, parse, read, text_of

NOW = 1_700_000_100.0
FLAG = Drained("chat-0", "ann@desk", 1_700_000_000.5, "new driver")


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "drain.json"
    assert read(path, "chat-0", NOW) is None
    path.write_text(text_of(FLAG))
    assert read(path, "chat-0", NOW) == FLAG
    assert read(path, "chat-1", NOW) is None


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", "{}", '{"replica": "chat-0", "by": "", "at": "x", "reason": ""}']
)
def test_a_flag_that_cannot_be_read_counts(tmp_path: Path, text: str) -> None:
    with pytest.raises(ValueError):
        parse(text)
    path = tmp_path / "drain.json"
    path.write_text(text)
    found = read(path, "chat-0", NOW)
    assert found is not None
    assert (found.replica, "cannot be read" in found.reason) == ("chat-0", True)


@pytest.mark.parametrize(("expires", "counts"), [(0.0, True), (NOW + 1, True), (NOW, False), (NOW - 1, False)])
def test_a_flag_counts_until_it_expires(tmp_path: Path, expires: float, counts: bool) -> None:
    path = tmp_path / "drain.json"
    path.write_text(text_of(replace(FLAG, expires=expires)))
    assert (read(path, "chat-0", NOW) is not None) == counts


def test_any_replica(tmp_path: Path) -> None:
    path = tmp_path / "drain.json"
    path.write_text(text_of(FLAG))
    assert read(path, "", NOW) == FLAG
