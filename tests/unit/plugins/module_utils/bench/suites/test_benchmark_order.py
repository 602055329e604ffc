# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The order as a whole: what is in it, and every fault at once."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.suites.order import digest_of, run_id
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.suites.resume import (
    blocks_fault,
    resumed,
    with_files,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.faults import ConfigurationError
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.bench.suites.ordered import (
    NOW,
    case,
    cases,
    links,
    made,
    plan,
    suite,
)

PART = {"cases": ["short"], "targets": "entry"}
ONE = suite(PART, rounds=1)


def faults(of: Any, raw: dict[str, Any] | None = None, **around: Any) -> list[str]:
    with pytest.raises(ConfigurationError) as caught:
        made(of, raw, **around)
    return [fault.variable for fault in caught.value.faults]


def test_an_order_is_plain_data() -> None:
    raw = {"label": "first", "goodput": {"ttft_ms": 500}, "timeouts": {"total": 60}}
    ordered = made(ONE, raw)
    order = ordered["order"]
    assert json.loads(json.dumps(order)) == order
    assert order["run"] == {
        "id": "20261130T101500Z-try-first",
        "label": "first",
        "suite": "try",
        "seed": 1,
        "client": "spark1",
        "nonce": "0" * 16,
    }
    assert [target["name"] for target in order["targets"]] == ["gateway"]
    assert [one["name"] for one in order["cases"]] == ["short-en"]
    assert order["limits"] == {"connect_s": 10.0, "ttft_s": 300.0, "idle_s": 120.0, "total_s": 60.0}
    assert order["goodput"] == {"ttft_ms": 500.0, "tpot_ms": None, "e2el_ms": None}
    assert (ordered["client"], ordered["hosts"], ordered["blocks"]) == ("spark1", ["spark1", "spark2"], {})


def test_a_wider_limit_for_the_clients_lag_is_in_the_order_and_in_the_notes() -> None:
    assert made(ONE)["order"]["client_lag"] == {}
    ordered = made(ONE, {"client_lag": {"p99_ms": "10"}})
    assert ordered["order"]["client_lag"] == {"p99_ms": 10.0}
    assert "p99_ms 10 where 2 is usual" in ordered["notes"][-1]
    assert made(ONE, {"client_lag": {"share": 0.01}})["notes"] == made(ONE)["notes"]


def test_b11_b_row_15_no_proxy_unless_one_is_named() -> None:
    assert made(ONE)["order"]["proxy"] == ""
    assert made(ONE, {"proxy": "http://p:3128"})["order"]["proxy"] == "http://p:3128"
    assert made(ONE)["order"]["continuous_usage"] is False
    assert made(ONE, {"continuous_usage": "true"})["order"]["continuous_usage"] is True


def test_names_of_runs_sort_by_time() -> None:
    names = [run_id(NOW + seconds, "standard", "") for seconds in (0, 1, 60, 86400, 40 * 86400)]
    assert names == sorted(set(names))
    assert names[0] == "20261130T101500Z-standard"


def test_without_a_label_the_folder_has_the_deployments_name() -> None:
    run = made(ONE)["order"]["run"]
    assert (run["id"], run["label"]) == ("20261130T101500Z-try-main", "")


def test_the_hosts_of_all_ranks_gateway_and_client_are_watched() -> None:
    three = ("spark1", "spark2", "spark3")
    made_plan = plan(three[:2], world_size=2, gateway_enabled=False)
    around = {"hosts": three, "links": links(three), "plan": made_plan}
    assert made(ONE, {"client": "spark3"}, **around)["hosts"] == ["spark1", "spark2", "spark3"]
    assert made(ONE, {"client": "localhost"}, **around)["hosts"] == ["spark1", "spark2"]


@pytest.mark.parametrize(
    ("needs", "variables", "hosts", "word"),
    [
        (["gateway"], {"gateway_enabled": False}, ("spark1", "spark2"), "the plan has no gateway"),
        (["replicas"], {}, ("spark1",), "the plan has 1 replica"),
    ],
)
def test_what_a_suite_cannot_do_without(
    needs: list[str], variables: dict[str, Any], hosts: tuple[str, ...], word: str
) -> None:
    with pytest.raises(ConfigurationError, match=word):
        made(suite(PART, needs=needs), plan=plan(hosts, **variables))


def test_without_a_replica_there_is_nothing_to_measure() -> None:
    assert faults(ONE, plan={"replicas": [], "ranks": {}, "gateway": None}) == ["serving_deployments"]


@pytest.mark.parametrize("word", ["main-9", "all"])
def test_an_unknown_target(word: str) -> None:
    assert faults(ONE, {"targets": ["gateway", word]}) == ["benchmark_targets[1]"]


def test_a_target_that_the_plan_has_not() -> None:
    assert faults(ONE, {"targets": ["gateway"]}, plan=plan(gateway_enabled=False))[0] == "benchmark_targets[0]"


@pytest.mark.parametrize(
    ("variables", "wanted"),
    [
        (
            {"gateway_enabled": False},
            "'direct', 'both', 'each-host', 'entry', 'direct:main-0' or 'direct:main-1'",
        ),
        ({}, "'gateway', 'direct', 'both', 'each-host', 'entry', 'direct:main-0' or 'direct:main-1'"),
    ],
)
def test_only_targets_that_there_are_are_offered_and_each_once(variables: dict[str, Any], wanted: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        made(ONE, {"targets": ["gatewy"]}, plan=plan(**variables))
    assert caught.value.faults[0].wanted == wanted


def test_targets_that_the_client_host_does_not_reach() -> None:
    direct = suite({**PART, "targets": "each-host"})
    assert faults(direct, {"client": "localhost"}) == ["benchmark_client", "benchmark_client"]
    # The gateway alone can be asked from the controller.
    assert made(ONE, {"client": "localhost"})["client"] == "localhost"


@pytest.mark.parametrize(
    ("most", "of", "remedy"),
    [
        (256, case("short-en", 128, 128), ""),
        (255, case("short-en", 128, 128), "benchmark_prompt_tokens to 127 or less"),
        (128, case("short-en", 128, 128), "benchmark_output_tokens to less than 128"),
        (100, case("short-en", None, 128), "benchmark_output_tokens to less than 100"),
        (500, case("short-en", None, 128, turns=4), "benchmark_output_tokens to less than 125"),
    ],
)
def test_a_case_that_is_longer_than_the_engine_takes(most: int, of: dict[str, Any], remedy: str) -> None:
    around = {"plan": plan(serving_engine_args={"max-model-len": most}), "cases": {**cases(), "short-en": of}}
    if not remedy:
        assert made(ONE, **around)["order"]["cases"] == [of]
        return
    with pytest.raises(ConfigurationError) as caught:
        made(ONE, **around)
    (fault,) = caught.value.faults
    assert fault.variable == "case short-en"
    assert remedy in fault.remedy


def test_the_named_size_mends_it() -> None:
    around = {"plan": plan(serving_engine_args={"max-model-len": 200})}
    assert faults(ONE, **around) == ["case short-en"]
    assert made(ONE, {"prompt_tokens": 72}, **around)["order"]["cases"][0]["prompt_tokens"] == 72


def test_all_faults_at_once() -> None:
    raw = {"client": "spark9", "cases": ["epic"], "targets": ["main-9"], "layouts": ["tp1"]}
    assert sorted(faults(suite(PART, needs=["gateway"]), raw, plan=plan(gateway_enabled=False))) == [
        "benchmark_cases[0]",
        "benchmark_client",
        "benchmark_layouts",
        "benchmark_targets[0]",
        "suite",
    ]


def test_a_swept_setting_measures_each_point_once_a_block() -> None:
    raw = {"sweep_setting": "max_num_seqs", "sweep_values": [1, 2], "rounds": 4}
    ordered = made(suite(PART), raw)
    assert ordered["blocks"]["rounds"] == 4
    assert [one["round"] for one in ordered["order"]["rounds"]] == [0, 1]


def test_the_same_run_goes_on_with_its_own_nonce() -> None:
    old = json.loads(json.dumps(made(ONE, nonce="a" * 16)["order"]))
    new = made(ONE, nonce="b" * 16, now=NOW + 3600)["order"]
    assert digest_of(old) == digest_of(new)
    assert resumed(old, new, "results/x") == (old, [])


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ({"seed": 2}, "seed 1 then, 2 now"),
        ({"output_tokens": 16}, "case short-en has other digest, output"),
        ({"rounds": 2}, "2 rounds then, 3 now"),
        ({"requests_per_user": 5}, "round 0002 has other load"),
        ({"targets": "main-0"}, "target gateway was there and is not"),
        ({"cases": "long"}, "case long-en is new"),
        ({"verify_tls": False}, "target gateway has other verify_tls"),
        ({"timeouts": {"idle": 3}}, "other limits"),
        ({"client": "spark2"}, "client 'spark1' then, 'spark2' now"),
    ],
)
def test_another_run_is_refused_with_what_differs(raw: dict[str, Any], words: str) -> None:
    _order, (fault,) = resumed(made(ONE)["order"], made(ONE, raw)["order"], "results/x")
    assert fault.variable == "benchmark_resume"
    assert words in fault.found


def test_a_hundred_differences_are_counted() -> None:
    old, new = made(ONE)["order"], made(ONE)["order"]
    new["cases"] = [*new["cases"], *(case(f"c{number}-en") for number in range(100))]
    _order, (fault,) = resumed(old, new, "results/x")
    assert "and 95 more" in fault.found


@pytest.mark.parametrize("old", [None, [], "text", {"run": {}}])
def test_a_folder_without_a_run(old: Any) -> None:
    _order, (fault,) = resumed(old, made(ONE)["order"], "results/x")
    assert fault.found == "results/x without the order of a run"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ({}, {}, ""),
        (None, {}, ""),
        ({"variants": [{"name": "a"}], "rounds": 3}, {}, "deploys a then, nothing now"),
        (
            {"variants": [{"name": "a"}], "rounds": 3},
            {"variants": [{"name": "a"}], "rounds": 4},
            "deploys a with other values or another number",
        ),
    ],
)
def test_other_deployments_are_another_run(old: Any, new: dict[str, Any], words: str) -> None:
    fault = blocks_fault(old, new, "results/x")
    assert (fault.found if fault else "") == (f"results/x, whose run {words}" if words else "")


def test_the_users_files_are_laid_on_the_client_host() -> None:
    asked = plan(gateway_tls="self-signed", gateway_keys=[{"name": "ann", "key": "0" * 24}])
    raw = {"api_key_file": "k", "ca_file": "c", "targets": "both"}
    order = made(ONE, raw, plan=asked)["order"]
    laid = with_files(order, "/run/k", "/run/c")
    assert [(target["key_file"], target["ca_file"]) for target in laid["targets"]] == [
        ("/run/k", "/run/c"),
        ("/etc/dgxspark-serving/engine.key", ""),
    ]
    assert order["targets"][0]["key_file"] == "@api"
    assert "0" * 24 not in json.dumps(laid)
