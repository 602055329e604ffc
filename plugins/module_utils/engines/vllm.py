# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""vLLM's command line and environment for one rank. Flags and variables as vLLM 0.32 has them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.faults import Fault
from ansible_collections.dgxspark.serving.plugins.module_utils.model_reference import HUB_MOUNT, ModelReference
from ansible_collections.dgxspark.serving.plugins.module_utils.variables import show

# Set by name: some images' entrypoint is a shell or swallows the command.
ENTRYPOINT = ["vllm"]

# Flags that the plan decides, and the variable that decides each.
DECIDED = {
    "model": "serving_model",
    "served-model-name": "serving_served_model_name",
    "host": "serving_listen_address",
    "port": "serving_port",
    "tensor-parallel-size": "serving_tensor_parallel_size",
    "pipeline-parallel-size": "serving_pipeline_parallel_size",
    "distributed-executor-backend": "serving_backend",
    "nnodes": "serving_deployments",
    "node-rank": "serving_deployments",
    "master-addr": "fabric_links",
    "headless": "serving_deployments",
}


def dashed(flag: str) -> str:
    """A flag's one spelling: vLLM takes underscores for dashes.

    >>> dashed("--max_model_len")
    'max-model-len'
    """
    return flag.lstrip("-").replace("_", "-")


def flags(arguments: Mapping[str, Any]) -> list[str]:
    """Turn a mapping of flags into arguments, in the mapping's order.

    ``True`` gives the bare flag, ``False`` its ``--no-`` form, a list several values, a mapping JSON; ``None`` leaves
    the flag out.

    >>> flags({"enforce-eager": True, "max-model-len": 2048, "seed": None})
    ['--enforce-eager', '--max-model-len', '2048']
    """
    argv: list[str] = []
    for flag, value in arguments.items():
        name = dashed(flag)
        if value is None or value == "":
            continue
        if value is True:
            argv.append(f"--{name}")
        elif value is False:
            argv.append(f"--no-{name}")
        elif isinstance(value, Mapping):
            argv += [f"--{name}", json.dumps(value, sort_keys=True, separators=(",", ":"))]
        elif isinstance(value, (list, tuple)):
            argv += [f"--{name}", *map(str, value)]
        else:
            argv += [f"--{name}", str(value)]
    return argv


def argument_faults(arguments: Mapping[str, Any], place: str, host: str) -> list[Fault]:
    """Flags that contradict the plan, or stand twice in two spellings."""
    faults = []
    seen: dict[str, str] = {}
    for flag in arguments:
        name = dashed(flag)
        if name in DECIDED:
            owner = DECIDED[name]
            faults.append(
                Fault(f"{place}.{flag}", show(arguments[flag]), "no such key", f"Remove it and set {owner}", host)
            )
        if name in seen:
            faults.append(
                Fault(f"{place}.{flag}", f"the same flag as {seen[name]}", "each flag once", f"Remove {flag}", host)
            )
        seen[name] = flag
    return faults


def serve_argv(model: ModelReference, settings: Mapping[str, Any]) -> list[str]:
    """Arguments of rank 0 of a replica of one host, to follow the entrypoint.

    :param settings: a deployment's values by their keys, as :mod:`plan` reads them
    """
    chosen = {dashed(flag): value for flag, value in settings["engine_args"].items()}
    ours = {
        "served-model-name": settings["served_model_name"],
        "host": settings["listen_address"],
        "port": settings["port"],
        "tensor-parallel-size": settings["tensor_parallel_size"],
        "gpu-memory-utilization": settings["gpu_memory_utilization"],
    }
    return ["serve", model.argument, *flags({**ours, **chosen})]


def environment(model: ModelReference, settings: Mapping[str, Any]) -> dict[str, str]:
    """Environment of the engine: nothing is fetched, nothing is reported home; what the user sets wins."""
    ours = {
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "VLLM_NO_USAGE_STATS": "1",
        "DO_NOT_TRACK": "1",
    }
    if not model.is_path:
        ours["HF_HUB_CACHE"] = HUB_MOUNT
    # Nothing is rendered empty: an empty value means something else to NCCL and to vLLM than no value.
    user = {name: _env_text(value) for name, value in settings["env"].items() if value is not None and value != ""}
    return {**ours, **user}


def _env_text(value: Any) -> str:
    if isinstance(value, bool):
        return "1" if value else "0"
    return str(value)
