# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""SGLang's command line and environment, for every rank."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.engines import sglang
from ansible_collections.dgxspark.serving.plugins.module_utils.engines.group import Group, Member
from ansible_collections.dgxspark.serving.plugins.module_utils.models import reference

SETTINGS = {
    "model_revision": "",
    "served_model_name": "qwen",
    "listen_address": "0.0.0.0",
    "port": 8000,
    "tensor_parallel_size": 1,
    "pipeline_parallel_size": 1,
    "gpu_memory_utilization": 0.7,
    "master_port": 29501,
    "distributed_timeout": 300,
    "engine_args": {},
    "env": {},
}
TP2 = {**SETTINGS, "tensor_parallel_size": 2}
HUB = reference.parse("Qwen/Qwen3-8B")
ALONE = Group((Member("spark-a", "", (), ()),), "")
PAIR = Group(
    (
        Member("spark-a", "192.0.2.11", ("enp1s0f0np0",), ("rocep1s0f0",)),
        Member("spark-b", "192.0.2.12", ("enp1s0f1np1",), ("rocep1s0f1",)),
    ),
    "roce",
)
OFFLINE = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "DO_NOT_TRACK": "1",
    "HF_HUB_CACHE": "/models/hub",
}


def container(group: Group, rank: int, settings: dict[str, Any]) -> dict[str, Any]:
    return sglang.rank_container(group, rank, HUB, settings)


def test_one_host() -> None:
    assert container(ALONE, 0, SETTINGS) == {
        "entrypoint": ["python3", "-m", "sglang.launch_server"],
        "command": (
            "--model-path Qwen/Qwen3-8B --served-model-name qwen --host 0.0.0.0 --port 8000 --tp-size 1 --pp-size 1"
            " --mem-fraction-static 0.7 --enable-metrics"
        ).split(),
        "env": OFFLINE,
        "devices": [],
        "capabilities": [],
        "mounts": [],
    }


@pytest.mark.parametrize(
    ("rank", "host", "address", "interface", "hca"),
    [
        (0, "0.0.0.0", "192.0.2.11", "enp1s0f0np0", "rocep1s0f0"),
        (1, "127.0.0.1", "192.0.2.12", "enp1s0f1np1", "rocep1s0f1"),
    ],
)
def test_two_hosts(rank: int, host: str, address: str, interface: str, hca: str) -> None:
    assert container(PAIR, rank, TP2) == {
        "entrypoint": ["python3", "-m", "sglang.launch_server"],
        "command": (
            f"--model-path Qwen/Qwen3-8B --served-model-name qwen --host {host} --port 8000 --tp-size 2 --pp-size 1"
            f" --mem-fraction-static 0.7 --enable-metrics --nnodes 2 --node-rank {rank}"
            " --dist-init-addr 192.0.2.11:29501 --dist-timeout 300"
        ).split(),
        "env": {
            **OFFLINE,
            "SGLANG_HOST_IP": address,
            "NCCL_SOCKET_IFNAME": interface,
            "GLOO_SOCKET_IFNAME": interface,
            "TP_SOCKET_IFNAME": interface,
            "UCX_NET_DEVICES": interface,
            "OMPI_MCA_btl_tcp_if_include": interface,
            "NCCL_IB_HCA": hca,
            "NCCL_IGNORE_CPU_AFFINITY": "1",
            "NCCL_DEBUG": "INFO",
            "NCCL_DEBUG_SUBSYS": "INIT,NET",
        },
        "devices": ["/dev/infiniband"],
        "capabilities": ["IPC_LOCK"],
        "mounts": [],
    }


def test_a_switch_has_no_negative_form() -> None:
    settings = {**SETTINGS, "engine_args": {"enable_metrics": False, "disable-radix-cache": True}}
    argv = container(ALONE, 0, settings)["command"]
    assert "--disable-radix-cache" in argv
    assert not [argument for argument in argv if argument.endswith("enable-metrics")]


@pytest.mark.parametrize(
    ("group", "rank", "ports"),
    [
        (ALONE, 0, [(8000, "0.0.0.0")]),
        (PAIR, 0, [(8000, "0.0.0.0"), (29501, "0.0.0.0")]),
        (PAIR, 1, [(8000, "127.0.0.1")]),
    ],
)
def test_ports(group: Group, rank: int, ports: list[tuple[int, str]]) -> None:
    assert [(port["port"], port["address"]) for port in sglang.ports(group, rank, TP2)] == ports


def test_a_probe_parses_what_the_rank_runs() -> None:
    asked = sglang.probe(PAIR, 1, HUB, TP2)
    assert asked == {"imports": [], "argv": [*sglang.ENTRYPOINT, *container(PAIR, 1, TP2)["command"]]}


@pytest.mark.parametrize(
    ("flag", "variable"),
    [
        ("tp", "serving_tensor_parallel_size"),
        ("tensor_parallel_size", "serving_tensor_parallel_size"),
        ("--tp-size", "serving_tensor_parallel_size"),
        ("pipeline-parallel-size", "serving_pipeline_parallel_size"),
        ("model", "serving_model"),
        ("nccl-init-addr", "fabric_links"),
        ("node_rank", "serving_deployments"),
    ],
)
def test_a_flag_that_the_plan_decides_is_refused_in_every_spelling(flag: str, variable: str) -> None:
    [fault] = sglang.argument_faults({flag: 1}, "serving_engine_args", "")
    assert fault.remedy == f"Remove it and set {variable}"


def test_the_share_of_memory_is_the_one_that_the_engine_is_told() -> None:
    settings = {**SETTINGS, "engine_args": {"mem_fraction_static": 0.6}}
    assert sglang.memory_share(settings) == 0.6
    assert container(ALONE, 0, settings)["command"].count("--mem-fraction-static") == 1


def test_n14_one_address_for_all_ranks_is_refused() -> None:
    [fault] = sglang.environment_faults({"SGLANG_HOST_IP": "192.0.2.11"}, PAIR, "serving_env", "")
    assert fault.variable == "serving_env.SGLANG_HOST_IP"


def test_it_takes_no_key_for_it_would_show_it() -> None:
    assert not sglang.KEY_BY_FILE
    settings = {**SETTINGS, "engine_key_file": "/etc/dgxspark-serving/engine.key", "responses_store": True}
    assert container(ALONE, 0, settings) == container(ALONE, 0, SETTINGS)
    [fault] = sglang.argument_faults({"api_key": "CANARY"}, "serving_engine_args", "")
    assert fault.remedy.startswith("Remove it: SGLang writes its key into its log")
    assert "CANARY" not in str(fault)
