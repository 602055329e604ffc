# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""vLLM's command line and environment, for every rank."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.engines import keyed, vllm
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
    "backend": "mp",
    "master_port": 29501,
    "ray_port": 6379,
    "distributed_timeout": 300,
    "engine_args": {},
    "env": {},
}
HUB = reference.parse("Qwen/Qwen3-8B")
KEY_FILE = "/etc/dgxspark-serving/engine.key"

ALONE = Group((Member("spark-a", "", (), ()),), "")
PAIR = Group(
    (
        Member("spark-a", "192.0.2.11", ("enP2p1s0f1np1", "enp1s0f1np1"), ("roceP2p1s0f1", "rocep1s0f1")),
        Member("spark-b", "192.0.2.12", ("enp1s0f0np0", "enP2p1s0f0np0"), ("rocep1s0f0", "roceP2p1s0f0"), 3),
    ),
    "roce",
)
MP = {**SETTINGS, "tensor_parallel_size": 2}
RAY = {**MP, "backend": "ray"}

OFFLINE = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "DO_NOT_TRACK": "1",
    "HF_HUB_CACHE": "/models/hub",
}
ROCE = {
    "NCCL_IGNORE_CPU_AFFINITY": "1",
    "NCCL_DEBUG": "INFO",
    "NCCL_DEBUG_SUBSYS": "INIT,NET",
}
RANK_0 = {
    "VLLM_HOST_IP": "192.0.2.11",
    "NCCL_SOCKET_IFNAME": "enP2p1s0f1np1",
    "GLOO_SOCKET_IFNAME": "enP2p1s0f1np1",
    "TP_SOCKET_IFNAME": "enP2p1s0f1np1",
    "UCX_NET_DEVICES": "enP2p1s0f1np1",
    "OMPI_MCA_btl_tcp_if_include": "enP2p1s0f1np1",
    "NCCL_IB_HCA": "roceP2p1s0f1,rocep1s0f1",
}
RANK_1 = {
    "VLLM_HOST_IP": "192.0.2.12",
    "NCCL_SOCKET_IFNAME": "enp1s0f0np0",
    "GLOO_SOCKET_IFNAME": "enp1s0f0np0",
    "TP_SOCKET_IFNAME": "enp1s0f0np0",
    "UCX_NET_DEVICES": "enp1s0f0np0",
    "OMPI_MCA_btl_tcp_if_include": "enp1s0f0np0",
    "NCCL_IB_HCA": "rocep1s0f0,roceP2p1s0f0",
    "NCCL_IB_GID_INDEX": "3",
}
RAY_SET = {
    "RAY_memory_monitor_refresh_ms": "0",
    "RAY_AUTH_MODE": "disabled",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_GRACEFUL_SHUTDOWN_DRAIN_TIMEOUT_S": "0",
}


def container(group: Group, rank: int, settings: dict[str, Any]) -> dict[str, Any]:
    return vllm.rank_container(group, rank, HUB, settings)


def test_one_host() -> None:
    assert container(ALONE, 0, SETTINGS) == {
        "entrypoint": ["vllm"],
        "command": (
            "serve Qwen/Qwen3-8B --served-model-name qwen --host 0.0.0.0 --port 8000 --tensor-parallel-size 1"
            " --gpu-memory-utilization 0.7"
        ).split(),
        "env": OFFLINE,
        "devices": [],
        "capabilities": [],
        "mounts": [],
    }


@pytest.mark.parametrize(
    ("rank", "special", "own"),
    [(0, "--host 0.0.0.0 --port 8000", RANK_0), (1, "--headless", RANK_1)],
)
def test_mp(rank: int, special: str, own: dict[str, str]) -> None:
    assert container(PAIR, rank, MP) == {
        "entrypoint": ["vllm"],
        "command": (
            f"serve Qwen/Qwen3-8B --served-model-name qwen {special} --tensor-parallel-size 2"
            " --pipeline-parallel-size 1 --distributed-executor-backend mp --distributed-timeout-seconds 300"
            f" --nnodes 2 --node-rank {rank} --master-addr 192.0.2.11 --master-port 29501"
            " --gpu-memory-utilization 0.7"
        ).split(),
        "env": {**OFFLINE, **own, **ROCE},
        "devices": ["/dev/infiniband"],
        "capabilities": ["IPC_LOCK"],
        "mounts": [],
    }


@pytest.mark.parametrize(
    ("rank", "engine", "own"),
    [
        (
            0,
            (
                " -- vllm serve Qwen/Qwen3-8B --served-model-name qwen --host 0.0.0.0 --port 8000"
                " --tensor-parallel-size 2 --pipeline-parallel-size 1 --distributed-executor-backend ray"
                " --distributed-timeout-seconds 300 --gpu-memory-utilization 0.7"
            ),
            RANK_0,
        ),
        (1, "", RANK_1),
    ],
)
def test_ray(rank: int, engine: str, own: dict[str, str]) -> None:
    assert container(PAIR, rank, RAY) == {
        "entrypoint": ["python3"],
        "command": (
            f"/opt/dgxspark/ray_rank.py --rank {rank} --nodes 192.0.2.11,192.0.2.12 --port 6379{engine}"
        ).split(),
        "env": {**OFFLINE, **own, **ROCE, **RAY_SET},
        "devices": ["/dev/infiniband"],
        "capabilities": ["IPC_LOCK"],
        "mounts": [{"source": "/usr/local/lib/dgxspark-serving/engine", "target": "/opt/dgxspark"}],
    }


def test_pipeline_parallel_spans_hosts_too() -> None:
    argv = container(PAIR, 1, {**SETTINGS, "pipeline_parallel_size": 2})["command"]
    assert argv[argv.index("--tensor-parallel-size") + 1] == "1"
    assert argv[argv.index("--pipeline-parallel-size") + 1] == "2"
    assert argv[argv.index("--nnodes") + 1] == "2"


def test_sockets_need_no_devices() -> None:
    found = container(Group(PAIR.members, "socket"), 0, MP)
    assert (found["devices"], found["capabilities"]) == ([], [])
    assert found["env"]["NCCL_IB_DISABLE"] == "1"
    assert not {"NCCL_IB_HCA", "NCCL_DEBUG"} & set(found["env"])


@pytest.mark.parametrize("rank", [0, 1])
def test_u06_the_memory_monitor_is_off_on_every_rank(rank: int) -> None:
    assert container(PAIR, rank, RAY)["env"]["RAY_memory_monitor_refresh_ms"] == "0"


@pytest.mark.parametrize("rank", [0, 1])
def test_n11_the_node_address_is_the_host_ip(rank: int) -> None:
    found = container(PAIR, rank, RAY)
    nodes = found["command"][found["command"].index("--nodes") + 1].split(",")
    assert nodes[rank] == found["env"]["VLLM_HOST_IP"]


@pytest.mark.parametrize("settings", [MP, RAY], ids=["mp", "ray"])
def test_n06_nothing_asks_for_the_hosts_name(settings: dict[str, Any]) -> None:
    for rank in (0, 1):
        found = container(PAIR, rank, settings)
        text = " ".join([*found["command"], *found["env"].values()])
        assert not [name for name in ("spark-a", "spark-b", "localhost", "127.") if name in text]
        assert {"VLLM_HOST_IP", "GLOO_SOCKET_IFNAME"} <= set(found["env"])


def test_a_rank_without_an_api_has_no_flags_of_the_api() -> None:
    settings = {**MP, "engine_args": {"api_server_count": 2, "enforce-eager": True}}
    assert "--api-server-count" in container(PAIR, 0, settings)["command"]
    assert "--api-server-count" not in container(PAIR, 1, settings)["command"]
    assert "--enforce-eager" in container(PAIR, 1, settings)["command"]


@pytest.mark.parametrize(
    ("group", "settings", "ports"),
    [
        (ALONE, SETTINGS, [(8000, "0.0.0.0")]),
        (PAIR, MP, [(8000, "0.0.0.0"), (29501, "0.0.0.0")]),
        (PAIR, RAY, [(8000, "0.0.0.0"), (6379, "0.0.0.0")]),
        (PAIR, {**MP, "port": 8001, "listen_address": "203.0.113.11"}, [(8001, "203.0.113.11"), (29501, "0.0.0.0")]),
    ],
)
def test_ports(group: Group, settings: dict[str, Any], ports: list[tuple[int, str]]) -> None:
    assert [(port["port"], port["address"]) for port in vllm.ports(group, 0, settings)] == ports


@pytest.mark.parametrize("settings", [{**MP, "master_port": 29500}, RAY], ids=["mp", "ray"])
def test_n08_only_rank_0_needs_the_port_at_which_ranks_meet(settings: dict[str, Any]) -> None:
    assert {29500, 6379} & {port["port"] for port in vllm.ports(PAIR, 0, settings)}
    assert vllm.ports(PAIR, 1, settings) == []


@pytest.mark.parametrize("rank", [0, 1])
def test_n16_the_image_is_asked_for_ray(rank: int) -> None:
    asked = vllm.probe(PAIR, rank, HUB, RAY)
    assert asked["imports"] == ["ray"]
    assert asked["argv"][:3] == ["vllm", "serve", "Qwen/Qwen3-8B"]
    assert asked["argv"][asked["argv"].index("--distributed-executor-backend") + 1] == "ray"


@pytest.mark.parametrize(
    ("group", "rank", "settings"), [(ALONE, 0, SETTINGS), (ALONE, 0, {**SETTINGS, "backend": "ray"}), (PAIR, 1, MP)]
)
def test_a_probe_parses_what_the_rank_runs(group: Group, rank: int, settings: dict[str, Any]) -> None:
    asked = vllm.probe(group, rank, HUB, settings)
    assert asked == {"imports": [], "argv": ["vllm", *container(group, rank, settings)["command"]]}


@pytest.mark.parametrize(
    ("arguments", "argv"),
    [
        ({"max_model_len": 4096}, ["--max-model-len", "4096"]),
        ({"--seed": 1}, ["--seed", "1"]),
        ({"-q": "fp8"}, ["--quantization", "fp8"]),
        ({"enforce-eager": True, "enable-prefix-caching": False}, ["--enforce-eager", "--no-enable-prefix-caching"]),
        ({"seed": None, "quantization": ""}, []),
        ({"lora-modules": ["a=/a", "b=/b"]}, ["--lora-modules", "a=/a", "b=/b"]),
        ({"speculative-config": {"method": "mtp", "k": 1}}, ["--speculative-config", '{"k":1,"method":"mtp"}']),
        ({"compilation_config.max_size": 8}, ["--compilation-config.max_size", "8"]),
    ],
)
def test_flags(arguments: dict[str, Any], argv: list[str]) -> None:
    assert vllm.flags(arguments) == argv


@pytest.mark.parametrize("settings", [SETTINGS, MP], ids=["one", "two"])
def test_the_users_flag_takes_the_place_of_ours(settings: dict[str, Any]) -> None:
    group = PAIR if settings is MP else ALONE
    argv = container(group, 0, {**settings, "engine_args": {"gpu_memory_utilization": 0.5}})["command"]
    assert argv.count("--gpu-memory-utilization") == 1
    assert argv[argv.index("--gpu-memory-utilization") + 1] == "0.5"


@pytest.mark.parametrize(
    ("arguments", "share"),
    [({}, 0.7), ({"gpu_memory_utilization": "0.5"}, 0.5), ({"gpu-memory-utilization": ""}, 0.7)],
)
def test_the_share_of_memory_is_the_one_that_the_engine_is_told(arguments: dict[str, Any], share: float) -> None:
    assert vllm.memory_share({**SETTINGS, "engine_args": arguments}) == share


@pytest.mark.parametrize("flag", ["tensor_parallel_size", "--tensor-parallel-size", "-tp", "tp", "tensor-parallel"])
def test_a_flag_that_the_plan_decides_is_refused_in_every_spelling(flag: str) -> None:
    [fault] = vllm.argument_faults({flag: 4}, "serving_engine_args", "spark1")
    assert (fault.variable, fault.found) == (f"serving_engine_args.{flag}", "4")
    assert fault.remedy == "Remove it and set serving_tensor_parallel_size"


@pytest.mark.parametrize(
    ("flag", "variable"),
    [
        ("-pp", "serving_pipeline_parallel_size"),
        ("-n", "serving_deployments"),
        ("-r", "serving_deployments"),
        ("-dp", "serving_deployments"),
        ("data_parallel_size_local", "serving_deployments"),
        ("headless", "serving_deployments"),
        ("distributed_executor_backend", "serving_backend"),
        ("master_addr", "fabric_links"),
        ("master-port", "serving_master_port"),
        ("uds", "serving_listen_address"),
    ],
)
def test_other_flags_that_the_plan_decides(flag: str, variable: str) -> None:
    [fault] = vllm.argument_faults({flag: 1}, "serving_engine_args", "")
    assert fault.remedy == f"Remove it and set {variable}"


def test_a_flag_that_only_begins_like_one_is_the_users() -> None:
    users = {"model-impl": "auto", "max-model-len": 4096, "distributed-timeout-seconds": 900, "no-such": 1}
    assert vllm.argument_faults(users, "serving_engine_args", "") == []


def test_one_flag_in_two_spellings() -> None:
    [fault] = vllm.argument_faults({"max-model-len": 1, "max_model_len": 2}, "serving_engine_args", "spark1")
    assert (fault.variable, fault.found) == ("serving_engine_args.max_model_len", "the same flag as max-model-len")


def test_a_flag_cannot_ask_for_more_memory_than_the_variable() -> None:
    [fault] = vllm.argument_faults({"gpu_memory_utilization": 0.99}, "serving_engine_args", "spark1")
    assert fault.variable == "serving_engine_args.gpu_memory_utilization"
    assert fault.wanted == "a number from 0.05 to 0.95"


def test_n14_one_address_for_all_ranks_is_refused() -> None:
    [fault] = vllm.environment_faults({"VLLM_HOST_IP": "192.0.2.11"}, PAIR, "serving_env", "spark-a")
    assert fault.variable == "serving_env.VLLM_HOST_IP"


def test_n17_nothing_is_rendered_empty() -> None:
    users = {"NCCL_IB_GID_INDEX": "", "A": None, "B": True, "C": 3, "D": False, "E": 0}
    environment = container(PAIR, 1, {**MP, "env": users})["env"]
    assert not {"NCCL_IB_GID_INDEX", "A"} & set(environment)
    assert [environment[name] for name in "BCDE"] == ["1", "3", "0", "0"]


def test_an_id_is_served_from_the_mounted_cache_m16() -> None:
    assert vllm.serve_argv(HUB, SETTINGS)[:2] == ["serve", "Qwen/Qwen3-8B"]
    assert container(ALONE, 0, SETTINGS)["env"]["HF_HUB_CACHE"] == HUB.mount == "/models/hub"


@pytest.mark.parametrize(
    ("model", "argument", "revision"),
    [
        (HUB, "Qwen/Qwen3-8B", ["--revision", "v2"]),
        (reference.parse("Qwen/Qwen3-8B", "modelscope"), "/models/Qwen--Qwen3-8B", []),
        (reference.parse("/srv/models/qwen"), "/models/qwen", []),
    ],
)
def test_a_revision_is_named_where_the_mount_may_hold_several(
    model: reference.ModelReference, argument: str, revision: list[str]
) -> None:
    argv = vllm.serve_argv(model, {**SETTINGS, "model_revision": "v2"})
    assert argv[1] == argument
    at = argv.index("--revision") if "--revision" in argv else len(argv)
    assert argv[at : at + 2] == revision


def test_a_path_needs_no_cache() -> None:
    found = vllm.rank_container(PAIR, 0, reference.parse("/srv/models/qwen"), MP)
    assert found["command"][:2] == ["serve", "/models/qwen"]
    assert "HF_HUB_CACHE" not in found["env"]


def test_the_users_environment_wins() -> None:
    environment = container(PAIR, 0, {**MP, "env": {"HF_HUB_OFFLINE": 0, "NCCL_DEBUG": "WARN"}})["env"]
    assert (environment["HF_HUB_OFFLINE"], environment["NCCL_DEBUG"]) == ("0", "WARN")


@pytest.mark.parametrize("settings", [SETTINGS, MP, RAY], ids=["one", "mp", "ray"])
def test_the_key_is_given_to_rank_0_alone_and_by_a_file(settings: dict[str, Any]) -> None:
    group = ALONE if settings is SETTINGS else PAIR
    plain, with_key = (container(group, 0, {**settings, **more}) for more in ({}, {"engine_key_file": KEY_FILE}))
    assert with_key == keyed.keyed(plain, KEY_FILE)
    assert with_key["entrypoint"][3:] == plain["entrypoint"]
    assert with_key["mounts"][-1] == {"source": KEY_FILE, "target": "/run/dgxspark-serving/engine.key"}
    assert vllm.probe(group, 0, HUB, {**settings, "engine_key_file": KEY_FILE}) == vllm.probe(group, 0, HUB, settings)
    if group is PAIR:
        assert container(PAIR, 1, {**settings, "engine_key_file": KEY_FILE}) == container(PAIR, 1, settings)


def test_without_key_and_store_a_container_is_what_it_was() -> None:
    assert container(PAIR, 0, {**MP, "engine_key_file": "", "responses_store": False}) == container(PAIR, 0, MP)


def test_g10_the_store_of_responses_is_on_where_the_gateway_wants_it() -> None:
    settings = {**MP, "responses_store": True}
    assert container(PAIR, 0, settings)["env"]["VLLM_ENABLE_RESPONSES_API_STORE"] == "1"
    assert container(PAIR, 1, settings) == container(PAIR, 1, MP)


@pytest.mark.parametrize("flag", ["api-key", "api_key", "--api-key", "api-k"])
def test_a_key_as_a_flag_is_refused_and_not_shown(flag: str) -> None:
    [fault] = vllm.argument_faults({flag: "CANARY"}, "serving_engine_args", "spark1")
    assert (fault.variable, fault.wanted) == (f"serving_engine_args.{flag}", "no such key")
    assert fault.remedy.startswith("Remove it and set gateway_engine_key: true")
    assert "CANARY" not in str(fault)


def test_a_key_in_the_environment_is_refused_and_not_shown() -> None:
    [fault] = vllm.environment_faults({"VLLM_API_KEY": "CANARY"}, ALONE, "serving_env", "spark1")
    assert (fault.variable, fault.host) == ("serving_env.VLLM_API_KEY", "spark1")
    assert "gateway_engine_key" in fault.remedy
    assert "CANARY" not in str(fault)
    assert vllm.environment_faults({"VLLM_API_KEY": ""}, ALONE, "serving_env", "spark1") == []
