# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who was told of a drain."""

from __future__ import annotations

from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.told import Told


def shown(told: Told, drained: bool, now: float) -> tuple[list[str], list[str]]:
    found = told.shown(drained, now)
    return found["drain"], found["waiting"]


def test_a_gateway_is_waited_for_until_all_its_lists_have_asked() -> None:
    told = Told(0)
    for now in (10.0, 11.0, 12.0):
        told.note("a", False, now)
    assert shown(told, False, 12.0) == ([], [])
    assert shown(told, True, 12.1) == ([], ["a"])
    told.note("a", True, 12.5)
    assert shown(told, True, 12.6) == ([], ["a"])
    told.note("a", True, 13.5)
    told.note("a", True, 14.5)
    assert shown(told, True, 14.5) == (["a"], [])


def test_the_end_of_a_drain_is_waited_for_in_the_same_way() -> None:
    told = Told(0)
    told.note("a", True, 10.0)
    told.note("a", True, 13.0)
    assert shown(told, False, 13.1) == ([], ["a"])
    told.note("a", False, 14.0)
    told.note("a", False, 16.0)
    assert shown(told, False, 16.0) == ([], [])


def test_each_gateway_counts_and_one_that_is_gone_does_not() -> None:
    told = Told(0)
    told.note("b", False, 10.0)
    told.note("a", True, 10.0)
    told.note("a", True, 14.0)
    assert shown(told, True, 14.0) == (["a"], ["b"])
    assert shown(told, True, 15.1) == (["a"], [])
    assert shown(told, True, 20.0) == ([], [])


def test_how_long_gateways_could_ask() -> None:
    assert Told(100.0).shown(True, 103.25)["listening"] == 3.2
