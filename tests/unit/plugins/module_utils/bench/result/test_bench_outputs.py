# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files that are made of a result: as they were, whole, safe, and without a figure where there is none."""

from __future__ import annotations

import csv
import io
import json
import re
import xml.etree.ElementTree as ET
from collections import Counter
from html.parser import HTMLParser
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client import failures
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result import (
    csv_long,
    facts_text,
    html,
    html_parts,
    junit,
    markdown,
    screen,
    written,
)
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.bench.result.pretended_result import (
    all_failed,
    example,
    golden,
    nothing_known,
    nothing_measured,
    point,
)

RESULTS = (example, all_failed, nothing_measured, nothing_known)
VOID = {"meta", "br", "link", "img", "input", "hr"}


def page(found: dict[str, Any]) -> str:
    return html.page(found, ())


WRITERS = {"report.md": markdown.text, "report.csv": csv_long.text, "report.html": page, "junit.xml": junit.text}


@pytest.mark.parametrize("name", WRITERS)
def test_golden_file(name: str) -> None:
    assert WRITERS[name](example()) == golden(name), "look at the difference, then: python -m tools.bench_golden"


def test_a_result_is_written_and_read_as_it_is() -> None:
    assert written.text(example()) == golden("result.json")
    assert json.loads(written.text(nothing_measured())) == nothing_measured()
    with pytest.raises(ValueError, match="JSON compliant"):
        written.text({"a": float("nan")})


@pytest.mark.parametrize("make", RESULTS)
@pytest.mark.parametrize("name", WRITERS)
def test_every_result_gives_every_file(name: str, make: Any) -> None:
    text = WRITERS[name](make())
    assert text.endswith("\n")
    assert not re.search(r"\bNone\b|\bnan\b|\binf\b", text)


@pytest.mark.parametrize("name", WRITERS)
def test_b08_all_requests_failed(name: str) -> None:
    text = WRITERS[name](all_failed())
    assert "empty_output" in text
    assert "24" in text


def test_b08_no_figure_is_n_a_with_its_reason_and_the_pipeline_stops() -> None:
    found = all_failed()
    assert "Not one request succeeded" in markdown.text(found)
    assert '<abbr title="no request succeeded">n/a</abbr>' in page(found)
    assert screen.failure(found).startswith("Not one request succeeded (empty_output 288).")
    rows = [row for row in markdown.headline_table(found)[2:] if row]
    assert all(row.count("n/a") == 6 for row in rows)


def test_b14_the_clients_own_timeout_is_said_to_be_its_own() -> None:
    for name in ("report.md", "report.html", "junit.xml"):
        said = failures.waited(failures.TIMEOUT_TTFT, 300.0)
        assert (html_parts.safe(said) if name == "report.html" else said) in golden(name)


def test_nothing_measured_stops_the_pipeline_and_success_does_not() -> None:
    assert screen.failure(nothing_measured()) == "Nothing was measured: no round has ended."
    assert screen.failure(example()) == ""


class Page(HTMLParser):
    """What is in a page, and whether its tags match."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.loads: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        named = dict(attrs)
        self.ids += [named["id"] or ""] if "id" in named else []
        self.loads += [value or "" for name, value in attrs if name in ("src", "href", "data", "srcset", "action")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("make", RESULTS)
def test_the_page_is_well_formed_and_loads_nothing(make: Any) -> None:
    found = Page(page(make()))
    assert found.open == []
    assert len(found.ids) == len(set(found.ids))
    assert not {"script", "link", "img", "iframe", "base"} & set(found.tags)
    assert all(target.startswith("#") and target[1:] in found.ids for target in found.loads)


def test_the_page_has_its_sections() -> None:
    ids = Page(page(example())).ids
    for wanted in ("headline", "decision", "comparison", "pairs", "case-short-en", "hosts", "failures", "provenance"):
        assert wanted in ids
    assert "no-pictures" in ids


def test_a_second_source_has_a_section_with_its_notes() -> None:
    found = example()
    assert [row["agrees"] for row in found["second_source"]["rows"]] == [True, False]
    found["second_source"]["notes"] = [f"{HOSTILE} is at https://b"]
    for text in (markdown.text(found), page(found)):
        assert "agrees at 1 of 2 points" in text
        assert "is at https://b" in text
    assert "script" not in Page(page(found)).tags
    assert "<script>" not in markdown.text(found)
    found["second_source"]["rows"] = []
    assert "## Second source\n\n- " in markdown.text(found)
    assert "second-source" in Page(page(found)).ids
    found["second_source"]["rows"] = example()["second_source"]["rows"]
    found["second_source"]["rows"][0]["agrees"] = None
    assert "not known" in markdown.text(found)


def test_without_a_second_source_there_is_no_section() -> None:
    found = {**example(), "second_source": None}
    del_it = {key: value for key, value in found.items() if key != "second_source"}
    for one in (found, del_it):
        assert "Second source" not in markdown.text(one)
        assert "second-source" not in Page(page(one)).ids


def test_the_page_follows_light_and_dark_and_takes_nothing_from_a_network() -> None:
    text = page(example())
    assert "prefers-color-scheme: dark" in text
    assert not re.search(r"@import|url\(", text)
    assert "<script" not in text


HOSTILE = "<script>x</script> | `a` *b* ]]> \x00\x1b \ud800"


def test_hostile_text_stays_text() -> None:
    found = example()
    point(found, 0)["target"] = HOSTILE
    point(found, 0).update(valid=False, invalid_reasons=[HOSTILE])
    point(found, 0)["errors"] = {"tls": 1}
    point(found, 0)["error_samples"] = [{"kind": "tls", "message": HOSTILE, "ids": []}]
    found["run"]["label"] = HOSTILE
    found["findings"] = [{"code": "x", "severity": "info", "text": HOSTILE}]
    assert "script" not in Page(page(found)).tags
    page(found).encode("utf-8")
    ET.fromstring(junit.text(found))
    assert "<script>" not in markdown.text(found)
    assert all(line.count(" | ") == 10 for line in markdown.headline_table(found)[2:])


def test_junit_counts_what_failed() -> None:
    root = ET.fromstring(golden("junit.xml"))
    points, rows = list(root)
    judged = Counter(row["verdict"] for row in example()["comparison"]["rows"])
    assert min(judged.values()) > 0 and len(judged) == 4, "a row of each kind"
    assert (points.get("tests"), points.get("failures")) == ("12", "2")
    assert rows.get("tests") == str(judged.total())
    assert (rows.get("failures"), rows.get("skipped")) == (str(judged["regression"]), str(judged["inconclusive"]))
    assert any("rounds on each side would settle it" in (one.get("message") or "") for one in rows.iter("skipped"))
    kinds = [failure.get("type") for failure in root.iter("failure")]
    assert kinds == ["errors", "invalid", *["regression"] * judged["regression"]]


def test_csv_is_one_figure_a_line_with_its_unit() -> None:
    rows = list(csv.DictReader(io.StringIO(golden("report.csv"))))
    found = example()
    first = point(found, 0)
    wanted = {"target": first["target"], "n": "1", "metric": "ttft_ms", "stat": "p50"}
    (row,) = [row for row in rows if row["point"] == first["id"] and all(row[key] == wanted[key] for key in wanted)]
    assert float(row["value"]) == first["summary"]["ttft_ms"]["p50"]
    assert (row["run"], row["unit"], row["valid"]) == (found["run"]["id"], "ms", "true")
    assert all(float(row["value"]) == float(row["value"]) and row["unit"] for row in rows)
    assert len({(row["point"], row["metric"], row["stat"]) for row in rows}) == len(rows)


def test_markdown_is_short_enough_for_an_issue() -> None:
    assert len(golden("report.md")) < 65536 / 4
    long = example()
    for one in long["points"]:
        one["error_samples"] = [{"kind": kind, "message": "x" * 100000} for kind in one["errors"]]
    assert len(markdown.text(long)) < 65536 / 4


def test_what_is_not_valid_is_marked_everywhere() -> None:
    (invalid,) = [one for one in example()["points"] if not one["valid"]]
    for name in ("report.md", "report.html", "junit.xml"):
        assert invalid["invalid_reasons"][0].split(": ", 1)[1].split("'")[0] in golden(name)
    assert any(invalid["id"] in line for line in facts_text.warnings(example()))


def test_the_screen_names_the_worst_first_and_the_files() -> None:
    said = screen.lines(example(), ["/r/report.html"])
    order = ["error", "warning", "info"]
    severities = [line.split(":")[0] for line in said if line.startswith(tuple(f"{word}: " for word in order))]
    assert {"error", "warning"} <= set(severities)
    assert severities == sorted(severities, key=order.index)
    assert said[-1] == "written: /r/report.html"
    assert any(line.startswith("regression against 20261101T080000Z-standard-main") for line in said)


def test_another_tools_figures_are_said_to_be_its_own() -> None:
    found = example()
    found["tool"]["imported_from"] = {"tool": "llama-benchy", "version": None, "file": "c4.json", "digest": "sha256:0"}
    words = "Measured with llama-benchy, not with this collection; read from c4.json."
    assert words in markdown.text(found)
    assert words in page(found)


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({}, "n/a"),
        (
            {"tensor_parallel_size": 1, "replicas": [{"hosts": ["a"]}, {"hosts": ["b"]}]},
            "TP=1 on 2 replicas of 1 host each",
        ),
        ({"tensor_parallel_size": 2, "replicas": [{"hosts": ["a", "b"]}]}, "TP=2 on 1 replica of 2 hosts"),
        ({"tensor_parallel_size": 2, "pipeline_parallel_size": 2}, "TP=2 PP=2"),
        ({"engine": "vllm", "version": None, "gateway": {"provider": "nginx", "version": None}}, "vllm, gateway nginx"),
    ],
)
def test_a_deployment_in_words(facts: dict[str, Any], words: str) -> None:
    assert facts_text.deployment_line(facts) == words


def test_b11_the_way_to_a_target_is_said() -> None:
    target = {"name": "gateway", "url": "http://spark1:8080", "via": "gateway"}
    assert facts_text.target_line(target, {"proxy": ""}) == "http://spark1:8080, gateway, no proxy"
    assert facts_text.target_line(target, {"proxy": "http://p:3128"}) == (
        "http://spark1:8080, gateway, by proxy http://p:3128"
    )
    assert facts_text.target_line(target, {}) == "http://spark1:8080, gateway"
