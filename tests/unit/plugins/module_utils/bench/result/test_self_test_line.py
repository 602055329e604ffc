# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The client's self-test in a result: its shape, and its line in the reports."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.self_figures import NOTHING
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result import check, facts_text, html, markdown
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.bench.result.pretended_result import example

WHOLE = {
    **NOTHING,
    "host": "spark1",
    "streams": 8,
    "gap_ms": 10.0,
    "tokens": 528,
    "ttft_err_pct": 0.24,
    "itl_p99_err_pct": -0.81,
    "tpot_err_pct": 0.0,
    "threads_tpot_diff_pct": -0.12,
    "valid": True,
    "seconds": 1.5,
}
TITLE = "client self-test on spark1:"
LINE = f"{TITLE} TTFT +0.2 %, p99 of the gaps -0.8 %, TPOT by a second transport 0.1 % apart (8 streams, 10 ms)"
FAILED = {**NOTHING, "host": "spark1", "streams": 8, "gap_ms": 10.0, "seconds": 0.1, "error": "OSError: <no> pipe"}


@pytest.mark.parametrize(
    ("found", "line"),
    [
        (None, ""),
        (WHOLE, LINE),
        (FAILED, f"{TITLE} it could not be made (OSError: <no> pipe)"),
        (
            {**WHOLE, "itl_p99_err_pct": None, "threads_tpot_diff_pct": None},
            f"{TITLE} TTFT +0.2 %, p99 of the gaps n/a, TPOT by a second transport n/a apart (8 streams, 10 ms)",
        ),
    ],
)
def test_its_line(found: Any, line: str) -> None:
    assert facts_text.self_test_line({"self_test": found}) == line


@pytest.mark.parametrize("found", [None, WHOLE, FAILED])
def test_it_is_in_the_schema_and_in_both_reports(found: Any) -> None:
    result = example()
    result["tool"]["self_test"] = found
    assert check.faults(result, "result.json") == []
    for text in (markdown.text(result), html.page(result, ())):
        assert text.count("self-test") == (found is not None)
        assert "<no>" not in text


@pytest.mark.parametrize(
    ("key", "value"), [("tokens", "528"), ("ttft_err_pct", "0.2 %"), ("valid", 1), ("host", None), ("error", 5)]
)
def test_another_shape_is_no_result(key: str, value: Any) -> None:
    result = example()
    result["tool"]["self_test"] = {**WHOLE, key: value}
    [fault] = check.faults(result, "result.json")
    assert f"$.tool.self_test.{key}" in str(fault)
