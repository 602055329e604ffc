# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""SGLang's command line and environment for each rank. Not yet seen on hardware."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.engines import choices, group
from ansible_collections.dgxspark.serving.plugins.module_utils.engines.group import Group
from ansible_collections.dgxspark.serving.plugins.module_utils.faults import Fault
from ansible_collections.dgxspark.serving.plugins.module_utils.models.reference import (
    HUB_MOUNT,
    HUGGING_FACE,
    ModelReference,
)

ENTRYPOINT = ["python3", "-m", "sglang.launch_server"]
BACKENDS = ("mp",)

SHARE_FLAG = "mem-fraction-static"

ALIASES = {
    "data-parallel-size": "dp-size",
    "dp": "dp-size",
    "expert-parallel-size": "ep-size",
    "ep": "ep-size",
    "model": "model-path",
    "nccl-init-addr": "dist-init-addr",
    "pipeline-parallel-size": "pp-size",
    "pp": "pp-size",
    "tensor-parallel-size": "tp-size",
    "tp": "tp-size",
}

# Flags that the plan decides, and the variable that decides each.
DECIDED = {
    "model-path": "serving_model",
    "revision": "serving_model_revision",
    "served-model-name": "serving_served_model_name",
    "host": "serving_listen_address",
    "port": "serving_port",
    "tp-size": "serving_tensor_parallel_size",
    "pp-size": "serving_pipeline_parallel_size",
    "nnodes": "serving_deployments",
    "node-rank": "serving_deployments",
    "dist-init-addr": "fabric_links",
}

# SGLang writes all its arguments, its key among them, into its log at start, and gives them out on /server_info: there
# is no way to give it a key that shows none (sgl-project/sglang#37457).
KEY_BY_FILE = False
SECRET = {
    "api-key": "Remove it: SGLang writes its key into its log. Keep strangers from its port by serving_listen_address,"
    " and ask clients for gateway_keys"
}

# SGLang answers 200 to a health request on the API's port of every rank: only rank 0's may be seen from elsewhere.
WORKER_HOST = "127.0.0.1"


def dashed(flag: str) -> str:
    """A flag's one name.

    >>> dashed("--tensor_parallel_size"), dashed("tp")
    ('tp-size', 'tp-size')
    """
    return choices.one_spelling(flag, ALIASES)


def argument_faults(arguments: Mapping[str, Any], place: str, host: str) -> list[Fault]:
    """Flags that contradict the plan, show a secret, stand twice, or ask for too much memory."""
    return choices.argument_faults(arguments, dashed, DECIDED, SECRET, SHARE_FLAG, place, host)


def environment_faults(users: Mapping[str, Any], members: Group, place: str, host: str) -> list[Fault]:
    """Variables of the user that contradict the plan."""
    return group.address_faults("SGLANG_HOST_IP", users, members, place, host)


def memory_share(settings: Mapping[str, Any]) -> float:
    """The share of the memory (0 to 1) that the engine is told to take."""
    return choices.memory_share(settings, dashed, SHARE_FLAG)


def rank_container(members: Group, rank: int, model: ModelReference, settings: Mapping[str, Any]) -> dict[str, Any]:
    """What is special about the container of one rank.

    :returns: ``entrypoint``, ``command``, ``env``, ``devices``, ``capabilities`` and ``mounts`` beside the model's
    """
    return {
        "entrypoint": list(ENTRYPOINT),
        "command": _argv(members, rank, model, settings),
        "env": choices.environment(_environment(members, rank, model), settings["env"]),
        "devices": members.devices,
        "capabilities": members.capabilities,
        "mounts": [],
    }


def ports(members: Group, rank: int, settings: Mapping[str, Any]) -> list[dict[str, Any]]:
    """TCP ports that must be free on the host of a rank."""
    if rank != 0:
        return [{"port": settings["port"], "address": WORKER_HOST, "use": f"health page of rank {rank}"}]
    wanted = [{"port": settings["port"], "address": settings["listen_address"], "use": "API"}]
    if members.world_size > 1:
        wanted.append({"port": settings["master_port"], "address": "0.0.0.0", "use": "master port of the ranks"})
    return wanted


def probe(members: Group, rank: int, model: ModelReference, settings: Mapping[str, Any]) -> dict[str, Any]:
    """What can be proved of the image before an engine stops for it.

    :returns: ``imports``, Python modules that the rank needs, and ``argv``, the engine's whole command line as rank
        ``rank`` runs it
    """
    return {"imports": [], "argv": [*ENTRYPOINT, *_argv(members, rank, model, settings)]}


def _argv(members: Group, rank: int, model: ModelReference, settings: Mapping[str, Any]) -> list[str]:
    ours = {
        "model-path": model.argument,
        "served-model-name": settings["served_model_name"],
        **choices.revision(model, settings),
        "host": settings["listen_address"] if rank == 0 else WORKER_HOST,
        "port": settings["port"],
        "tp-size": settings["tensor_parallel_size"],
        "pp-size": settings["pipeline_parallel_size"],
        "mem-fraction-static": settings["gpu_memory_utilization"],
        "enable-metrics": True,
    }
    if members.world_size > 1:
        ours |= {
            "nnodes": members.world_size,
            "node-rank": rank,
            "dist-init-addr": group.host_port(members.master, settings["master_port"]),
            "dist-timeout": settings["distributed_timeout"],
        }
    chosen = {dashed(flag): value for flag, value in settings["engine_args"].items()}
    # SGLang's switches are off unless given: they have no negative form.
    return choices.render({**ours, **chosen}, with_negation=False)


def _environment(members: Group, rank: int, model: ModelReference) -> dict[str, str]:
    ours = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "DO_NOT_TRACK": "1"}
    if model.hub == HUGGING_FACE:
        ours["HF_HUB_CACHE"] = HUB_MOUNT
    if members.world_size > 1:
        # Otherwise the address of the management network is told to the peers, and all wait for ever.
        ours["SGLANG_HOST_IP"] = members.members[rank].address
    return {**ours, **group.environment(members, rank)}
