# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two results beside each other: rows, guard, refusals, and what is said of them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.judge import comparison_text, reading
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.judge.comparison import compare
from ansible_collections.dgxspark.serving.plugins.module_utils.faults import ConfigurationError
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.bench.judge.bench_points import (
    deployment,
    point,
    result,
    spread,
)

BASELINE = result(point())


def rows(candidate: dict[str, Any], baseline: dict[str, Any] = BASELINE, **more: Any) -> dict[str, dict[str, Any]]:
    return {row["metric"]: row for row in compare(candidate, baseline, **more)["rows"]}


def verdicts(candidate: dict[str, Any], baseline: dict[str, Any] = BASELINE, **more: Any) -> dict[str, str]:
    return {metric: row["verdict"] for metric, row in rows(candidate, baseline, **more).items()}


def test_equal_runs_have_not_changed() -> None:
    found = compare(result(point()), BASELINE)
    assert {row["verdict"] for row in found["rows"]} == {"no change"}
    assert (found["verdict"], found["exit_code"]) == ("no change", 0)
    assert found["guard"] == {"differences": [], "overridden": False}
    assert found["baseline"]["run id"] == "20261130T101500Z-standard"
    assert [row["metric"] for row in found["rows"]] == ["ttft_ms", "tpot_ms", "output_tps", "error_rate"]


@pytest.mark.parametrize(
    ("metric", "factor", "word", "code"),
    [
        ("tpot_ms", 1.12, "regression", 1),
        ("tpot_ms", 0.88, "improvement", 0),
        ("output_tps", 0.88, "regression", 1),
        ("output_tps", 1.12, "improvement", 0),
        ("ttft_ms", 1.2, "regression", 1),
        ("ttft_ms", 1.07, "no change", 0),
        ("tpot_ms", 1.04, "inconclusive", 3),
    ],
)
def test_a_figure_that_moved(metric: str, factor: float, word: str, code: int) -> None:
    base = {"ttft_ms": 400.0, "tpot_ms": 25.0, "output_tps": 150.0}[metric]
    found = compare(result(point(stats={metric: spread(base * factor)})), BASELINE)
    row = next(row for row in found["rows"] if row["metric"] == metric)
    assert (row["verdict"], found["verdict"], found["exit_code"]) == (word, word, code)
    assert row["ratio"] == pytest.approx(factor, rel=1e-4)
    assert row["ci95"][0] < row["ratio"] < row["ci95"][1]
    assert (row["baseline"], row["candidate"]) == pytest.approx((base, base * factor), rel=1e-3)
    assert bool(row["needed_rounds"]) == (word == "inconclusive")


def test_a_first_token_that_is_20_ms_later_is_no_regression() -> None:
    baseline = result(point(stats={"ttft_ms": spread(60.0)}))
    assert verdicts(result(point(stats={"ttft_ms": spread(75.0)})), baseline)["ttft_ms"] == "no change"
    assert verdicts(result(point(stats={"ttft_ms": spread(90.0)})), baseline)["ttft_ms"] == "regression"


@pytest.mark.parametrize(
    ("before", "now", "word"),
    [(0, 1, "regression"), (1, 1, "no change"), (2, 1, "improvement"), (0, 100, "regression")],
)
def test_any_more_failures_are_a_regression(before: int, now: int, word: str) -> None:
    candidate = point(failed=now, valid=now < 100, invalid_reasons=["No request succeeded."] if now == 100 else [])
    row = rows(result(candidate), result(point(failed=before)))["error_rate"]
    assert row["verdict"] == word
    assert row["ratio"] == (now / before if before else None)
    assert row["note"] == (f"Failed now: http_5xx {now}." if word == "regression" else "")


def test_invalid_points_are_not_judged_and_say_why() -> None:
    row = rows(result(point(valid=False, invalid_reasons=["The client was late."])))["tpot_ms"]
    assert (row["verdict"], row["ratio"], row["candidate"]) == ("inconclusive", None, pytest.approx(25.0, rel=1e-3))
    assert row["note"] == "The candidate is invalid here: The client was late."


def test_a_metric_that_one_side_lacks_is_inconclusive_and_one_that_both_lack_is_left_out() -> None:
    without = result(point(stats={"output_tps": [None] * 5, "tpot_ms": [None] * 5}))
    found = rows(without, result(point(stats={"output_tps": [None] * 5})))
    assert "output_tps" not in found
    assert (found["tpot_ms"]["verdict"], found["tpot_ms"]["candidate"]) == ("inconclusive", None)
    assert found["tpot_ms"]["note"] == "The candidate has no tpot_ms here."


def test_single_rounds_are_inconclusive() -> None:
    one = {metric: [1.0] for metric in ("ttft_ms", "tpot_ms", "output_tps", "decode_tps")}
    row = rows(result(point(stats=one)))["tpot_ms"]
    assert (row["verdict"], row["ci95"], row["needed_rounds"]) == ("inconclusive", None, None)
    assert row["note"].startswith("One round has no spread")


def test_answers_that_end_by_themselves_are_not_compared_by_their_rate() -> None:
    natural = result(point(), cases=[{"name": "short-en", "digest": "sha256:0", "output": {"mode": "natural"}}])
    assert list(verdicts(natural, natural)) == ["ttft_ms", "tpot_ms", "error_rate"]


def test_holm_is_over_the_points_of_the_report() -> None:
    """One point of a p between 0.05 / 40 and 0.05: by itself a regression, among forty chance."""
    stats = {"tpot_ms": [26.6, 28.2, 25.9, 29.0, 26.9]}
    base = {"tpot_ms": [25.0, 25.9, 24.1, 26.3, 24.2]}
    alone = compare(result(point(stats=stats)), result(point(stats=base)))
    others = [point(case=f"case-{number}") for number in range(39)]
    among = compare(result(point(stats=stats), *others), result(point(stats=base), *others))
    assert (alone["verdict"], among["verdict"]) == ("regression", "inconclusive")
    assert among["rows"][1]["needed_rounds"] > 5


def test_points_of_another_load_or_target_are_not_laid_beside_each_other() -> None:
    candidate = result(point(), point(users=8), point("main-0"))
    baseline = result(point(users=8), point("main-1"))
    assert {row["point"] for row in compare(candidate, baseline)["rows"]} == {"short-en/chat/gateway/n8"}


def test_a_share_of_the_knee_is_one_load_though_its_rate_differs() -> None:
    loads = [{"model": "open", "rate": rate, "share": 0.5, "requests": 40} for rate in (2.5, 2.4)]
    candidate, baseline = (result(point(load=load)) for load in loads)
    row = compare(candidate, baseline)["rows"][0]
    assert (row["n"], row["verdict"]) == (None, "no change")
    stated = [result(point(load={**load, "share": None})) for load in loads]
    with pytest.raises(ConfigurationError):
        compare(*stated)


def test_without_a_common_point_it_is_refused() -> None:
    with pytest.raises(
        ConfigurationError, match="short-en/chat/gateway/n4, wanted one that the baseline has, too; it has no"
    ):
        compare(result(point()), result())


DIFFERENT = [
    ("model", {"model": "org/other"}, {}, {}),
    ("revision", {"revision": "def"}, {}, {}),
    ("quant", {"quant": None}, {}, {}),
    ("max_model_len", {"max_model_len": 8192}, {}, {}),
    ("engine_version", {"version": "0.12.0"}, {}, {}),
    ("tensor_parallel_size", {"tensor_parallel_size": 2}, {}, {}),
    ("token_source", {}, {"token_source": "tokenize"}, {}),
    ("case_digest", {}, {}, {"cases": [{"name": "short-en", "digest": "sha256:1", "output": {"mode": "fixed"}}]}),
    ("power_mode", {}, {}, {"hosts": {"spark7": {"power_mode": "quiet"}}}),
]


@pytest.mark.parametrize(("key", "deployed", "pointed", "more"), DIFFERENT, ids=[row[0] for row in DIFFERENT])
def test_what_differs_is_refused_by_name_unless_it_is_allowed(
    key: str, deployed: dict[str, Any], pointed: dict[str, Any], more: dict[str, Any]
) -> None:
    candidate = result(point(**pointed), **{"deployments": [deployment(**deployed)], **more})
    with pytest.raises(ConfigurationError) as refused:
        compare(candidate, BASELINE)
    (fault,) = refused.value.faults
    assert fault.variable.startswith(key)
    assert f"with {key} in allow_differences" in fault.remedy
    for allowed in ([key], ["all"], True):
        guard = compare(candidate, BASELINE, allow_differences=allowed)["guard"]
        assert guard["overridden"]
        assert [one["key"] for one in guard["differences"]] == [key]


def test_all_differences_are_said_at_once_and_each_once() -> None:
    candidate = result(point(), point(users=8), deployments=[deployment(model="a/b", quant="fp8", version="0.11.9")])
    with pytest.raises(ConfigurationError) as refused:
        compare(candidate, result(point(), point(users=8)), allow_differences=["revision"])
    assert [fault.variable for fault in refused.value.faults] == ["model of main", "quant of main"]
    assert "found a/b, wanted org/model as in the baseline" in str(refused.value)


def test_a_patch_release_and_unknown_facts_of_both_are_no_difference() -> None:
    unknown = {"quant": None, "version": "0.11.7"}
    both = [result(point(), deployments=[deployment(**unknown)], hosts={}) for _run in range(2)]
    assert compare(*both)["guard"]["differences"] == []


def test_a_difference_that_does_not_exist_cannot_be_allowed() -> None:
    with pytest.raises(ConfigurationError, match="allow_differences: found modle"):
        compare(result(point()), BASELINE, allow_differences=["modle"])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "old.json: found no JSON"),
        ("{", "old.json: found no JSON"),
        ("[]", "spark_bench/1"),
        ('{"schema": "spark_bench/9"}', "found spark_bench/9, wanted spark_bench/1"),
        ('{"backend": "openai-chat"}', "found no schema"),
        ('{"schema": "spark_bench/1"}', "run"),
    ],
)
def test_files_that_are_no_result_are_refused_by_name(text: str, words: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        reading.read(text, "old.json")
    assert words in str(refused.value)


def test_a_result_is_read_as_it_was_written() -> None:
    whole = result(point())
    assert reading.read(json.dumps(whole), "new.json") == json.loads(json.dumps(whole))


def test_the_table_and_the_sentence_name_what_got_worse() -> None:
    worse = point(failed=2, stats={"tpot_ms": spread(28.0)})
    found = compare(result(worse), BASELINE)
    lines = comparison_text.lines(found)
    assert lines[0] == (
        "Compared with the baseline 20261130T101500Z-standard, margins ttft_ms 10%, tpot_ms 5%, output_tps 5% "
        "(and TTFT 20 ms):"
    )
    assert lines[-1] == "Verdict: regression (2 regression, 2 no change)."
    assert any(line.split()[:6] == ["short-en", "gateway", "4", "tpot_ms", "25", "28"] for line in lines)
    assert "short-en, gateway, N = 4: error_rate: Failed now: http_5xx 2." in lines
    sentence = comparison_text.failure(found, "regression")
    assert sentence.startswith(
        "2 of 4 figures are worse than in the baseline 20261130T101500Z-standard: short-en, gateway,"
    )
    assert "tpot_ms 25 -> 28 (x1.120, 95 % CI 1.1" in sentence
    assert "error_rate 0.00% -> 2.00%" in sentence


def test_when_the_task_fails() -> None:
    doubtful = compare(result(point(stats={"tpot_ms": spread(26.0)})), BASELINE)
    worse = compare(result(point(failed=1)), BASELINE)
    equal = compare(result(point()), BASELINE)
    assert "rounds a side would tell" in comparison_text.failure(doubtful, "inconclusive")
    assert comparison_text.failure(worse, "inconclusive").startswith("1 of 4 figures is worse")
    silent = [(doubtful, "regression"), (worse, "never"), (equal, "inconclusive"), (equal, "regression")]
    assert [comparison_text.failure(found, fail_on) for found, fail_on in silent] == [""] * 4


def test_many_regressions_are_named_in_part() -> None:
    points = [point(case=f"case-{number}", failed=1) for number in range(8)]
    found = compare(result(*points), result(*[point(case=f"case-{number}") for number in range(8)]))
    assert comparison_text.failure(found, "regression").endswith("; and 3 more.")
    allowed = compare(result(point(), hosts={}), BASELINE, allow_differences=["power_mode"])
    assert "Differs and was allowed: power_mode: normal in the baseline, not known now." in comparison_text.lines(
        allowed
    )
