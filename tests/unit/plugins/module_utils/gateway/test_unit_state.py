# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A unit as systemd shows it, and what its program says."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.service import children
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.unit_state import State, cause, parse_state


def test_a_unit_that_runs() -> None:
    text = (
        "MainPID=846\nNRestarts=2\nActiveState=active\nSubState=running\nUnitFileState=enabled\n"
        "ActiveEnterTimestamp=@1796013689\n"
    )
    assert parse_state(text) == State("active", "running", True, 846, 2, 1796013689)


@pytest.mark.parametrize("text", ["", "ActiveState=inactive\nMainPID=0\nActiveEnterTimestamp=\nUnitFileState=\n"])
def test_a_unit_that_is_not_there(text: str) -> None:
    assert parse_state(text) == State()


@pytest.mark.parametrize(
    ("said", "found"),
    [
        (
            (
                "[WARNING]  (1) : Former worker (2) exited with code 0 (Exit)\n"
                "[ALERT]    (8) : Binding [/x/haproxy.cfg:36]: cannot bind socket (Address already in use).\n"
                "x.service: Main process exited, code=exited\nx.service: Failed with result 'exit-code'.\n"
            ),
            "Binding [/x/haproxy.cfg:36]: cannot bind socket (Address already in use)",
        ),
        ('2026/11/30 04:00:00 [emerg] 12#12: unknown directive "x" in /a:3\n', 'unknown directive "x" in /a:3'),
        ("one\ntwo\nthree\n", "two | three"),
        ("", "nothing"),
    ],
)
def test_the_cause(said: str, found: str) -> None:
    assert cause(said) == found


def test_the_children_of_a_process(tmp_path: Path) -> None:
    for pid, parent, name in ((10, 1, "master"), (11, 10, "a (b) c"), (12, 10, "x"), (13, 12, "x")):
        (tmp_path / str(pid)).mkdir()
        (tmp_path / str(pid) / "stat").write_text(f"{pid} ({name}) S {parent} 1 1")
    (tmp_path / "99").mkdir()
    assert children(10, tmp_path) == {11, 12}
    assert children(0, tmp_path) == set()
