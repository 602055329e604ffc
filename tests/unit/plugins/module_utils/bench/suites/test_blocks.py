# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The sequence of deployments, and what is refused before the first."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.suites import blocks
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.suites.blocks import Block, Variant
from ansible_collections.dgxspark.serving.plugins.module_utils.faults import ConfigurationError

TP1 = Variant("tp1", "deploy_tp1", {})
TP2 = Variant("tp2", "deploy_tp2", {})


def swept(name: str, *values: Any) -> list[Variant]:
    return [Variant(f"{name}={value}", "", {name: value}) for value in values]


def look(deployment: str, status: str = "running") -> dict[str, Any]:
    return {"containers": [{"deployment": deployment, "replica": f"{deployment}-0", "status": status}]}


@pytest.mark.parametrize(
    "variants, rounds, wanted",
    [
        ([TP1, TP2], 1, "tp1 tp2"),
        ([TP1, TP2], 2, "tp1 tp2 tp2 tp1"),
        ([TP1, TP2], 3, "tp1 tp2 tp2 tp1 tp1 tp2"),
        (swept("serving_port", 8, 16, 32), 2, "8 16 32 32 16 8"),
    ],
)
def test_blocks_alternate_so_that_a_drift_hits_both_sides(variants: list[Variant], rounds: int, wanted: str) -> None:
    found = blocks.sequence(variants, rounds)
    assert " ".join(block.variant.name.rpartition("=")[2] for block in found) == wanted
    assert [block.folder for block in found] == [f"{number:02d}" for number in range(1, len(found) + 1)]


def test_variants_are_read() -> None:
    given = {
        "variants": [{"name": "tp1", "playbook": "deploy_tp1"}, {"name": "b", "extra_vars": {"x": 1}}],
        "rounds": 3,
    }
    assert blocks.read_variants(given) == ([TP1, Variant("b", "", {"x": 1})], 3)


@pytest.mark.parametrize(
    "given, words",
    [
        ({"variants": [{"name": "a"}], "rounds": 1}, ["found 1, wanted two or more"]),
        ({"variants": [{"name": "a"}, {"name": "a"}], "rounds": 1}, ["found a twice"]),
        (
            {"variants": [{"name": ""}, {"name": "b", "playbook": "stop"}], "rounds": 0},
            ["[0].name", "'stop'", "found 0,"],
        ),
        ({"variants": [{"name": "a"}, {"name": "b"}], "rounds": True}, ["blocks.rounds: found True"]),
        ({}, ["found 0, wanted two or more", "blocks.rounds: found None"]),
    ],
)
def test_all_faults_of_the_blocks_are_said_at_once(given: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(ConfigurationError) as error:
        blocks.read_variants(given)
    assert len(error.value.faults) == len(words)
    for word in words:
        assert word in str(error.value)


@pytest.mark.parametrize(
    "name, given",
    [
        ("serving_gpu_memory_utilization", "serving_gpu_memory_utilization"),
        ("backend", "serving_backend"),
        ("serving_backend", "backend"),
    ],
)
def test_what_the_user_sets_too_is_refused_under_both_names(name: str, given: str) -> None:
    faults = blocks.clashes(swept(name, 1, 2), {given, "model"})
    assert [fault.variable for fault in faults] == [f"{name} of the variant {name}={value}" for value in (1, 2)]
    assert all(given in fault.found for fault in faults)
    full = name if name.startswith("serving_") else f"serving_{name}"
    assert faults[0].remedy == (
        f"Write {full} into group_vars in place of -e {given}, or leave it out and say -e benchmark_restore=false"
    )
    assert blocks.clashes(swept(name, 1), {"model"}) == []


def test_flags_that_the_plan_has_merged_are_no_clash() -> None:
    assert blocks.clashes(swept("serving_engine_args", 1), {"serving_engine_args"}) == []


@pytest.mark.parametrize(
    "hosts, said, refused",
    [
        (["a", "b"], False, False),
        (["a", "b", "c", "d"], False, False),
        (["a", "b", "c"], True, False),
        (["a", "b", "c"], False, True),
        (["a"], False, True),
        ([], False, True),
    ],
)
def test_pairs_need_an_even_number_of_hosts(hosts: list[str], said: bool, refused: bool) -> None:
    assert bool(blocks.even_hosts([TP1, TP2], hosts, said)) is refused
    assert blocks.even_hosts([TP1], hosts, said) == []


@pytest.mark.parametrize(
    "looks, wanted",
    [
        ({"a": {"containers": []}}, "stop"),
        ({"a": look("tp1"), "b": look("tp1")}, "deploy_tp1"),
        ({"a": look("tp2"), "b": look("tp2")}, "deploy_tp2"),
        ({"a": look("main")}, "deploy"),
        ({"a": look("tp1"), "b": look("chat")}, "deploy"),
        ({"a": look("tp1", "exited"), "b": look("tp2")}, "deploy_tp2"),
        ({"a": look("tp1", "exited")}, "stop"),
    ],
)
def test_what_runs_names_the_playbook_that_brings_it_back(looks: dict[str, Any], wanted: str) -> None:
    assert blocks.restoring_playbook(looks) == wanted


def test_a_host_that_said_nothing_could_not_be_restored() -> None:
    (fault,) = blocks.look_faults({"a": look("tp1"), "b": {"msg": "No route to host\nmore", "unreachable": True}})
    assert (fault.host, fault.found) == ("b", "No route to host")


def test_each_child_is_given_what_concerns_it() -> None:
    extra = {
        "model": "m",
        "suite": "layout",
        "baseline": "old.json",
        "benchmark_seed": 3,
        "benchmark_resume": "results/x",
    }
    assert blocks.deploying_variables(extra) == {"model": "m"}
    block = Block(2, Variant("b", "", {"max_num_seqs": 8}))
    found = blocks.measuring_variables(extra, block, "results/x/blocks/02", "")
    assert found == {
        "model": "m",
        "suite": "layout",
        "benchmark_seed": 3,
        "max_num_seqs": 8,
        "benchmark_block": "b",
        "benchmark_results": "results/x/blocks/02",
    }
    assert blocks.measuring_variables(extra, block, "r", "r/begun")["benchmark_resume"] == "r/begun"
