# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the model fits into the memory that its engine is given."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.checks import model_memory
from ansible_collections.dgxspark.serving.plugins.module_utils.checks.check import Check
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.memory import GIB
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.models.real_models import facts

MEMORY = {"total": 119 * GIB, "available": 116 * GIB, "free": 110 * GIB, "cache": 6 * GIB}
ENGINE = {
    "tensor_parallel_size": 1,
    "pipeline_parallel_size": 1,
    "max_model_len": None,
    "max_num_seqs": None,
    "gpu_memory_utilization": 0.7,
    "kv_cache_dtype": "auto",
    "max_num_batched_tokens": None,
}


def check(name: str, memory: dict[str, Any] | None = None, **engine: Any) -> Check:
    found = model_memory.check(facts(name), {**ENGINE, **engine}, MEMORY if memory is None else memory)
    assert found.id == "model.memory"
    return found


def test_a_model_that_fits() -> None:
    found = check("qwen3.6-35b-a3b-fp8", max_num_seqs=16)
    assert found.status == "pass"
    assert found.found.startswith("weights 34.1 GiB, one sequence of 262144 tokens 5.1 GiB, about 2.5 GiB")
    # Not a fault: the engine lets them wait.
    assert found.detail == "16 sequences of that length take 82.2 GiB; there is room for 9.1, more wait"


def test_weights_alone_are_too_large() -> None:
    found = check("qwen3.5-122b-a10b-fp8")
    assert (found.status, found.wanted) == ("fail", "at most 83.3 GiB: 0.7 of 119.0 GiB")
    assert found.found.startswith("weights 116.0 GiB, ")
    assert found.remedy == "Serve it on 2 hosts (serving_tensor_parallel_size: 2)"


def test_one_sequence_is_too_long() -> None:
    found = check("gemma-4-31b-it", gpu_memory_utilization=0.65)
    assert found.status == "fail"
    assert found.remedy == (
        "Allow sequences of at most 156416 tokens (in serving_engine_args max-model-len, or context-length for SGLang),"
        " or set serving_gpu_memory_utilization to 0.72, or serve it on 2 hosts (serving_tensor_parallel_size: 2)"
    )
    # What the remedy says is right.
    assert check("gemma-4-31b-it", gpu_memory_utilization=0.65, max_model_len=156416).status == "pass"
    assert check("gemma-4-31b-it", gpu_memory_utilization=0.72).status == "pass"
    assert check("gemma-4-31b-it", gpu_memory_utilization=0.65, tensor_parallel_size=2).status == "pass"


def test_only_the_estimate_is_too_large() -> None:
    # 65.4 GiB of weights and 2.6 GiB for a sequence fit into 69.0 GiB, and the rest is an estimate.
    found = check("qwen3.5-35b-a3b", max_model_len=131072, gpu_memory_utilization=0.58)
    assert found.status == "warn"
    assert found.remedy.startswith("Set serving_gpu_memory_utilization to 0.61, or serve it on 2 hosts")


def test_older_ansible_hands_numbers_over_as_text() -> None:
    numbers = {"max_model_len": 65536, "max_num_seqs": 8, "gpu_memory_utilization": 0.65, "tensor_parallel_size": 2}
    texts = {name: str(value) for name, value in numbers.items()}
    assert check("gemma-4-31b-it", **texts, max_num_batched_tokens="") == check("gemma-4-31b-it", **numbers)


def test_nothing_would_do() -> None:
    found = check("qwen3.5-122b-a10b-fp8", {**MEMORY, "total": 8 * GIB})
    assert (found.status, found.remedy) == ("fail", "Choose a smaller model, or one whose weights take fewer bits")


def test_an_attention_that_is_not_known() -> None:
    known = facts("qwen3.6-35b-a3b-fp8")
    known["kv"] = {**known["kv"], "kinds": None}
    found = model_memory.check(known, ENGINE, MEMORY)
    assert found.status == "pass"
    assert found.detail == "How much this model's attention keeps of a sequence is not known."


@pytest.mark.parametrize(
    ("known", "engine", "memory", "reason"),
    [
        (facts("qwen3-8b"), None, MEMORY, "no engine is planned here"),
        (facts("qwen3-8b"), ENGINE, {}, "the host's memory is not known"),
        ({}, ENGINE, MEMORY, "the size of the model's weights is not known"),
        (facts("minimax-m2"), ENGINE, MEMORY, "the size of the model's weights is not known"),
    ],
)
def test_nothing_to_say(known: dict[str, Any], engine: Any, memory: dict[str, Any], reason: str) -> None:
    found = model_memory.check(known, engine, memory)
    assert (found.status, found.found) == ("skip", reason)


@pytest.mark.parametrize("name", ["tiny-qwen3", "tiny-qwen3-moe"])
def test_the_labs_models_fit_on_its_hosts(name: str) -> None:
    lab = {"total": 23 * GIB, "available": 18 * GIB, "free": 4 * GIB, "cache": 14 * GIB}
    assert check(name, lab, gpu_memory_utilization=0.1, max_model_len=2048, max_num_seqs=16).status == "pass"
