# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Suite files: what is read, and every fault of a bad one."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.suites.suite import read_suite

PART = {"cases": ["short"], "targets": "both"}
VARIANTS = [
    {"name": "tp1", "playbook": "deploy_tp1", "extra_vars": {}},
    {"name": "tp2", "playbook": "", "extra_vars": {}},
]


def document(**more: Any) -> dict[str, Any]:
    good = {"name": "mine", "description": "d", "rounds": 4, "min_s": 2, "parts": [PART]}
    return {key: value for key, value in {**good, **more}.items() if value is not None}


def test_a_part_takes_what_it_does_not_say_from_the_suite() -> None:
    suite, faults = read_suite(document(parts=[PART, {**PART, "rounds": 2, "concurrency": [4]}]), "f.yml")
    assert faults == []
    assert suite is not None
    first, second = suite.parts
    assert (first.rounds, first.min_s, first.concurrency, first.load) == (4, 2.0, (1,), "closed")
    assert (second.rounds, second.min_s, second.concurrency) == (2, 2.0, (4,))
    assert first.stream
    assert first.languages == ("en",)


def test_blocks_choose_their_first_two_variants() -> None:
    suite, faults = read_suite(document(blocks={"variants": VARIANTS}), "f.yml")
    assert faults == []
    assert suite is not None
    assert suite.blocks == {"rounds": 3, "variants": VARIANTS, "chosen": ["tp1", "tp2"]}


@pytest.mark.parametrize(
    ("more", "place"),
    [
        ({"name": None}, "f.yml.name"),
        ({"name": "A b"}, "f.yml.name"),
        ({"description": ""}, "f.yml.description"),
        ({"round": 3}, "f.yml.round"),
        ({"rounds": 0}, "f.yml.rounds"),
        ({"rounds": 51}, "f.yml.rounds"),
        ({"rounds": True}, "f.yml.rounds"),
        ({"requests_per_user": 0}, "f.yml.requests_per_user"),
        ({"min_s": -1}, "f.yml.min_s"),
        ({"min_s": float("nan")}, "f.yml.min_s"),
        ({"needs": ["gpu"]}, "f.yml.needs"),
        ({"pairs": 1}, "f.yml.pairs"),
        ({"parts": []}, "f.yml.parts"),
        ({"parts": None}, "f.yml.parts"),
        ({"parts": ["short"]}, "f.yml.parts[0]"),
        ({"parts": [{"targets": "both"}]}, "f.yml.parts[0].cases"),
        ({"parts": [{**PART, "cases": []}]}, "f.yml.parts[0].cases"),
        ({"parts": [{**PART, "languages": ["de"]}]}, "f.yml.parts[0].languages"),
        ({"parts": [{**PART, "endpoints": ["embeddings"]}]}, "f.yml.parts[0].endpoints"),
        ({"parts": [{**PART, "stream": "no"}]}, "f.yml.parts[0].stream"),
        ({"parts": [{**PART, "targets": "all"}]}, "f.yml.parts[0].targets"),
        ({"parts": [{**PART, "load": "burst"}]}, "f.yml.parts[0].load"),
        ({"parts": [{**PART, "concurrency": [0]}]}, "f.yml.parts[0].concurrency"),
        ({"parts": [{**PART, "concurrency": [1025]}]}, "f.yml.parts[0].concurrency"),
        ({"parts": [{**PART, "concurrency": 4}]}, "f.yml.parts[0].concurrency"),
        ({"parts": [{**PART, "shares": [0]}]}, "f.yml.parts[0].shares"),
        ({"parts": [{**PART, "slice_s": 0}]}, "f.yml.parts[0].slice_s"),
        ({"parts": [{**PART, "to": 2048}]}, "f.yml.parts[0].to"),
        ({"parts": [{**PART, "concurency": [4]}]}, "f.yml.parts[0].concurency"),
        ({"blocks": []}, "f.yml.blocks"),
        ({"blocks": {"variants": []}}, "f.yml.blocks.variants"),
        ({"blocks": {"variants": [{"name": "a"}]}}, "f.yml.blocks.variants"),
        ({"blocks": {"variants": VARIANTS, "chosen": ["tp3"]}}, "f.yml.blocks.chosen"),
        ({"blocks": {"variants": VARIANTS, "rounds": 0}}, "f.yml.blocks.rounds"),
    ],
)
def test_each_fault_names_its_place(more: dict[str, Any], place: str) -> None:
    suite, faults = read_suite(document(**more), "f.yml")
    assert suite is None
    assert [fault.variable for fault in faults] == [place]
    assert all(fault.wanted and fault.remedy for fault in faults)


def test_all_faults_at_once() -> None:
    suite, faults = read_suite({"name": "x", "min_s": -1, "parts": [{"concurency": 3}]}, "f.yml")
    assert suite is None
    assert [fault.variable for fault in faults] == [
        "f.yml.description",
        "f.yml.min_s",
        "f.yml.parts[0].concurency",
        "f.yml.parts[0].cases",
    ]


@pytest.mark.parametrize("found", [None, "quick", [PART]])
def test_a_file_that_is_no_suite(found: Any) -> None:
    suite, (fault,) = read_suite(found, "f.yml")
    assert suite is None
    assert fault.variable == "f.yml"
