# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is a result of the benchmark, and what is refused with which words."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result import check
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.bench.result.pretended_result import (
    all_failed,
    example,
    nothing_known,
    nothing_measured,
)


@pytest.mark.parametrize("make", [example, all_failed, nothing_measured, nothing_known])
def test_a_result_is_one(make: Any) -> None:
    assert check.faults(make(), "result.json") == []


@pytest.mark.parametrize(
    ("document", "found"),
    [
        ([], "array"),
        ("spark_bench/1", "string"),
        (None, "null"),
        ({}, "no schema"),
        ({"schema": "spark_bench/2"}, "spark_bench/2"),
        ({"schema": "guidellm/1"}, "schema 'guidellm/1'"),
        ({"schema": 1}, "schema '1'"),
    ],
)
def test_another_schema_is_refused_by_its_name(document: Any, found: str) -> None:
    (fault,) = check.faults(document, "old.json")
    assert "old.json" in fault.variable
    assert fault.found == found
    assert "spark_bench/1" in fault.wanted
    assert fault.remedy


@pytest.mark.parametrize(
    ("path", "value", "place", "found", "wanted"),
    [
        (
            ["points", 0, "stats", "ttft_ms", "median"],
            "fast",
            "$.points[0].stats.ttft_ms.median",
            "string",
            "number or null",
        ),
        (["points", 0, "load", "model"], "burst", "$.points[0].load.model", "'burst'", "closed, open, series"),
        (["points", 0, "errors"], {"broken": 1}, "$.points[0].errors.broken", "'broken'", "connect, tls"),
        (["points", 0, "errors"], {"tls": -1}, "$.points[0].errors.tls", "-1", "0 or more"),
        (["points", 0, "valid"], 1, "$.points[0].valid", "integer", "boolean"),
        (["run", "interrupted"], None, "$.run.interrupted", "null", "boolean"),
        (["comparison", "exit_code"], True, "$.comparison.exit_code", "True", "0, 1, 3"),
        (["findings", 0, "severity"], "bad", "$.findings[0].severity", "'bad'", "info, warning, error"),
    ],
)
def test_a_wrong_value_is_named_with_its_place(
    path: list[Any], value: Any, place: str, found: str, wanted: str
) -> None:
    document = example()
    *way, last = path
    held: Any = document
    for step in way:
        held = held[step]
    held[last] = value
    (fault,) = check.faults(document, "r.json")
    assert fault.variable == f"r.json: {place}"
    assert fault.found == found
    assert wanted in fault.wanted


def test_a_result_of_an_earlier_day_has_no_second_source() -> None:
    document = example()
    del document["second_source"]
    document.pop("not_measured", None)
    assert check.faults(document, "r.json") == []


@pytest.mark.parametrize("key", [key for key in example() if key not in ("schema", "second_source", "not_measured")])
def test_each_missing_key_is_named(key: str) -> None:
    document = example()
    del document[key]
    assert [fault.variable for fault in check.faults(document, "r.json")] == [f"r.json: $.{key}"]


def test_a_broken_file_is_told_by_its_first_faults() -> None:
    faults = check.faults({"schema": "spark_bench/1"}, "r.json")
    assert len(faults) == check.MOST_FAULTS
