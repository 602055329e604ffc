# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""vLLM plugins of the lab's image: the stock CPU platform, able to run under Ray, quicker to start, and without AMX.

They change how processes are started and connected, and with which instructions, and nothing about what is served.
"""

from __future__ import annotations

ARCHITECTURES = {"Qwen3ForCausalLM": "qwen3", "Qwen3MoeForCausalLM": "qwen3_moe"}


def platform() -> str:
    """Name the platform class (entry point `vllm.platform_plugins`)."""
    return "vllm_cpu_lab.platform.LabCpuPlatform"


def register_models() -> None:
    """Register the lab's architectures by class (entry point `vllm.general_plugins`).

    vLLM otherwise looks at a model class in a process of its own, which imports everything once more: some ten
    seconds of every start on two cores.
    """
    from importlib import import_module

    from vllm import ModelRegistry

    for architecture, module in ARCHITECTURES.items():
        implementation = getattr(import_module(f"vllm.model_executor.models.{module}"), architecture)
        ModelRegistry.register_model(architecture, implementation)
