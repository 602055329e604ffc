# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Points that were ordered and have no figures, and where a report says so."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result import (
    assemble,
    check,
    html,
    junit,
    markdown,
    screen,
    unmeasured,
)
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.bench.result.pretended_result import example


def spec(number: int, users: int, warmup: bool = False) -> dict[str, Any]:
    return {
        "id": f"{number:04}",
        "point": f"short-en/chat/gateway/n{users}/ladder",
        "case": "short-en",
        "target": "gateway",
        "endpoint": "chat",
        "stream": True,
        "load": {"model": "closed", "n": users},
        "warmup": warmup,
    }


ORDERED = [spec(1, 1, warmup=True), spec(2, 1), spec(3, 2), spec(4, 4), spec(5, 4)]


def test_a_point_is_named_once_with_the_reason() -> None:
    skipped = {**spec(3, 2), "skipped": "The ladder is at its end.", "skip_kind": "ladder"}
    found = unmeasured.points(ORDERED, [spec(2, 1), skipped], ["short-en/chat/gateway/n1/ladder"])
    assert [(one["id"][-9:], one["kind"], one["why"]) for one in found] == [
        ("n2/ladder", "ladder", "The ladder is at its end."),
        ("n4/ladder", "", unmeasured.ENDED),
    ]
    assert found[1]["load"] == {"model": "closed", "n": 4}


def test_it_is_kept_in_the_result() -> None:
    order = {"run": {"id": "r"}, "targets": [], "cases": [], "rounds": ORDERED}
    found = assemble.result(assemble.Found(order, [], ()), "1.2.3")
    assert [one["id"] for one in found["not_measured"]] == [f"short-en/chat/gateway/n{n}/ladder" for n in (1, 2, 4)]
    assert check.faults(found, "here") == []


@pytest.mark.parametrize(("client", "name"), [("spark7", "spark7"), ("localhost", "box"), ("", "box"), (None, "box")])
def test_the_client_is_named_as_the_inventory_does_it(client: str | None, name: str) -> None:
    played = {**spec(1, 1), "began": 1.0, "seconds": 1.0, "client": {"host": "box"}, "requests": []}
    order = {"run": {"id": "r", "client": client}, "rounds": []}
    assert assemble.result(assemble.Found(order, [played], ()), "1")["run"]["client"] == name


def test_what_lacks_of_the_baseline_is_in_every_report() -> None:
    found = example()
    lost = {key: spec(1, 4)[key] for key in ("point", "case", "target", "endpoint", "stream", "load")}
    others = {**lost, "point": "short-en/chat/gateway/n32", "asked": False, "why": "It was not asked for."}
    gone = [{**lost, "asked": True, "why": "The run ended before it."}, others]
    sentence = (
        "Not measured now, though asked for and in the baseline: short-en/chat/gateway/n4/ladder. "
        "The run ended before it."
    )
    found["comparison"].update(only_in_baseline=gone, only_now=[], notes=[sentence])
    assert check.faults(found, "here") == []
    assert sentence in screen.lines(found, [])
    assert sentence in markdown.text(found)
    assert sentence in html.page(found, [])
    cases = ET.fromstring(junit.text(found)).findall(".//testcase")
    (case,) = [case for case in cases if str(case.get("name")).startswith("measured ")]
    message = "inconclusive: in the baseline, and not measured now. The run ended before it."
    assert [(child.tag, child.get("message")) for child in case] == [("skipped", message)]
