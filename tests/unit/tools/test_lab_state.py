# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run takes down at its end: what it added, and nothing else."""

from __future__ import annotations

from tools.lab_state import LAB, LabState, clean_up_commands

NOTHING = LabState(engine=False, labs=frozenset())


def with_labs(*names: str) -> LabState:
    """Return a machine with an engine and these labs."""
    return LabState(engine=True, labs=frozenset(names))


def test_an_engine_of_ours_goes_with_all_its_labs() -> None:
    assert clean_up_commands(NOTHING, with_labs("a")) == [[*LAB, "down", "--all", "--engine-too"]]
    assert clean_up_commands(NOTHING, with_labs()) == [[*LAB, "down", "--all", "--engine-too"]]


def test_labs_and_engine_that_were_there_stay() -> None:
    assert clean_up_commands(with_labs("mine"), with_labs("mine", "b", "a")) == [
        [*LAB, "down", "--name", "a"],
        [*LAB, "down", "--name", "b"],
    ]
    assert clean_up_commands(with_labs("mine"), with_labs("mine")) == []


def test_nothing_to_do_without_an_engine() -> None:
    assert clean_up_commands(NOTHING, NOTHING) == []
