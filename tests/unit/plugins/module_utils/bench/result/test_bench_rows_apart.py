# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of a comparison and of pairs name their points so that no two look alike, and their notes stand below."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.judge import comparison_text
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.judge.comparison import compare
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.judge.pairs import pairs_of
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result import (
    figures_forest,
    html,
    junit,
    markdown,
    verdicts,
)
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.bench.judge.bench_points import (
    point,
    result,
)

OPEN = {"model": "open", "requests": 40}
# As the suites gateway (one user, in four ways) and standard (four users in three parts, two open loads) have them.
ALIKE: dict[str, dict[str, Any]] = {
    "short-en/chat/{}/n1": {},
    "short-en/completions/{}/n1": {"endpoint": "completions"},
    "short-en/responses/{}/n1": {"endpoint": "responses"},
    "short-en/chat/{}/n1/whole": {"stream": False},
    "short-en/chat/{}/n4": {"load": {"model": "closed", "n": 4}},
    "short-en/chat/{}/n4/hosts": {"load": {"model": "closed", "n": 4}},
    "short-en/chat/{}/n4/ladder": {"load": {"model": "closed", "n": 4}},
    "short-en/chat/{}/open0.5": {"load": {**OPEN, "rate": 1.5, "share": 0.5}},
    "short-en/chat/{}/open0.8": {"load": {**OPEN, "rate": 2.4, "share": 0.8}},
}
LOADS = ["1", "1", "1", "1", "4", "4 (hosts)", "4 (ladder)", "1.50/s", "2.40/s"]


def points(target: str = "gateway", **more: Any) -> list[dict[str, Any]]:
    return [point(target, 1, **{"id": name.format(target), **own, **more}) for name, own in ALIKE.items()]


@pytest.fixture
def compared() -> dict[str, Any]:
    return compare(result(*points(failed=1)), result(*points()))


def test_no_two_rows_of_a_comparison_look_alike(compared: dict[str, Any]) -> None:
    cells = [tuple(cell.text for cell in row[:4]) for row in verdicts.comparison_rows(compared)]
    assert len(set(cells)) == len(cells) == len(compared["rows"])
    failed = [cell for cell in cells if cell[3] == "error_rate"]
    assert [cell[2] for cell in failed] == LOADS
    assert [cell[0] for cell in failed[1:4]] == [
        "short-en (completions)",
        "short-en (responses)",
        "short-en (not streamed)",
    ]
    table = [line for line in comparison_text.lines(compared) if line]
    assert len(set(table)) == len(table)
    labels = [row.label for row in figures_forest.of_comparison(compared)[0].rows]
    assert len(set(labels)) == len(labels)


def test_the_sentence_with_which_a_run_fails_says_which_point_it_was(compared: dict[str, Any]) -> None:
    found = comparison_text.failure(compared, "regression")
    assert "short-en (completions), gateway, N = 1: error_rate" in found
    places = dict.fromkeys(comparison_text.where(row) for row in compared["rows"])
    assert list(places)[5:] == [
        "short-en, gateway, N = 4 (hosts)",
        "short-en, gateway, N = 4 (ladder)",
        "short-en, gateway, 1.50/s",
        "short-en, gateway, 2.40/s",
    ]


def test_each_test_case_of_junit_has_a_name_of_its_own(compared: dict[str, Any]) -> None:
    found = result(*points(), comparison=compared)
    names = [case.get("name") for case in ET.fromstring(junit.text(found)).iter("testcase")]
    assert len(set(names)) == len(names) == len(ALIKE) + len(compared["rows"])
    assert "error_rate short-en/chat/gateway/n4/ladder" in names


PAIRS = {
    "targets": [
        {"name": "gateway", "via": "gateway", "hosts": ["spark1", "spark2"]},
        {"name": "main-0", "via": "direct", "hosts": ["spark1"]},
    ]
}


def test_no_two_rows_of_pairs_look_alike() -> None:
    found = pairs_of([*points(), *points("main-0")], PAIRS)
    cells = [tuple(cell.text for cell in row[:4]) for row in verdicts.pair_rows(found)]
    assert len(set(cells)) == len(cells) == len(found)
    assert list(dict.fromkeys(cell[2] for cell in cells)) == list(dict.fromkeys(LOADS))
    assert len({row.label for row in figures_forest.of_pairs(found, {})[0].rows}) == len(cells)


def test_that_a_pair_is_of_unequal_hardware_is_said_once_below_its_table() -> None:
    pairs = pairs_of([*points(), *points("main-0", valid=False, invalid_reasons=["Late."])], PAIRS)
    found = result(*points(), pairs=pairs)
    said = "gateway has 2 hosts behind it, main-0 has 1 host: the ratio is of unequal hardware."
    assert markdown.text(found).count(f"- {said}") == 1
    page = html.page(found, ())
    assert page.count(f"<li>{said}</li>") == 1
    assert page.count(f'title="main-0 is invalid here: Late. {said}"') == len(pairs)
    # The same of many rows is one line with the first of them.
    (line,) = [line for line in markdown.text(found).splitlines() if "is invalid here" in line]
    assert line == (
        "- gateway / main-0, short-en, 1: ttft_ms; gateway / main-0, short-en (completions), 1: ttft_ms; "
        f"gateway / main-0, short-en (responses), 1: ttft_ms; and {len(pairs) - 3} more: main-0 is invalid here: Late."
    )


def test_notes_of_a_comparison_are_in_the_text_to_paste(compared: dict[str, Any]) -> None:
    text = markdown.text(result(*points(), comparison=compared))
    assert "- short-en, gateway, N = 1: error_rate; short-en (completions), gateway, N = 1: error_rate; " in text
    assert "; and 6 more: Failed now: http_5xx 1." in text


def test_the_margins_stand_with_the_verdict(compared: dict[str, Any]) -> None:
    line = verdicts.comparison_line({**compared, "margins": {"tpot_ms": 0.025, "ttft_ms": 0.1, "ttft_least_ms": 20.0}})
    assert line.endswith(". Margins: tpot_ms 2.5 %, ttft_ms 10 % (and 20 ms).")
    assert "Margins" not in verdicts.comparison_line({**compared, "margins": {}})


def test_what_was_asked_otherwise_is_a_note_and_no_refusal() -> None:
    def asked(**run: Any) -> dict[str, Any]:
        whole = result(point())
        return {**whole, "run": {**whole["run"], **run}}

    before = asked(proxy="", goodput={"ttft_ms": 200.0, "tpot_ms": None}, limits={"ttft_s": 300.0})
    now = asked(proxy="http://p:3128", goodput={"ttft_ms": 100.0, "tpot_ms": None}, limits={"ttft_s": 300.0})
    found = compare(now, before)
    assert found["notes"] == [
        "Asked by the proxy none before, http://p:3128 now: the way to the server is part of TTFT and E2EL.",
        "Limits for goodput ttft_ms 200 before, ttft_ms 100 now: goodput is not of the same thing.",
    ]
    assert set(found["notes"]) <= set(comparison_text.lines(found))
    assert all(note in html.page({**now, "comparison": found}, ()) for note in found["notes"])
    assert compare(now, result(point()))["notes"] == []
