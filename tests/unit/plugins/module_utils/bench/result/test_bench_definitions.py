# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each column and each metric of a report is explained in it."""

from __future__ import annotations

import re

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.measure import around, requests
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result import (
    around_table,
    case_table,
    csv_long,
    drift,
    headline,
    schema,
    verdicts,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result.definitions import DEFINITIONS

NAMES = " | ".join(name for name, _meaning in DEFINITIONS)
# These say themselves what they are.
PLAIN = {"case", "target", "metric", "pair", "rounds", "slices", "first third", "last third", "change", "address"}


@pytest.mark.parametrize("metric", [*schema.DISTRIBUTIONS, *schema.SCALARS, *(name for name, *_more in around.FIGURES)])
def test_every_metric_of_the_csv_is_defined(metric: str) -> None:
    assert re.search(rf"\b{metric}\b", NAMES.replace("output_tps)", "output_tps output_tps_steady)"))


@pytest.mark.parametrize(
    "column",
    [*headline.HEAD, *case_table.HEAD, *verdicts.COMPARISON_HEAD, *verdicts.PAIR_HEAD, *drift.HEAD, *around_table.HEAD],
)
def test_every_column_is_defined(column: str) -> None:
    word = re.sub(r" p\d\d| \(.*\)|, steady|/s$| p99", "", column)
    assert column in PLAIN or word in NAMES or word in ("ratio", "rounds to settle it")


def test_times_of_an_open_load_are_said_to_count_from_the_schedule() -> None:
    meanings = dict(DEFINITIONS)
    assert {"ttft_ms", "e2el_ms"} < set(requests.FROM_THE_SEND)
    for name in ("TTFT (ttft_ms)", "E2EL (e2el_ms)"):
        assert "in an open load from the time it was due" in meanings[name]


def test_the_number_of_gaps_is_no_number_of_requests() -> None:
    parts = dict.fromkeys(schema.DISTRIBUTION_PARTS, 1)
    point = {"summary": {"itl_ms": parts, "ttft_ms": parts}, "stats": {}, "errors": {}}
    own = {"id": "p", "deployment": "d", "endpoint": "chat", "load": {"model": "closed"}, "valid": True}
    whole = {"run": {"id": "r"}, "points": [{**own, "case": "c", "target": "t", **point}]}
    units = {tuple(line.split(",")[4:6]): line.split(",")[7] for line in csv_long.text(whole).splitlines()}
    assert (units["itl_ms", "n"], units["ttft_ms", "n"], units["itl_ms", "p50"]) == ("gaps", "requests", "ms")
