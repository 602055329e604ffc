# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When a ladder ends, where its knee is, and what follows from it for open loads."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.run import ladder
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.run.poisson import due_times
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.bench.run.run_rounds import played, spec, step


@pytest.mark.parametrize(
    ("steps", "limit", "end", "knee"),
    [
        pytest.param([], None, "", None, id="nothing yet"),
        pytest.param([step(1, 50)], None, "", 1, id="one step says nothing of a gain"),
        pytest.param([step(1, 50), step(2, 95), step(4, 180)], None, "", 4, id="it goes on"),
        pytest.param(
            [step(1, 50), step(4, 180), step(8, 300), step(16, 310)],
            None,
            "The ladder is at its end: 8 to 16 users at once changed the total from 300.0 to 310.0 tok/s, "
            "a gain below 5%.",
            8,
            id="too little gain",
        ),
        pytest.param([step(8, 300), step(16, 315)], None, "", 16, id="just enough gain"),
        pytest.param([step(8, 300), step(16, 200)], None, "from 300.0 to 200.0 tok/s", 8, id="a loss"),
        pytest.param(
            [step(1, 50, first=90), step(2, 95, first=410)],
            400,
            "With 2 users at once the first token came after 410 ms (p50), later than the 400 ms that are wanted.",
            1,
            id="first token too late",
        ),
        pytest.param([step(1, 50, first=90), step(2, 95, first=None)], 400, "", 2, id="not known is not too late"),
        pytest.param([step(1, None, succeeded=0)], None, "No request of the ladder succeeded with 1", None, id="dead"),
        pytest.param([step(1, 50), step(2, 0.0)], None, "succeeded with 2 users", 1, id="no token"),
        pytest.param(
            [step(4, 180, warmup=True), step(4, 200), step(8, None, skipped="why")], None, "", 4, id="only measured"
        ),
    ],
)
def test_ladder(steps: list[dict[str, Any]], limit: float | None, end: str, knee: int | None) -> None:
    found = ladder.read_ladder(ladder.steps_of(steps), limit)
    assert end in found.end
    assert bool(end) == bool(found.end)
    assert (found.knee.users if found.knee else None) == knee


@pytest.mark.parametrize(
    ("times", "first", "by"),
    [
        pytest.param([{"p50": 90, "p90": 300, "p95": 500}], 500, "p95", id="p95 where it is known"),
        pytest.param([{"p50": 90, "p90": 300, "p95": None}], 300, "p90", id="else p90"),
        pytest.param([{"p50": 90, "p90": None, "p95": None}], 90, "p50", id="else the median"),
        pytest.param([{"p50": 90, "p90": 300}, {"p50": 80, "p90": None}], 85, "p50", id="of all rounds the same"),
        pytest.param([{"p50": 90, "p90": 300}, {"p50": None}, {"p50": 80, "p90": 200}], 250, "p90", id="one is dead"),
        pytest.param([{"p50": None}, {}], None, "", id="none"),
    ],
)
def test_a_limit_of_ttft_is_one_of_the_highest_percentile_that_is_known(
    times: list[dict[str, float | None]], first: float | None, by: str
) -> None:
    rounds = [step(2, 95) for _one in times]
    for one, known in zip(rounds, times, strict=True):
        one["summary"]["ttft_ms"] = known
    (found,) = ladder.steps_of(rounds)
    assert (found.first, found.by) == (first, by)
    end = ladder.read_ladder([found], 84.0).end
    assert end == (f"With 2 users at once the first token came after {first} ms ({by}), later than the 84 ms that are "
                   "wanted." if first else "")  # fmt: skip


def test_a_step_counts_by_the_median_of_its_rounds() -> None:
    rounds = [step(4, tokens, rate=rate) for tokens, rate in ((100, 1.0), (180, 1.8), (190, 1.9))]
    (found,) = ladder.steps_of(rounds)
    assert (found.users, found.tokens, found.rate) == (4, 180, 1.8)


def test_the_steady_rate_counts_where_it_is_known() -> None:
    one = step(4, 100)
    one["summary"]["output_tps_steady"] = {"value": 120.0, "null_reason": ""}
    assert ladder.steps_of([one])[0].tokens == 120.0


def test_only_steps_with_fewer_users_of_the_same_ladder_count() -> None:
    done = [step(1, 50), step(2, 51, target="main-0"), step(2, 51, endpoint="completions"), step(16, 51)]
    assert ladder.ladder_of(step(4, None), done, None).end == ""
    assert ladder.ladder_of(step(4, None), [*done, step(2, 51)], None).end != ""


@pytest.mark.parametrize(
    ("load", "done", "rate", "why"),
    [
        ({"model": "open", "rate": 2.5, "share": None, "requests": 40}, [], 2.5, ""),
        (
            {"model": "open", "rate": None, "share": 0.5, "requests": 40},
            [step(1, 50, rate=0.4), step(8, 300, rate=3.0), step(16, 301, rate=3.1)],
            1.5,
            "",
        ),
        (
            {"model": "open", "rate": None, "share": 0.8, "requests": 40},
            [step(8, 1, case="long.en")],
            None,
            "no ladder",
        ),
        ({"model": "open", "rate": None, "share": 0.8, "requests": 40}, [step(8, 1, target="b")], None, "no ladder"),
        ({"model": "open", "rate": None, "share": 0.8, "requests": 40}, [step(8, None)], None, "no ladder"),
        ({"model": "open", "rate": None, "share": 0.8, "requests": 40}, [played(spec())], None, "no ladder"),
    ],
)
def test_rate_of_an_open_load(load: dict[str, Any], done: list[Any], rate: float | None, why: str) -> None:
    found, words = ladder.open_rate(spec(load=load, ladder=""), done, None)
    assert found == rate
    assert why in words
    assert bool(why) == bool(words)


def test_an_open_load_follows_the_ladder_that_it_names() -> None:
    load = {"model": "open", "rate": None, "share": 0.5, "requests": 40}
    assert ladder.open_rate(spec(load=load, ladder="other"), [step(8, 300)], None)[0] is None
    assert ladder.open_rate(spec(load=load, ladder="knee"), [step(8, 300)], None)[0] == 1.0


def test_the_same_endpoint_is_nearer() -> None:
    load = {"model": "open", "rate": None, "share": 0.5, "requests": 40}
    done = [step(8, 300, rate=3.0), step(8, 300, rate=9.0, endpoint="completions")]
    assert ladder.open_rate(spec(load=load), done, None)[0] == 1.5
    assert ladder.open_rate(spec(load=load, endpoint="responses"), done[:1], None)[0] == 1.5


def test_schedule_is_poisson_and_the_same_for_the_same_seed() -> None:
    times = due_times(4.0, 4000, "1 0007")
    assert times == due_times(4.0, 4000, "1 0007")
    assert times != due_times(4.0, 4000, "1 0008")
    assert times == sorted(times)
    gaps = [times[0], *(later - sooner for sooner, later in itertools.pairwise(times))]
    mean = sum(gaps) / len(gaps)
    deviation = (sum((gap - mean) ** 2 for gap in gaps) / len(gaps)) ** 0.5
    assert mean == pytest.approx(0.25, rel=0.05)
    assert deviation == pytest.approx(mean, rel=0.05)
