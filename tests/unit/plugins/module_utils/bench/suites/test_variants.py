# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is deployed in turn: layouts, and the values of one setting."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.suites.variants import blocks_of, present_args
from ansible_collections.dgxspark.serving.plugins.module_utils.variables import Unreadable
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.bench.suites.ordered import options, suite

PART = {"cases": ["short"]}
VARIANTS = [
    {"name": "tp1", "playbook": "deploy_tp1", "extra_vars": {}},
    {"name": "tp2", "playbook": "deploy_tp2", "extra_vars": {}},
    {"name": "ray", "playbook": "deploy_tp2", "extra_vars": {"serving_backend": "ray"}},
]
PLAIN = suite(PART)
LAYOUT = suite(PART, blocks={"rounds": 3, "chosen": ["tp1", "tp2"], "variants": VARIANTS})


def swept(setting: str, wished: Any, engine_args: Any = None, extra: tuple[str, ...] = (), **raw: Any) -> Any:
    return blocks_of(PLAIN, options(sweep_setting=setting, sweep_values=wished, **raw), engine_args, extra)


def test_a_suite_without_blocks_deploys_nothing() -> None:
    assert blocks_of(PLAIN, options(), None, ()) == ({}, [])


@pytest.mark.parametrize(
    ("raw", "names", "rounds"),
    [({}, ["tp1", "tp2"], 3), ({"layouts": "tp2,ray"}, ["tp2", "ray"], 3), ({"rounds": 5}, ["tp1", "tp2"], 5)],
)
def test_layouts(raw: dict[str, Any], names: list[str], rounds: int) -> None:
    blocks, faults = blocks_of(LAYOUT, options(**raw), None, ())
    assert faults == []
    assert [variant["name"] for variant in blocks["variants"]] == names
    assert blocks["rounds"] == rounds


def test_a_block_itself_deploys_nothing() -> None:
    assert blocks_of(LAYOUT, options(block="tp1", sweep_setting="x"), None, ()) == ({}, [])


@pytest.mark.parametrize(
    ("suite_of", "raw", "place"),
    [
        (LAYOUT, {"layouts": "tp1,tp9"}, "benchmark_layouts[1]"),
        (LAYOUT, {"layouts": "tp1"}, "benchmark_layouts"),
        (PLAIN, {"layouts": "tp1,tp2"}, "benchmark_layouts"),
        (LAYOUT, {"sweep_setting": "max_num_seqs", "sweep_values": [1, 2]}, "benchmark_sweep_setting"),
        (PLAIN, {"sweep_values": [1, 2]}, "benchmark_sweep_setting"),
        (PLAIN, {"sweep_setting": "max_num_seqs"}, "benchmark_sweep_values"),
        (PLAIN, {"sweep_setting": "max_num_seqs", "sweep_values": [8]}, "benchmark_sweep_values"),
        (PLAIN, {"sweep_setting": "max_num_seqs", "sweep_values": [8, "8"]}, "benchmark_sweep_values"),
        (PLAIN, {"sweep_setting": "max_num_sequences", "sweep_values": [1, 2]}, "benchmark_sweep_setting"),
        (PLAIN, {"sweep_setting": "gpu_memory_utilization", "sweep_values": [0.7, 7]}, "benchmark_sweep_values[1]"),
    ],
)
def test_each_fault_names_its_place(suite_of: Any, raw: dict[str, Any], place: str) -> None:
    blocks, (fault,) = blocks_of(suite_of, options(**raw), None, ())
    assert blocks == {}
    assert fault.variable == place


@pytest.mark.parametrize("setting", ["gpu_memory_utilization", "serving_gpu_memory_utilization"])
def test_a_variable_is_swept_by_its_name(setting: str) -> None:
    blocks, faults = swept(setting, "0.7,0.8")
    assert faults == []
    assert [variant["extra_vars"] for variant in blocks["variants"]] == [
        {"serving_gpu_memory_utilization": 0.7},
        {"serving_gpu_memory_utilization": 0.8},
    ]
    assert [variant["name"] for variant in blocks["variants"]] == [f"{setting}-0.7", f"{setting}-0.8"]
    assert {variant["playbook"] for variant in blocks["variants"]} == {""}
    assert blocks["rounds"] == 3


def test_a_flag_is_swept_among_the_others() -> None:
    blocks, faults = swept("max_num_seqs", "8,16", {"max-model-len": 4096, "max_num_seqs": 4})
    assert faults == []
    assert [variant["extra_vars"]["serving_engine_args"] for variant in blocks["variants"]] == [
        {"max-model-len": 4096, "max_num_seqs": 8},
        {"max-model-len": 4096, "max_num_seqs": 16},
    ]


def test_a_flag_that_the_user_has_already_is_known() -> None:
    blocks, faults = swept("my-own-flag", "a,b", {"my-own-flag": "c"})
    assert faults == []
    assert blocks["variants"][0]["extra_vars"] == {"serving_engine_args": {"my-own-flag": "a"}}


@pytest.mark.parametrize(
    ("text", "value"), [("true", True), ("False", False), ("8", 8), ("0.5", 0.5), ("fp8_e5m2", "fp8_e5m2")]
)
def test_values_of_flags_are_read_from_text(text: str, value: Any) -> None:
    blocks, _faults = swept("kv-cache-dtype", [text, "other"])
    found = blocks["variants"][0]["extra_vars"]["serving_engine_args"]["kv-cache-dtype"]
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(("setting", "extra"), [("port", "port"), ("port", "serving_port"), ("backend", "backend")])
def test_what_is_given_by_hand_is_not_swept(setting: str, extra: str) -> None:
    values = {"port": "8001,8002", "backend": "mp,ray"}[setting]
    blocks, (fault,) = swept(setting, values, extra=(extra, "suite"))
    assert blocks == {}
    assert fault.remedy == f"Leave out -e {extra}"


def test_the_likely_meant_setting_is_named() -> None:
    _blocks, (fault,) = swept("gpu_memory_utilisation", "0.7,0.8")
    assert fault.wanted == "gpu_memory_utilization"


@pytest.mark.parametrize("engine_args", [Unreadable("x is undefined"), "flags of their own", ["a"]])
def test_flags_that_cannot_be_read(engine_args: Any) -> None:
    _blocks, (fault,) = swept("max_num_seqs", "1,2", engine_args)
    assert fault.variable == "serving_engine_args"


@pytest.mark.parametrize(
    ("deployments", "found"),
    [
        (None, {"a": 1}),
        ([{"name": "x"}], {"a": 1}),
        ([{"name": "x", "engine_args": {"b": 2}}], {"b": 2}),
        ([{"name": "x", "engine_args": {"b": 2}}, {"name": "y"}], "flags of their own in serving_deployments"),
        ("nonsense", {"a": 1}),
    ],
)
def test_the_flags_that_count(deployments: Any, found: Any) -> None:
    assert present_args({"a": 1}, deployments) == found
