# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cases and suites that come with the role: each is read, and every suite can be ordered as it stands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.cases.case import read_case
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client import failures
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.judge import comparable, margins
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.suites.options import OPTIONS, PREFIX
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.suites.suite import Suite, read_suite
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.suites.targets import label_of
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.bench.suites.ordered import made, plan

ROLE = Path(__file__).resolve().parents[2] / "roles" / "benchmark"
CASES = sorted((ROLE / "files" / "cases").glob("*.yml"))
SUITES = sorted((ROLE / "files" / "suites").glob("*.yml"))
WANTED_CASES = "short long reasoning code memory-summary long-context multi-turn prefix-warm greeting trio".split()
WANTED_SUITES = (
    "gateway layout published-gateway published-quick published-throughput published-tp2 quick soak standard".split()
)


def load(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def cases() -> dict[str, dict[str, Any]]:
    found = {}
    for path in CASES:
        case, faults = read_case(load(path), path.name)
        assert case is not None, faults
        found[case["name"]] = case
    return found


def suite(name: str) -> Suite:
    read, faults = read_suite(load(ROLE / "files" / "suites" / f"{name}.yml"), name)
    assert read is not None, faults
    return read


def ordered(name: str, **raw: Any) -> dict[str, Any]:
    return made(suite(name), raw, cases=cases())


def points(name: str, **raw: Any) -> list[str]:
    return list(dict.fromkeys(one["point"] for one in ordered(name, **raw)["order"]["rounds"]))


def test_all_cases_are_there_in_both_languages() -> None:
    assert sorted(cases()) == sorted(f"{name}-{language}" for name in WANTED_CASES for language in ("en", "zh"))
    assert [path.stem for path in CASES] == sorted(cases())


def test_both_languages_of_a_case_ask_for_the_same_sizes() -> None:
    found = cases()
    for name in WANTED_CASES:
        one, other = found[f"{name}-en"], found[f"{name}-zh"]
        for key in ("prompt_tokens", "output", "cache", "shared_prefix", "max_share_cached"):
            assert one[key] == other[key], name
        assert len(one.get("prompts", ())) == len(other.get("prompts", ())), name


def test_prompts_differ_within_their_case_and_one_case_ends_by_itself() -> None:
    found = cases()
    for case in found.values():
        texts = [str(text) for text in case.get("prompts") or case["conversations"]]
        assert len(set(texts)) == len(texts) >= 3, case["name"]
    assert {name for name, case in found.items() if case["output"]["mode"] == "natural"} == {
        "reasoning-en",
        "reasoning-zh",
    }


@pytest.mark.parametrize("name", [name for name in WANTED_CASES if name != "multi-turn"])
def test_b_row_9_all_but_the_cases_that_are_warm_on_purpose_must_be_cold(name: str) -> None:
    case = cases()[f"{name}-en"]
    assert (case["cache"], case["max_share_cached"]) == (("warm", None) if name == "prefix-warm" else ("cold", 0.01))


def test_all_suites_are_there() -> None:
    assert [path.stem for path in SUITES] == WANTED_SUITES
    assert [suite(path.stem).name for path in SUITES] == WANTED_SUITES


@pytest.mark.parametrize("name", WANTED_SUITES)
def test_every_suite_can_be_ordered(name: str) -> None:
    order = ordered(name)["order"]
    names = {
        "case": {case["name"] for case in order["cases"]},
        "target": {target["name"] for target in order["targets"]},
    }
    for key, known in names.items():
        assert {one[key] for one in order["rounds"]} == known
    ids = [one["id"] for one in order["rounds"]]
    assert ids == sorted(set(ids))
    for target in order["targets"]:
        assert any(f"/{label_of(target)}/" in one["point"] for one in order["rounds"])


@pytest.mark.parametrize("name", [name for name in WANTED_SUITES if "gateway" not in name])
def test_without_a_gateway_all_but_its_own_suites_can_be_ordered(name: str) -> None:
    alone = plan(("spark1",), gateway_enabled=False)
    order = made(suite(name), None, cases=cases(), plan=alone)["order"]
    assert {target["via"] for target in order["targets"]} == {"direct"}


def test_standard_has_what_the_specification_says() -> None:
    found = points("standard")
    for users in (1, 4, 8, 16, 32):
        for target in ("gateway", "direct:main-0"):
            assert f"short-en/chat/{target}/n{users}" in found
    assert [point for point in found if point.endswith("/ladder")] == [
        f"short-en/chat/gateway/n{2**number}/ladder" for number in range(7)
    ]
    assert {point.rpartition("/")[2] for point in found if "/open" in point} == {"open0.5", "open0.8"}
    for name in WANTED_CASES[1:8]:
        assert {f"{name}-en/chat/gateway/n{users}" for users in (1, 4)} <= set(found)
    measured = [one for one in ordered("standard")["order"]["rounds"] if one["point"] == "short-en/chat/gateway/n8"]
    assert [one["round"] for one in measured] == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        (
            "published-throughput",
            [f"trio-en/chat/direct:main-{host}/{load}" for load in ("series", "n4", "n8") for host in (0, 1)],
        ),
        (
            "published-gateway",
            [
                f"short-en/{endpoint}/{target}/n{users}"
                for endpoint in ("completions", "chat")
                for users in (1, 4, 8, 16)
                for target in ("gateway", "direct:main-0")
            ],
        ),
        (
            "published-tp2",
            [f"{name}-en/chat/direct:main-0/series" for name in ("greeting", "memory-summary", "code")],
        ),
        (
            "published-quick",
            [
                *(f"{name}-en/chat/gateway/series" for name in ("short", "long", "reasoning")),
                "short-en/chat/gateway/n3",
            ],
        ),
    ],
)
def test_published_runs_are_repeated_as_they_were(name: str, wanted: list[str]) -> None:
    assert points(name) == wanted


def test_three_prompts_come_three_times() -> None:
    order = ordered("published-throughput")["order"]
    series = [one for one in order["rounds"] if one["load"]["model"] == "series" and not one["warmup"]]
    assert {one["load"]["requests"] for one in series} == {9}
    assert (len(order["cases"][0]["prompts"]), order["cases"][0]["output"]["tokens"]) == (3, 128)


def test_a_small_lab_can_cut_everything_down() -> None:
    raw = {
        "prompt_tokens": 64,
        "output_tokens": 8,
        "min_seconds": 0,
        "requests_per_user": 1,
        "rounds": 1,
        "concurrency": "1,2",
    }
    small = made(suite("standard"), raw, cases=cases(), plan=plan(serving_engine_args={"max-model-len": 128}))["order"]
    assert {one["load"].get("n", 1) for one in small["rounds"]} == {1, 2}
    assert max(one["load"].get("min_s", 0) for one in small["rounds"]) == 0
    assert {case["output"]["tokens"] for case in small["cases"]} == {8}


def test_the_plan_checks_the_variables_before_ansible_does() -> None:
    play = load(ROLE.parents[1] / "playbooks" / "benchmark.yml")[-1]
    (task,) = [task for task in play["tasks"] if "ansible.builtin.import_role" in task]
    role = task["ansible.builtin.import_role"]
    assert role == {"name": "dgxspark.serving.benchmark", "rolespec_validate": False}
    assert "roles" not in play


def test_variables_are_those_of_the_roles_argument_specs() -> None:
    specs = load(ROLE / "meta" / "argument_specs.yml")["argument_specs"]["main"]["options"]
    assert {option.name for option in OPTIONS} == set(specs) - {f"{PREFIX}plan"}
    for option in OPTIONS:
        spec = specs[option.name]
        assert spec["type"] == option.kind, option.name
        assert spec.get("default") == option.default, option.name
        assert tuple(spec.get("choices", ())) == option.choices, option.name


def test_the_variables_say_all_that_they_take() -> None:
    specs = load(ROLE / "meta" / "argument_specs.yml")["argument_specs"]["main"]["options"]
    for key in (*comparable.KEYS, comparable.ALL):
        assert f"`{key}`" in specs["benchmark_allow_differences"]["description"], key
    known = margins.LOWER_IS_BETTER | margins.HIGHER_IS_BETTER | {margins.TTFT_LEAST}
    for key in known - {margins.ERRORS}:
        assert f"`{key}`" in specs["benchmark_margins"]["description"], key


def test_the_guide_names_every_kind_of_error_key_and_suite() -> None:
    guide = (ROLE.parents[1] / "docs" / "benchmark.md").read_text(encoding="utf-8")
    for word in (*failures.KINDS, *comparable.KEYS, *WANTED_SUITES):
        assert f"`{word}`" in guide, word


@pytest.mark.parametrize("name", ["quick", "standard", "gateway", "layout"])
def test_each_user_asks_three_times_in_a_measured_round_at_least(name: str) -> None:
    loads = [one["load"] for one in ordered(name)["order"]["rounds"] if not one["warmup"]]
    closed = [load for load in loads if load["model"] == "closed"]
    assert closed
    assert min(load["requests"] / load["n"] for load in closed) >= 3


def test_the_users_files_are_laid_from_where_the_plan_has_found_them() -> None:
    (block,) = [task["block"] for task in load(ROLE / "tasks" / "measure.yml") if "block" in task]
    (copy,) = [task for task in block if "ansible.builtin.copy" in task]
    assert [item["src"] for item in copy["loop"]] == [
        "{{ __benchmark_planned.key_source }}",
        "{{ __benchmark_planned.ca_source }}",
    ]
