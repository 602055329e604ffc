# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The decision page: TP=1 twice or TP=2."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.judge.decision import decide, missing
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.bench.judge.bench_points import (
    deployment,
    point,
    spread,
)

REPLICAS = [{"name": "main-0", "hosts": ["spark1"]}, {"name": "main-1", "hosts": ["spark2"]}]
TP1 = deployment(id="tp1", replicas=REPLICAS)
TP2 = deployment(
    id="tp2", tensor_parallel_size=2, nnodes=2, replicas=[{"name": "main-0", "hosts": ["spark1", "spark2"]}]
)
GIB = 2**30
LONG = {"name": "long-en", "prompt_tokens": 16384}


def side(layout: str, one: dict[str, float], many: dict[str, float], began: float, **more: Any) -> list[dict[str, Any]]:
    """Points with one user and with eight, through the layout's gateway."""
    points = []
    for users, figures in ((1, one), (8, many)):
        stats = {metric: spread(value) for metric, value in figures.items()}
        made = point(f"gateway-{layout}", users=users, stats=stats, deployment=layout, **more)
        for number, own in enumerate(made["rounds"]):
            own["began"] = began + 20 * number
        points.append(made)
    return points


# As on two Sparks: TP=2 is faster for one, two replicas send more in all.
ONE_TP1 = {"decode_tps": 36.0, "ttft_ms": 300.0}
ONE_TP2 = {"decode_tps": 50.0, "ttft_ms": 210.0}
MANY_TP1 = {"output_tps": 485.0, "ttft_ms": 900.0}
MANY_TP2 = {"output_tps": 300.0, "ttft_ms": 905.0}


def both(**more: Any) -> list[dict[str, Any]]:
    return [*side("tp1", ONE_TP1, MANY_TP1, 1000.0, **more), *side("tp2", ONE_TP2, MANY_TP2, 2000.0, **more)]


def page(points: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    found = decide(points, [TP1, TP2], more.get("snapshots", {}), more.get("cases", ()))
    assert found is not None
    return found


def rows(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {row["aspect"]: row for row in found["rows"]}


def fits(found: dict[str, Any]) -> dict[str, tuple[str, str]]:
    return {fit["use"]: (fit["choice"], fit["why"]) for fit in found["fits"]}


def test_each_aspect_has_both_figures_and_which_is_better() -> None:
    found = rows(page(both()))
    assert {aspect: row["better"] for aspect, row in found.items()} == {
        "throughput with 8 users, short-en": "tp1x2",
        "speed of a single user, short-en": "tp2",
        "TTFT of a single user, short-en": "tp2",
        "TTFT with 8 users, short-en": "no difference",
        "failed requests": "no difference",
        "least memory available on a host": "not known",
    }
    speed = found["speed of a single user, short-en"]
    assert (speed["tp1x2"], speed["tp2"]) == pytest.approx((36, 50), rel=1e-3)
    assert (speed["unit"], speed["ratio"]) == ("tok/s", pytest.approx(50 / 36, rel=1e-3))


def test_the_uses_follow_from_the_figures_and_name_them() -> None:
    found = fits(page(both()))
    assert found["chat of one user"][0] == "tp2"
    assert "36 tok/s with TP=1 twice, 50 tok/s with TP=2" in found["chat of one user"][1]
    assert found["many users at once"][0] == "tp1x2"
    assert found["long prompts of one user"] == (
        "cannot be said",
        "No case that tells it was measured of both layouts.",
    )
    assert found["a model or context that one host has no room for"][0] == "tp2"
    assert found["answers while a host is away"][0] == "tp1x2"
    assert all("not by a measurement" in found[use][1] for use in list(found)[3:])


def test_a_long_case_tells_of_long_prompts_and_of_nothing_else() -> None:
    found = fits(page([*both(), *both(case="long-en")], cases=[LONG]))
    assert found["long prompts of one user"][0] == "tp2"
    assert "TTFT of a single user, long-en: 300 ms" in found["long prompts of one user"][1]
    assert "long-en" not in found["chat of one user"][1] + found["many users at once"][1]


def test_no_difference_is_either() -> None:
    points = [*side("tp1", ONE_TP1, MANY_TP1, 0.0), *side("tp2", ONE_TP1, MANY_TP1, 1000.0)]
    assert fits(page(points))["chat of one user"][0] == "either"


def test_an_invalid_side_and_rounds_that_do_not_tell_are_not_known() -> None:
    points = both()
    points[2].update(valid=False, invalid_reasons=["The client was late."])
    found = page(points)
    row = rows(found)["speed of a single user, short-en"]
    assert (row["better"], row["ratio"]) == ("not known", None)
    assert "The client was late." in row["note"]
    assert fits(found)["chat of one user"][0] == "cannot be said"
    doubt = [*side("tp1", ONE_TP1, MANY_TP1, 0.0), *side("tp2", {**ONE_TP1, "decode_tps": 37.7}, MANY_TP2, 1000.0)]
    assert fits(page(doubt))["chat of one user"][0] == "cannot be said"


def test_cases_that_contradict_each_other_are_said_so() -> None:
    swapped = [*side("tp1", ONE_TP2, MANY_TP1, 0.0, case="zh"), *side("tp2", ONE_TP1, MANY_TP2, 1000.0, case="zh")]
    choice, why = fits(page([*both(), *swapped]))["chat of one user"]
    assert choice == "cannot be said"
    assert why.startswith("The cases contradict each other: ")


def test_who_fails_more_often_is_not_the_choice() -> None:
    points = both()
    points[3].update(errors={"http_5xx": 10}, summary={**points[3]["summary"], "e2el_ms": {"n": 90}})
    found = page(points)
    row = rows(found)["failed requests"]
    assert (row["tp1x2"], row["tp2"], row["better"]) == (0.0, 5.0, "tp1x2")
    assert fits(found)["chat of one user"][0] == "cannot be said"
    assert "0 % of the requests failed with TP=1 twice, 5 % with TP=2" in fits(found)["chat of one user"][1]
    assert fits(found)["many users at once"][0] == "tp1x2"


def test_what_many_users_get_needs_a_gateway_before_both_replicas() -> None:
    points = [{**one, "via": "direct"} for one in both()]
    found = page(points)
    assert rows(found)["throughput with many users, short-en"]["better"] == "not known"
    assert "through the gateway of TP=1 twice" in rows(found)["throughput with many users, short-en"]["note"]
    assert fits(found)["many users at once"][0] == "cannot be said"
    assert fits(found)["chat of one user"][0] == "tp2"


def test_one_replica_without_a_gateway_is_the_whole_layout() -> None:
    points = [{**one, "via": "direct"} if one["deployment"] == "tp2" else one for one in both()]
    found = rows(page(points))
    assert found["throughput with 8 users, short-en"]["better"] == "tp1x2"
    assert found["speed of a single user, short-en"]["better"] == "tp2"


def sample(time: float, available: float) -> dict[str, Any]:
    return {"t": time, "mem": {"available": int(available * GIB)}}


def test_memory_is_the_least_of_any_host_while_its_layout_was_measured() -> None:
    # 1500 s lies between both layouts: the engines were being started.
    first = [sample(1001.0, 20.0), sample(1500.0, 1.0), sample(2001.0, 52.0)]
    second = [sample(1005.0, 18.0), sample(2005.0, 50.0)]
    whole = {"spark1": {"samples": first}, "spark2": {"samples": second}}
    split = {
        "spark1": {"before": first[0], "during": first[1:], "after": None},
        "spark2": {"before": None, "during": second, "after": None},
    }
    for snapshots in (whole, split):
        found = page(both(), snapshots=snapshots)
        row = rows(found)["least memory available on a host"]
        assert (row["tp1x2"], row["tp2"], row["better"]) == (18.0, 50.0, "tp2")
        assert (
            "18.0 GiB were left with TP=1 twice" in fits(found)["a model or context that one host has no room for"][1]
        )


@pytest.mark.parametrize("deployments", [[TP1], [TP2], [], [TP1, deployment(id="tp2", replicas=REPLICAS[:1])]])
def test_without_both_layouts_there_is_no_page(deployments: list[dict[str, Any]]) -> None:
    assert decide(both(), deployments, {}) is None


def replicas(hosts: int, each: int) -> list[dict[str, Any]]:
    names = [f"spark{number + 1}" for number in range(hosts)]
    return [{"name": f"main-{start}", "hosts": names[start : start + each]} for start in range(0, hosts, each)]


def of_hosts(one: int, two: int) -> list[dict[str, Any]]:
    tp2 = {"tensor_parallel_size": 2, "nnodes": 2, "replicas": replicas(two, 2)}
    return [deployment(id="tp1", replicas=replicas(one, 1)), deployment(id="tp2", **tp2)]


def test_three_hosts_are_not_two() -> None:
    found = decide(both(), of_hosts(3, 2), {})
    assert found is not None
    assert found["names"] == {"tp1x2": "TP=1 on 3 hosts", "tp2": "TP=2 on 2 hosts"}
    assert "36 tok/s with TP=1 on 3 hosts, 50 tok/s with TP=2 on 2 hosts" in fits(found)["chat of one user"][1]
    assert "What many users get of TP=1 on 3 hosts is taken through its gateway only" in found["rule"][5]
    assert found["rule"][-1] == (
        "The hosts are not equally many: 3 for TP=1, 2 for TP=2; what many users get hangs on it."
    )
    assert not any("twice" in word for word in [*found["rule"], *(why for _choice, why in fits(found).values())])


def test_two_replicas_of_tp2_have_a_page_and_many_users_reach_them_by_their_gateway() -> None:
    found = decide(both(), of_hosts(4, 4), {})
    assert found is not None
    assert found["names"] == {"tp1x2": "TP=1 on 4 hosts", "tp2": "TP=2 on 4 hosts"}
    assert rows(found)["throughput with 8 users, short-en"]["better"] == "tp1x2"
    assert found["rule"][-1].startswith("Memory is")
    assert not any("is one server" in sentence for sentence in found["rule"])
    # One of two servers is half of the layout.
    direct = [{**one, "via": "direct"} if one["deployment"] == "tp2" else one for one in both()]
    found = decide(direct, of_hosts(4, 4), {})
    assert found is not None
    assert rows(found)["throughput with many users, short-en"]["better"] == "not known"
    assert rows(found)["speed of a single user, short-en"]["better"] == "tp2"


def order(suite: str = "layout", **target: Any) -> dict[str, Any]:
    return {"run": {"suite": suite}, "targets": [{"name": "tp1: gateway", "variant": "tp1", **target}]}


def test_a_run_for_the_decision_that_has_none_says_so() -> None:
    (said,) = missing(order(), None)
    assert said["severity"] == "info"
    assert said["text"].startswith("TP=1 on each host and TP=2 over two hosts were not both measured, so this report")
    assert missing(order(), page(both())) == []
    assert missing(order("quick"), None) == []
    # A block has one layout, and the run that it belongs to has the page.
    assert missing(order(variant=""), None) == []
    assert missing({}, None) == []


def test_without_points_of_a_layout_there_is_no_page() -> None:
    assert decide(both()[:2], [TP1, TP2], {}) is None


def test_the_rule_is_stated() -> None:
    rule = page(both())["rule"]
    assert (
        "The margin is 5 % for tok/s, 10 % and 20 ms for TTFT; the intervals are judged by Holm over the cases." in rule
    )
