# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is measured and judged is what the schema of a result has."""

from __future__ import annotations

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.judge.comparison import compare
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.judge.decision import decide
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.judge.pairs import pairs_of
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.measure.points import points_of
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result import check
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.bench.judge.bench_points import (
    deployment,
    point,
    result,
)
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.bench.measure.bench_records import (
    failed,
    played,
    record,
    spec,
)

REPLICAS = [{"name": "main-0", "hosts": ["spark1"]}, {"name": "main-1", "hosts": ["spark2"]}]
OVER_BOTH = [{"name": "main-0", "hosts": ["spark1", "spark2"]}]
DEPLOYMENTS = [
    deployment(id="tp1", replicas=REPLICAS),
    deployment(id="tp2", tensor_parallel_size=2, nnodes=2, replicas=OVER_BOTH),
]


def test_a_result_with_all_that_is_judged_is_one_that_can_be_read_again() -> None:
    both = [point(users=users, deployment=layout) for users in (1, 8) for layout in ("tp1", "tp2")]
    base = result(point(), point("main-0"))
    order = {"pairs": [{"name": "gateway / main-0", "a": "gateway", "b": "main-0"}]}
    pairs = pairs_of(base["points"], order)
    comparison = compare(result(point(failed=1), point("main-0", stats={"tpot_ms": [None] * 5})), base)
    decision = decide(both, DEPLOYMENTS, {})
    whole = result(*both, pairs=pairs, comparison=comparison, decision=decision)
    assert len(pairs) == 3
    assert decision is not None
    assert check.faults(whole, "result.json") == []


def test_points_with_and_without_a_success_are_as_the_schema_has_them() -> None:
    rounds = [
        played(spec("0001", 0, warmup=True), [record()]),
        played(spec("0002", 1), [record(0), failed(1)]),
        played(spec("0003", 1, point="dead"), [failed(0)]),
    ]
    found = points_of(rounds, {"targets": [{"name": "gateway", "via": "gateway", "deployment": "main"}]})
    assert len(found) == 2
    assert check.faults(result(*found), "result.json") == []
