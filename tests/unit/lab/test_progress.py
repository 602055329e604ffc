# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Progress lines."""

from __future__ import annotations

import threading

import pytest

from lab import progress as module
from lab.progress import long_step, progress


@pytest.fixture
def spoken(monkeypatch: pytest.MonkeyPatch) -> tuple[list[str], threading.Event]:
    """Collect the lines, and tell when one says that a step is still going."""
    lines: list[str] = []
    going = threading.Event()

    def hear(text: str) -> None:
        lines.append(text)
        if "still going" in text:
            going.set()

    monkeypatch.setattr(module, "progress", hear)
    return lines, going


def test_line(capsys: pytest.CaptureFixture) -> None:
    progress("hello")
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("lab: [")
    assert captured.err.endswith(" s] hello\n")


def test_long_step_says_that_it_goes_on(spoken: tuple[list[str], threading.Event]) -> None:
    lines, going = spoken
    with long_step("work", every=0.01):
        assert going.wait(30)
    assert lines[0] == "work"
    assert lines[1].startswith("work: still going after ")
    assert lines[-1].startswith("work: done in ")


def test_failed_step_is_not_said_to_be_done(spoken: tuple[list[str], threading.Event]) -> None:
    lines, _going = spoken
    with pytest.raises(ValueError, match="no"), long_step("work"):
        raise ValueError("no")
    assert lines == ["work"]


def test_only_the_innermost_step_speaks(spoken: tuple[list[str], threading.Event]) -> None:
    lines, going = spoken
    with long_step("outer", every=0.01):
        going.wait(30)
        with long_step("inner", every=0.01):
            before = len(lines)
            going.clear()
            assert going.wait(30)
            during = lines[before:]
    assert any(line.startswith("inner: still") for line in during)
    assert sum(line.startswith("outer: still") for line in during) <= 1, "one may have been on its way"
