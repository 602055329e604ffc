# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""vLLM's command line and environment."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils import model_reference
from ansible_collections.dgxspark.serving.plugins.module_utils.engines import vllm

SETTINGS = {
    "served_model_name": "qwen",
    "listen_address": "0.0.0.0",
    "port": 8000,
    "tensor_parallel_size": 1,
    "gpu_memory_utilization": 0.7,
    "engine_args": {},
    "env": {},
}
HUB = model_reference.parse("Qwen/Qwen3-8B")


@pytest.mark.parametrize(
    ("arguments", "argv"),
    [
        ({"max_model_len": 4096}, ["--max-model-len", "4096"]),
        ({"--seed": 1}, ["--seed", "1"]),
        ({"enforce-eager": True, "enable-prefix-caching": False}, ["--enforce-eager", "--no-enable-prefix-caching"]),
        ({"seed": None, "quantization": ""}, []),
        ({"lora-modules": ["a=/a", "b=/b"]}, ["--lora-modules", "a=/a", "b=/b"]),
        ({"speculative-config": {"method": "mtp", "k": 1}}, ["--speculative-config", '{"k":1,"method":"mtp"}']),
    ],
)
def test_flags(arguments: dict[str, Any], argv: list[str]) -> None:
    assert vllm.flags(arguments) == argv


def test_the_users_flag_takes_the_place_of_ours() -> None:
    argv = vllm.serve_argv(HUB, {**SETTINGS, "engine_args": {"gpu_memory_utilization": 0.5}})
    assert argv.count("--gpu-memory-utilization") == 1
    assert argv[argv.index("--gpu-memory-utilization") + 1] == "0.5"


def test_one_flag_in_two_spellings() -> None:
    [fault] = vllm.argument_faults({"max-model-len": 1, "max_model_len": 2}, "serving_engine_args", "spark1")
    assert (fault.variable, fault.found) == ("serving_engine_args.max_model_len", "the same flag as max-model-len")


def test_nothing_is_rendered_empty_n17() -> None:
    environment = vllm.environment(HUB, {**SETTINGS, "env": {"NCCL_IB_GID_INDEX": "", "A": None, "B": True, "C": 3}})
    assert "NCCL_IB_GID_INDEX" not in environment
    assert "A" not in environment
    assert (environment["B"], environment["C"]) == ("1", "3")


def test_an_id_is_served_from_the_mounted_cache_m16() -> None:
    assert vllm.serve_argv(HUB, SETTINGS)[:2] == ["serve", "Qwen/Qwen3-8B"]
    assert vllm.environment(HUB, SETTINGS)["HF_HUB_CACHE"] == HUB.mount == "/models/hub"
    assert vllm.environment(HUB, SETTINGS)["HF_HUB_OFFLINE"] == "1"


def test_the_users_environment_wins() -> None:
    assert vllm.environment(HUB, {**SETTINGS, "env": {"HF_HUB_OFFLINE": 0}})["HF_HUB_OFFLINE"] == "0"
