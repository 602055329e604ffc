# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which cases a suite plays, once the user has had a say."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.suites.choice import chosen_parts
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.bench.suites.ordered import (
    case,
    cases,
    suite,
)

PARTS = suite(
    {"cases": ["short"], "concurrency": [1, 8]},
    {"cases": ["short"], "load": "ladder"},
    {"cases": ["long"], "concurrency": [1]},
    {"cases": ["short"], "load": "series"},
).parts


def chosen(wished: str = "", languages: str = "", own: tuple[str, ...] = ()) -> list[tuple[str, tuple[str, ...]]]:
    known = {**cases(), **{name: case(name) for name in own}}
    parts, faults = chosen_parts(PARTS, wished.split(), languages.split(), known, own)
    assert faults == []
    return [(part.load, part.cases) for part in parts]


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (
            {},
            [
                ("closed", ("short-en",)),
                ("ladder", ("short-en",)),
                ("closed", ("long-en",)),
                ("series", ("short-en",)),
            ],
        ),
        ({"wished": "long"}, [("closed", ("long-en",))]),
        ({"wished": "long-en"}, [("closed", ("long-en",))]),
        ({"wished": "talk"}, [("closed", ("talk-en",))]),  # the suite has it not: as its last closed part
        ({"wished": "long short-zh"}, [("closed", ("long-en", "short-zh"))]),
        (
            {"wished": "short", "languages": "zh"},
            [("closed", ("short-zh",)), ("ladder", ("short-zh",)), ("series", ("short-zh",))],
        ),
        (
            {"own": ("mine-en",)},
            [
                ("closed", ("short-en",)),
                ("ladder", ("short-en",)),
                ("closed", ("long-en", "mine-en")),
                ("series", ("short-en",)),
            ],
        ),
        ({"own": ("mine-en",), "wished": "mine-en"}, [("closed", ("mine-en",))]),
    ],
)
def test_chosen(arguments: dict[str, Any], parts: list[tuple[str, tuple[str, ...]]]) -> None:
    assert chosen(**arguments) == parts


def test_an_unknown_case_is_named_with_those_there_are() -> None:
    _parts, (fault,) = chosen_parts(PARTS, ["short", "epic"], [], cases(), [])
    assert (fault.variable, fault.found) == ("benchmark_cases[1]", "'epic'")
    assert "'long'" in fault.wanted
    assert "'long-en'" in fault.wanted


def test_a_language_that_a_case_has_not() -> None:
    _parts, (fault,) = chosen_parts(PARTS, [], ["zh"], cases(), [])
    assert fault.found == "the case long-zh"
