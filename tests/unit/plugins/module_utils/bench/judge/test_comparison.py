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


def test_wrong_margins_and_wrong_differences_are_said_at_once() -> None:
    with pytest.raises(ConfigurationError) as refused:
        compare(result(point(), hosts={}), BASELINE, {"tpot_ms": 5}, ["modle"])
    assert [fault.variable for fault in refused.value.faults] == ["margins.tpot_ms", "allow_differences", "power_mode"]


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
        "Compared with the baseline 20261130T101500Z-standard, margins ttft_ms 10 % (and 20 ms), tpot_ms 5 %, "
        "output_tps 5 %:"
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


def test_a_point_that_fails_altogether_is_a_regression_and_no_refusal() -> None:
    """Nobody counted tokens of what failed, so that its source of tokens is not known."""
    nothing = {metric: [None] * 5 for metric in ("ttft_ms", "tpot_ms", "output_tps", "decode_tps")}
    dead = point(failed=100, valid=False, invalid_reasons=["No request succeeded."], token_source=None, stats=nothing)
    found = compare(result(dead), BASELINE)
    assert (found["verdict"], found["guard"]["differences"]) == ("regression", [])
    by_metric = {row["metric"]: row for row in found["rows"]}
    assert by_metric["error_rate"]["verdict"] == "regression"
    assert by_metric["tpot_ms"]["note"] == "The candidate is invalid here: No request succeeded."


@pytest.mark.parametrize(("source", "how"), [("mixed", "were not all counted alike"), ("none", "nobody counted")])
def test_tokens_that_were_not_counted_alike_cost_one_point_its_figures_of_tokens_only(source: str, how: str) -> None:
    others = [point(case="long-en", stats={"tpot_ms": spread(28.0)}), point(users=8)]
    candidate = result(point(token_source=source, stats={"tpot_ms": spread(28.0)}), *others)
    baseline = result(point(), point(case="long-en"), point(users=8))
    found = compare(candidate, baseline)
    assert found["guard"]["differences"] == []
    words = {(row["point"], row["metric"]): (row["verdict"], row["note"]) for row in found["rows"]}
    note = f"The candidate has answers whose tokens {how}, so figures of tokens are not judged here."
    assert words["short-en/chat/gateway/n4", "tpot_ms"] == ("inconclusive", note)
    assert words["short-en/chat/gateway/n4", "output_tps"] == ("inconclusive", note)
    assert words["short-en/chat/gateway/n4", "ttft_ms"] == ("no change", "")
    assert words["long-en/chat/gateway/n4", "tpot_ms"] == ("regression", "")


def ladder(users: int) -> dict[str, Any]:
    one = {metric: [value] for metric, value in (("ttft_ms", 400.0), ("tpot_ms", 25.0), ("output_tps", 150.0))}
    return point(users=users, id=f"short-en/chat/gateway/n{users}/ladder", stats={**one, "decode_tps": [40.0]})


def not_measured(of: dict[str, Any], why: str) -> dict[str, Any]:
    keys = ("id", "case", "target", "endpoint", "stream", "load")
    return {**{key: of[key] for key in keys}, "kind": "ladder", "why": why}


def test_a_point_that_was_to_be_measured_and_was_not_is_inconclusive() -> None:
    why = "The ladder is at its end: 1 to 2 users at once changed the total from 9.0 to 9.1 tok/s, a gain below 5%."
    lost = point(users=8)
    found = compare(result(point(), not_measured=[not_measured(lost, why)]), result(point(), lost))
    assert {row["verdict"] for row in found["rows"]} == {"no change"}
    assert (found["verdict"], found["exit_code"]) == ("inconclusive", 3)
    (gone,) = found["only_in_baseline"]
    assert (gone["point"], gone["asked"], gone["why"]) == ("short-en/chat/gateway/n8", True, why)
    said = f"Not measured now, though asked for and in the baseline: short-en/chat/gateway/n8. {why}"
    assert found["notes"] == [said]
    assert said in comparison_text.lines(found)
    assert comparison_text.failure(found, "regression") == ""
    sentence = f"The baseline 20261130T101500Z-standard has more. {said}"
    assert comparison_text.failure(found, "inconclusive") == sentence


def test_points_that_nobody_asked_for_are_named_and_no_alarm() -> None:
    found = compare(result(point(), point(users=32)), result(point(), *[point(users=8 + n) for n in range(7)]))
    assert (found["verdict"], found["exit_code"]) == ("no change", 0)
    assert [one["asked"] for one in found["only_in_baseline"]] == [False] * 7
    assert [one["point"] for one in found["only_now"]] == ["short-en/chat/gateway/n32"]
    named = ", ".join(f"short-en/chat/gateway/n{users}" for users in range(8, 13))
    assert found["notes"] == [
        f"In the baseline and not asked for now: {named} and 2 more.",
        "Measured now and not in the baseline: short-en/chat/gateway/n32.",
    ]


def test_a_regression_is_worse_than_a_point_that_lacks() -> None:
    lost = point(users=8)
    candidate = result(point(failed=3), not_measured=[not_measured(lost, "The run ended before it.")])
    found = compare(candidate, result(point(), lost))
    assert found["verdict"] == "regression"
    assert comparison_text.failure(found, "regression").endswith(
        "Not measured now, though asked for and in the baseline: short-en/chat/gateway/n8. The run ended before it."
    )


def test_steps_of_a_ladder_have_one_round_and_do_not_keep_a_report_from_a_verdict() -> None:
    found = compare(result(point(), ladder(4)), result(point(), ladder(4)))
    assert found["verdict"] == "no change"
    assert [row["metric"] for row in found["rows"] if row["point"].endswith("ladder")] == ["error_rate"]
    assert found["notes"] == [
        "A step of a ladder is one round, which has no spread: of its figures the failures alone are compared."
    ]


@pytest.mark.parametrize(
    ("key", "change"),
    [
        ("replicas", {"targets": [{"name": "gateway", "via": "gateway", "hosts": ["spark1", "spark2"]}]}),
        ("client", {"run": {**BASELINE["run"], "client": "laptop"}}),
    ],
)
def test_another_number_of_replicas_or_another_client_is_refused(key: str, change: dict[str, Any]) -> None:
    known = {
        "targets": [{"name": "gateway", "via": "gateway", "hosts": ["spark1"]}],
        "run": {**BASELINE["run"], "client": "spark1"},
    }
    baseline, candidate = result(point(), **known), result(point(), **{**known, **change})
    assert compare(baseline, baseline)["guard"]["differences"] == []
    with pytest.raises(ConfigurationError) as refused:
        compare(candidate, baseline)
    assert [fault.variable.split()[0] for fault in refused.value.faults] == [key]
    assert compare(candidate, baseline, allow_differences=[key])["guard"]["overridden"]


def test_replicas_of_two_hosts_are_counted_as_replicas() -> None:
    target = {"name": "gateway", "via": "gateway", "hosts": ["a", "b", "c", "d"]}
    two = result(point(), targets=[target], deployments=[deployment(nnodes=2)])
    one = result(point(), targets=[{**target, "hosts": ["a", "b"]}], deployments=[deployment(nnodes=2)])
    with pytest.raises(ConfigurationError, match="replicas of gateway: found 2, wanted 1 as in the baseline"):
        compare(two, one)


def test_what_holm_takes_back_says_so() -> None:
    stats = {"tpot_ms": [26.6, 28.2, 25.9, 29.0, 26.9]}
    base = {"tpot_ms": [25.0, 25.9, 24.1, 26.3, 24.2]}
    others = [point(case=f"case-{number}") for number in range(39)]
    row = rows(result(*others, point(stats=stats)), result(*others, point(stats=base)))["tpot_ms"]
    assert (row["verdict"], row["ci95"][0] > 1, row["ratio"] > 1.05) == ("inconclusive", True, True)
    assert row["note"] == "By itself this is a regression; one so great comes by chance among 40 comparisons (Holm)."


def test_a_short_first_token_that_is_sooner_by_less_than_20_ms_is_no_improvement() -> None:
    baseline = result(point(stats={"ttft_ms": spread(60.0)}))
    assert verdicts(result(point(stats={"ttft_ms": spread(42.0)})), baseline)["ttft_ms"] == "no change"
    assert verdicts(result(point(stats={"ttft_ms": spread(35.0)})), baseline)["ttft_ms"] == "improvement"
    tiny = result(point(stats={"ttft_ms": spread(15.0)}))
    assert verdicts(result(point(stats={"ttft_ms": spread(2.0)})), tiny)["ttft_ms"] == "no change"
    assert verdicts(result(point(stats={"ttft_ms": spread(60.0)})), tiny)["ttft_ms"] == "regression"


def test_what_counted_the_tokens_is_said_where_it_differs_and_was_allowed() -> None:
    candidate = result(point(token_source="tokenize"))
    found = rows(candidate, allow_differences=["token_source"])
    note = "Tokens were not counted alike: The candidate: tokenize, The baseline: usage."
    assert (found["tpot_ms"]["note"], found["ttft_ms"]["note"]) == (note, "")
    assert found["tpot_ms"]["verdict"] == "no change"
    assert found["tpot_ms"]["margin"] == pytest.approx([1 / 1.05, 1.05], abs=1e-6)
    assert found["error_rate"]["margin"] is None


@pytest.mark.parametrize(
    ("before", "now", "word", "note"),
    [
        ([2.0, 2.1, 1.9], [0.0, 0.0, 0.0], "regression", "The candidate has a goodput_rate of 0 in all rounds"),
        ([0.0, 0.0, 0.0], [2.0, 2.1, 1.9], "improvement", "The baseline has a goodput_rate of 0 in all rounds"),
        ([0.0, 0.0, 0.0], [0.0, 0.0, 0.0], "no change", ""),
        ([2.0, 2.1, 1.9], [0.0, 0.0, 1.9], "inconclusive", "Some rounds have a goodput_rate of 0"),
        ([2.0], [0.0, 0.0, 0.0], "inconclusive", "Some rounds have a goodput_rate of 0"),
    ],
)
def test_rounds_of_nothing_are_not_left_out(before: list[float], now: list[float], word: str, note: str) -> None:
    candidate, baseline = (result(point(stats={"goodput_rate": values})) for values in (now, before))
    row = rows(candidate, baseline, given_margins={"goodput_rate": 0.05})["goodput_rate"]
    assert (row["verdict"], row["ratio"], row["ci95"]) == (word, None, None)
    assert row["note"].startswith(note)
    assert row["candidate"] == pytest.approx(sum(now) / len(now), rel=0.01)


def test_the_same_failures_in_a_round_of_other_length_are_no_regression() -> None:
    baseline = result(point(failed=2, requests=100))
    assert verdicts(result(point(failed=2, requests=96)), baseline)["error_rate"] == "no change"
    assert verdicts(result(point(failed=2, requests=40)), baseline)["error_rate"] == "regression"
    assert verdicts(result(point(failed=1, requests=150)), baseline)["error_rate"] == "improvement"


def test_a_share_of_two_knees_is_judged_only_where_the_rates_are_alike() -> None:
    """Its rate follows from the knee, so that tokens per second are those that were asked for."""
    candidate, baseline = (
        result(point(load={"model": "open", "rate": rate, "share": 0.5, "requests": 40})) for rate in (1.2, 2.5)
    )
    found = rows(candidate, baseline)
    assert list(found) == ["ttft_ms", "tpot_ms", "error_rate"]
    note = "The same share of another knee: 2.5 requests/s there, 1.2 here."
    assert (found["ttft_ms"]["verdict"], found["ttft_ms"]["note"]) == ("inconclusive", note)
