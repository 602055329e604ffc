# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""vLLM's command line and environment for each rank. Flags and variables as vLLM 0.32 has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.engines import choices, group, keyed
from ansible_collections.dgxspark.serving.plugins.module_utils.engines.group import Group
from ansible_collections.dgxspark.serving.plugins.module_utils.faults import Fault
from ansible_collections.dgxspark.serving.plugins.module_utils.models.reference import (
    HUB_MOUNT,
    HUGGING_FACE,
    ModelReference,
)

# Set by name: some images' entrypoint is a shell or swallows the command.
ENTRYPOINT = ["vllm"]
RAY_ENTRYPOINT = ["python3"]
BACKENDS = ("mp", "ray")

# Where the program that runs a rank of a Ray cluster lies on hosts and, read-only, in containers.
RANK_PROGRAMS = "/usr/local/lib/dgxspark-serving/engine"
RANK_PROGRAMS_MOUNT = "/opt/dgxspark"
RAY_RANK = f"{RANK_PROGRAMS_MOUNT}/ray_rank.py"

SHARE_FLAG = "gpu-memory-utilization"

ALIASES = {
    "ac": "attention-config",
    "asc": "api-server-count",
    "cc": "compilation-config",
    "dcp": "decode-context-parallel-size",
    "dp": "data-parallel-size",
    "dpa": "data-parallel-address",
    "dpb": "data-parallel-backend",
    "dpe": "data-parallel-external-lb",
    "dph": "data-parallel-hybrid-lb",
    "dpl": "data-parallel-size-local",
    "dpn": "data-parallel-rank",
    "dpp": "data-parallel-rpc-port",
    "dpr": "data-parallel-start-rank",
    "ep": "enable-expert-parallel",
    "n": "nnodes",
    "pcp": "prefill-context-parallel-size",
    "pp": "pipeline-parallel-size",
    "q": "quantization",
    "r": "node-rank",
    "sc": "speculative-config",
    "tp": "tensor-parallel-size",
}

# Flags that the plan decides, and the variable that decides each. A Spark has one GPU: what would spread an engine
# further than tensor and pipeline parallel contradicts the number of hosts; more replicas are the data-parallel way.
DECIDED = {
    "model": "serving_model",
    "revision": "serving_model_revision",
    "served-model-name": "serving_served_model_name",
    "host": "serving_listen_address",
    "port": "serving_port",
    "uds": "serving_listen_address",
    "tensor-parallel-size": "serving_tensor_parallel_size",
    "pipeline-parallel-size": "serving_pipeline_parallel_size",
    "prefill-context-parallel-size": "serving_tensor_parallel_size",
    "data-parallel-size": "serving_deployments",
    "data-parallel-size-local": "serving_deployments",
    "data-parallel-rank": "serving_deployments",
    "data-parallel-start-rank": "serving_deployments",
    "data-parallel-address": "serving_deployments",
    "data-parallel-rpc-port": "serving_deployments",
    "data-parallel-backend": "serving_deployments",
    "data-parallel-hybrid-lb": "serving_deployments",
    "data-parallel-external-lb": "serving_deployments",
    "distributed-executor-backend": "serving_backend",
    "nnodes": "serving_deployments",
    "node-rank": "serving_deployments",
    "master-addr": "fabric_links",
    "master-port": "serving_master_port",
    "headless": "serving_deployments",
}

# The engine's key, as a flag and as a variable, is in a file (see keyed.py).
KEY_BY_FILE = True
KEY_VARIABLE = "VLLM_API_KEY"
KEY_REMEDY = "Remove it and set gateway_engine_key: true, which gives engines their key by a file"
SECRET = {"api-key": KEY_REMEDY}

# Flags of the API, which a rank without one refuses.
API_FLAGS = ("api-server-count",)


def dashed(flag: str) -> str:
    """A flag's one name: vLLM takes underscores for dashes, and short forms.

    >>> dashed("--max_model_len"), dashed("-tp")
    ('max-model-len', 'tensor-parallel-size')
    """
    return choices.one_spelling(flag, ALIASES)


def flags(arguments: Mapping[str, Any]) -> list[str]:
    """Turn a mapping of flags into arguments, in the mapping's order.

    >>> flags({"enforce-eager": True, "max_model_len": 2048, "seed": None})
    ['--enforce-eager', '--max-model-len', '2048']
    """
    return choices.render({dashed(flag): value for flag, value in arguments.items()}, with_negation=True)


def argument_faults(arguments: Mapping[str, Any], place: str, host: str) -> list[Fault]:
    """Flags that contradict the plan, show a secret, stand twice, or ask for too much memory."""
    return choices.argument_faults(arguments, dashed, DECIDED, SECRET, SHARE_FLAG, place, host)


def environment_faults(users: Mapping[str, Any], members: Group, place: str, host: str) -> list[Fault]:
    """Variables of the user that contradict the plan or show a secret."""
    faults = group.address_faults("VLLM_HOST_IP", users, members, place, host)
    if users.get(KEY_VARIABLE) not in (None, ""):
        faults.append(choices.secret_fault(f"{place}.{KEY_VARIABLE}", KEY_REMEDY, host))
    return faults


def memory_share(settings: Mapping[str, Any]) -> float:
    """The share of the memory (0 to 1) that the engine is told to take."""
    return choices.memory_share(settings, dashed, SHARE_FLAG)


def serve_argv(model: ModelReference, settings: Mapping[str, Any]) -> list[str]:
    """Arguments of rank 0 of a replica of one host, to follow the entrypoint.

    :param settings: a deployment's values by their keys, as :mod:`plan` reads them
    """
    return _argv(model, settings, {**_api(settings), "tensor-parallel-size": settings["tensor_parallel_size"]})


def rank_container(members: Group, rank: int, model: ModelReference, settings: Mapping[str, Any]) -> dict[str, Any]:
    """What is special about the container of one rank.

    :returns: ``entrypoint``, ``command``, ``env``, ``devices``, ``capabilities`` and ``mounts`` beside the model's
    """
    ray = _uses_ray(members, settings)
    if ray:
        command = [RAY_RANK, *_ray_rank_arguments(members, rank, settings)]
        if rank == 0:
            command += ["--", *ENTRYPOINT, *_ray_argv(model, settings)]
    else:
        command = _mp_argv(members, rank, model, settings)
    ours = {**_offline(model), **_group_environment(members, rank, settings)}
    if rank == 0 and settings.get("gateway", False):
        # A gateway keeps connections; the engine must not be the one that ends them (field fault G04). In seconds.
        ours["VLLM_HTTP_TIMEOUT_KEEP_ALIVE"] = "75"
    # Without it the engine forgets every response at once (field fault G10).
    if rank == 0 and settings.get("responses_store", False):
        ours["VLLM_ENABLE_RESPONSES_API_STORE"] = "1"
    special = {
        "entrypoint": list(RAY_ENTRYPOINT if ray else ENTRYPOINT),
        "command": command,
        "env": choices.environment(ours, settings["env"]),
        "devices": members.devices,
        "capabilities": members.capabilities,
        "mounts": [{"source": RANK_PROGRAMS, "target": RANK_PROGRAMS_MOUNT}] if ray else [],
    }
    # Only rank 0 answers requests.
    return keyed.keyed(special, settings.get("engine_key_file", "")) if rank == 0 else special


def ports(members: Group, rank: int, settings: Mapping[str, Any]) -> list[dict[str, Any]]:
    """TCP ports that must be free on the host of a rank: those of others than rank 0 are chosen by the engine."""
    if rank != 0:
        return []
    wanted = [{"port": settings["port"], "address": settings["listen_address"], "use": "API"}]
    if _uses_ray(members, settings):
        wanted.append({"port": settings["ray_port"], "address": "0.0.0.0", "use": "Ray head"})
    elif members.world_size > 1:
        # The store in which the ranks meet listens on every address of the host.
        wanted.append({"port": settings["master_port"], "address": "0.0.0.0", "use": "master port of the ranks"})
    return wanted


def probe(members: Group, rank: int, model: ModelReference, settings: Mapping[str, Any]) -> dict[str, Any]:
    """What can be proved of the image before an engine stops for it.

    :returns: ``imports``, Python modules that the rank needs, and ``argv``, the engine's whole command line as rank
        ``rank`` runs it
    """
    ray = _uses_ray(members, settings)
    argv = _ray_argv(model, settings) if ray else _mp_argv(members, rank, model, settings)
    # Newer images leave Ray out (field fault N16).
    return {"imports": ["ray"] if ray else [], "argv": [*ENTRYPOINT, *argv]}


def _uses_ray(members: Group, settings: Mapping[str, Any]) -> bool:
    return members.world_size > 1 and settings["backend"] == "ray"


def _argv(model: ModelReference, settings: Mapping[str, Any], ours: Mapping[str, Any]) -> list[str]:
    chosen = {dashed(flag): value for flag, value in settings["engine_args"].items()}
    if "headless" in ours:
        chosen = {name: value for name, value in chosen.items() if name not in API_FLAGS}
    ours = {
        "served-model-name": settings["served_model_name"],
        **choices.revision(model, settings),
        **ours,
        "gpu-memory-utilization": settings["gpu_memory_utilization"],
    }
    return ["serve", model.argument, *flags({**ours, **chosen})]


def _api(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {"host": settings["listen_address"], "port": settings["port"]}


def _parallel(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "tensor-parallel-size": settings["tensor_parallel_size"],
        "pipeline-parallel-size": settings["pipeline_parallel_size"],
        "distributed-executor-backend": settings["backend"],
        # A rank that is silent for longer is an error; without it a cut cable hangs all ranks for half an hour.
        "distributed-timeout-seconds": settings["distributed_timeout"],
    }


def _mp_argv(members: Group, rank: int, model: ModelReference, settings: Mapping[str, Any]) -> list[str]:
    if members.world_size == 1:
        return serve_argv(model, settings)
    ours = {
        **(_api(settings) if rank == 0 else {"headless": True}),
        **_parallel(settings),
        "nnodes": members.world_size,
        "node-rank": rank,
        "master-addr": members.master,
        "master-port": settings["master_port"],
    }
    return _argv(model, settings, ours)


def _ray_argv(model: ModelReference, settings: Mapping[str, Any]) -> list[str]:
    return _argv(model, settings, {**_api(settings), **_parallel(settings)})


def _ray_rank_arguments(members: Group, rank: int, settings: Mapping[str, Any]) -> list[str]:
    addresses = ",".join(member.address for member in members.members)
    return ["--rank", str(rank), "--nodes", addresses, "--port", str(settings["ray_port"])]


def _offline(model: ModelReference) -> dict[str, str]:
    """Nothing is fetched, nothing is reported home."""
    ours = {
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "VLLM_NO_USAGE_STATS": "1",
        "DO_NOT_TRACK": "1",
    }
    if model.hub == HUGGING_FACE:
        ours["HF_HUB_CACHE"] = HUB_MOUNT
    return ours


def _group_environment(members: Group, rank: int, settings: Mapping[str, Any]) -> dict[str, str]:
    if members.world_size == 1:
        return {}
    # Never by the host's name, which may be a loopback address (field fault N06).
    ours = {"VLLM_HOST_IP": members.members[rank].address, **group.environment(members, rank)}
    if _uses_ray(members, settings):
        # On every rank: the monitor takes the page cache of loading weights for used memory and kills workers (U06).
        ours["RAY_memory_monitor_refresh_ms"] = "0"
        # Otherwise a token file in a home directory decides.
        ours["RAY_AUTH_MODE"] = "disabled"
        ours["RAY_USAGE_STATS_ENABLED"] = "0"
        # A node that is told to stop has nothing to hand over; by default it waits half a minute for that.
        ours["RAY_GRACEFUL_SHUTDOWN_DRAIN_TIMEOUT_S"] = "0"
    return ours
