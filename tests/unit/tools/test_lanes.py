# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which check starts when."""

from __future__ import annotations

from tools.lanes import LIGHT_SLOTS, SLOTS, Kind, Step, fits, in_order, next_step

STATIC = Step("static", ("true",))
STATIC2 = Step("static2", ("true",))
LAB = Step("lab", ("true",), Kind.LAB)
LAB2 = Step("lab2", ("true",), Kind.LAB)
HEAVY = Step("heavy", ("true",), Kind.HEAVY)
HEAVY2 = Step("heavy2", ("true",), Kind.HEAVY)
ALONE = Step("alone", ("true",), Kind.ALONE)


def starts(pending: list[Step]) -> list[tuple[str, tuple[str, ...]]]:
    """Run steps of which the oldest always ends first; return (started, beside what) in order."""
    pending, running, seen = list(pending), [], []
    while pending or running:
        while step := next_step(pending, running):
            pending.remove(step)
            seen.append((step.name, tuple(other.name for other in running)))
            running.append(step)
        assert 0 < len(running) <= LIGHT_SLOTS
        running.pop(0)
    return seen


def test_heavy_goes_beside_one_other_that_is_not_heavy() -> None:
    assert fits(HEAVY, [STATIC])
    assert fits(HEAVY, [LAB])
    assert fits(LAB, [HEAVY])
    assert not fits(HEAVY2, [HEAVY])
    assert not fits(HEAVY, [LAB, LAB2])
    assert not fits(LAB, [HEAVY, LAB2])
    assert not fits(LAB, [HEAVY, STATIC])


def test_what_labs_need_goes_beside_no_lab() -> None:
    assert fits(ALONE, [STATIC])
    assert fits(STATIC, [ALONE])
    assert fits(STATIC, [ALONE, STATIC2])
    assert not fits(STATIC, [ALONE, STATIC2, STATIC2])
    for step in (LAB, HEAVY):
        assert not fits(step, [ALONE])
        assert not fits(ALONE, [step])


def test_three_light_labs_and_no_more() -> None:
    assert fits(LAB, [LAB2, LAB2])
    assert not fits(LAB, [LAB2, LAB2, LAB2])
    assert not fits(LAB, [LAB2, STATIC])


def test_no_more_than_two() -> None:
    assert not fits(STATIC, [LAB, STATIC2])
    assert next_step([STATIC], [LAB, STATIC2]) is None


def test_a_lab_starts_first_and_static_goes_beside_it() -> None:
    assert next_step([STATIC, LAB], []) is LAB
    assert next_step([STATIC, LAB2], [LAB]) is STATIC
    assert next_step([STATIC2, LAB2], [STATIC]) is LAB2


def test_light_labs_pair_up_when_static_ones_are_used_up() -> None:
    assert next_step([LAB2], [LAB]) is LAB2
    assert next_step([HEAVY2, LAB, STATIC], [HEAVY]) is STATIC
    assert next_step([HEAVY2, LAB], [HEAVY]) is LAB
    assert next_step([HEAVY2, LAB2], [LAB]) is HEAVY2


def test_static_ones_pair_up_when_there_is_no_lab() -> None:
    assert next_step([STATIC2], [STATIC]) is STATIC2


def test_every_step_runs_once_and_heavy_ones_never_beside_each_other() -> None:
    order = starts(in_order([LAB, STATIC, HEAVY, LAB2, HEAVY2, STATIC2, ALONE]))
    assert sorted(name for name, _beside in order) == ["alone", "heavy", "heavy2", "lab", "lab2", "static", "static2"]
    assert order[0] == ("alone", ())
    for name, beside in order:
        together = {name, *beside}
        assert not {"heavy", "heavy2"} <= together
        assert len(together) <= SLOTS or together <= {"lab", "lab2"} or together == {"alone", "static", "static2"}


def test_heavy_first_and_long_ones_before_short_ones() -> None:
    long = Step("long", ("true",), Kind.LAB, seconds=LAB.seconds + 1)
    given = [LAB, HEAVY, LAB2, ALONE, long, HEAVY2]
    assert [step.name for step in in_order(given)] == ["alone", "heavy", "heavy2", "long", "lab", "lab2"]
