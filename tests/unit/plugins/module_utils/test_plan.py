# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan: the layout it makes, which value counts, and every fault with its exact message."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils import plan
from ansible_collections.dgxspark.serving.plugins.module_utils.faults import ConfigurationError
from ansible_collections.dgxspark.serving.plugins.module_utils.request import Request
from ansible_collections.dgxspark.serving.plugins.module_utils.variables import Unreadable

MODEL = {"serving_model": "/srv/models/tiny-qwen3"}
HOSTS = ("spark1", "spark2", "spark3")


def request(
    everywhere: dict[str, Any] | None = None,
    host_variables: dict[str, dict[str, Any]] | None = None,
    hosts: tuple[str, ...] = HOSTS,
    **more: Any,
) -> Request:
    """A request over hosts that share ``everywhere`` and have ``host_variables`` of their own."""
    shared = MODEL if everywhere is None else everywhere
    variables = {host: {**shared, **(host_variables or {}).get(host, {})} for host in hosts}
    return Request(group="sparks", hosts=hosts, variables=variables, **more)


def faults(asked: Request) -> list[str]:
    """The lines of the error text, without their numbers."""
    with pytest.raises(ConfigurationError) as caught:
        plan.make(asked)
    head, *lines = str(caught.value).splitlines()
    count = "1 error" if len(lines) == 1 else f"{len(lines)} errors"
    assert head == f"The configuration has {count}; nothing was changed."
    assert [line.split(". ", 1)[0] for line in lines] == [f"  {number}" for number in range(1, len(lines) + 1)]
    return [line.split(". ", 1)[1] for line in lines]


def test_each_host_serves_the_whole_model() -> None:
    variables = {"spark1": {"ansible_host": "192.0.2.11", "gateway_enabled": False}}
    made = plan.make(request(host_variables=variables))

    assert made["gateway"] is None
    assert [replica["name"] for replica in made["replicas"]] == ["tp1-0", "tp1-1", "tp1-2"]
    assert [replica["hosts"] for replica in made["replicas"]] == [["spark1"], ["spark2"], ["spark3"]]
    assert [replica["endpoint"] for replica in made["replicas"]] == [
        "http://192.0.2.11:8000",
        "http://spark2:8000",
        "http://spark3:8000",
    ]
    assert made["replicas"][0]["served_model_name"] == "tiny-qwen3"
    assert list(made["ranks"]) == list(HOSTS)


def test_a_rank_is_everything_that_its_host_needs() -> None:
    rank = plan.make(request(hosts=("spark1",)))["ranks"]["spark1"]

    assert rank["api"] == "http://127.0.0.1:8000"
    assert rank["container"]["name"] == "dgxspark-tp1-0-r0"
    assert rank["container"]["entrypoint"] == ["vllm"]
    assert rank["container"]["command"] == [
        "serve",
        "/models/tiny-qwen3",
        "--served-model-name",
        "tiny-qwen3",
        "--host",
        "0.0.0.0",
        "--port",
        "8000",
        "--tensor-parallel-size",
        "1",
        "--gpu-memory-utilization",
        "0.7",
    ]
    assert rank["container"]["model_mount"] == "/models/tiny-qwen3"
    assert rank["container"]["labels"]["dgxspark.serving.deployment"] == "tp1"
    assert rank["container"]["labels"]["dgxspark.serving.api"] == "http://127.0.0.1:8000"


def test_the_same_configuration_gives_the_same_plan() -> None:
    assert plan.make(request()) == plan.make(request())


def test_a_changed_flag_changes_digest_and_generation_of_its_replica_only() -> None:
    def labels(asked: Request) -> dict[str, dict[str, str]]:
        return {host: rank["container"]["labels"] for host, rank in plan.make(asked)["ranks"].items()}

    before = labels(request())
    after = labels(request(host_variables={"spark2": {"serving_engine_args": {"max-model-len": 4096}}}))
    assert after["spark1"] == before["spark1"]
    for label in ("dgxspark.serving.spec_digest", "dgxspark.serving.generation"):
        assert after["spark2"][label] != before["spark2"][label]


def test_deployments_side_by_side() -> None:
    deployments = [
        {"name": "chat", "replicas": [["spark3"], ["spark1"]]},
        {"name": "code", "replicas": [["spark2"]], "model": "Qwen/Qwen3-8B", "port": 9000},
    ]
    made = plan.make(request({**MODEL, "serving_deployments": deployments}))
    assert [(replica["name"], replica["hosts"], replica["model"]) for replica in made["replicas"]] == [
        ("chat-0", ["spark3"], "/srv/models/tiny-qwen3"),
        ("chat-1", ["spark1"], "/srv/models/tiny-qwen3"),
        ("code-0", ["spark2"], "Qwen/Qwen3-8B"),
    ]
    assert made["replicas"][2]["endpoint"] == "http://spark2:9000"


@pytest.mark.parametrize(
    ("extra", "entry", "host", "port"),
    [
        ({"port": "1"}, {"port": 3}, {"serving_port": 4}, 1),
        ({"serving_port": 2}, {"port": 3}, {"serving_port": 4}, 2),
        ({}, {"port": 3}, {"serving_port": 4}, 3),
        ({}, {}, {"serving_port": 4}, 4),
        ({}, {}, {}, 8000),
    ],
    ids=["-e short", "-e full", "deployment", "host", "default"],
)
def test_which_value_counts(extra: dict[str, Any], entry: dict[str, Any], host: dict[str, Any], port: int) -> None:
    deployments = [{"name": "chat", "replicas": [["spark2"]], **entry}]
    made = plan.make(request({**MODEL, "serving_deployments": deployments}, {"spark2": host}, extra=extra))
    assert made["replicas"][0]["endpoint"] == f"http://spark2:{port}"


def test_ipv6_addresses_are_bracketed_and_local_requests_follow_the_listen_address() -> None:
    variables = {"ansible_host": "2001:db8::1", "serving_listen_address": "::"}
    made = plan.make(request({**MODEL, **variables}, hosts=("spark1",)))
    assert made["replicas"][0]["endpoint"] == "http://[2001:db8::1]:8000"
    assert made["ranks"]["spark1"]["api"] == "http://[::1]:8000"


def test_no_host() -> None:
    assert faults(request(hosts=())) == [
        (
            "inventory group sparks: found no host, wanted at least one host."
            " Put your hosts into the group sparks, and name the inventory with -i."
        )
    ]


def test_all_faults_of_all_hosts_at_once() -> None:
    asked = request(
        {"serving_modle": "x", "serving_engine": "vlm"},
        {"spark2": {"serving_port": 0}, "spark3": {"serving_listen_address": "300.1.1.1"}},
    )
    assert len(faults(asked)) == 5


DEPLOYMENTS = "serving_deployments"
BAD = {
    "unknown host in replicas": (
        {DEPLOYMENTS: [{"name": "chat", "replicas": [["spark1"], ["spark9"]]}]},
        {},
        (
            "serving_deployments[0].replicas[1]: found 'spark9',"
            " wanted a host of group sparks (spark1, spark2, spark3)."
            " Add spark9 to the inventory group sparks, or name another host."
        ),
    ),
    "host in two deployments": (
        {DEPLOYMENTS: [{"name": "a", "replicas": [["spark1"]]}, {"name": "b", "replicas": [["spark1"]], "port": 8001}]},
        {},
        (
            "serving_deployments[1].replicas[0]: found 'spark1', which is in serving_deployments[0].replicas[0] too,"
            " wanted each host once. Remove spark1 from one of them."
        ),
    ),
    "replica of the wrong number of hosts": (
        {DEPLOYMENTS: [{"name": "chat", "replicas": [["spark1", "spark2"]]}]},
        {},
        (
            "serving_deployments[0].replicas[0]: found 2 hosts,"
            " wanted tensor_parallel_size x pipeline_parallel_size = 1."
            " Name as many hosts, rank 0 first, or change the size."
        ),
    ),
    "port out of range": (
        {"serving_port": 65536},
        {},
        (
            "serving_port on hosts spark1, spark2, spark3: found 65536, wanted a whole number from 1 to 65535."
            " Set serving_port to a whole number from 1 to 65535."
        ),
    ),
    "port out of range on the command line": (
        {},
        {"port": "http"},
        "-e port: found 'http', wanted a whole number from 1 to 65535. Set -e port to a whole number from 1 to 65535.",
    ),
    "missing model and recipe": (
        {"serving_model": ""},
        {},
        (
            "serving_model on hosts spark1, spark2, spark3: found neither a model nor a recipe, wanted one of them."
            " Set serving_model for the host or its group, or give -e model=ORG/NAME."
        ),
    ),
    "recipe that is not there": (
        {},
        {"recipe": "qwen"},
        "-e recipe: found 'qwen' (no recipe qwen), wanted a recipe. Name a recipe or the path of one.",
    ),
    "model that is neither path nor id": (
        {"serving_model": "./qwen"},
        {},
        (
            "serving_model on hosts spark1, spark2, spark3: found './qwen',"
            " wanted an id (ORG/NAME) or an absolute"
            " path on the host. Set it to an id (ORG/NAME) or an absolute path on the host."
        ),
    ),
    "unknown engine": (
        {"serving_engine": "vlm"},
        {},
        (
            "serving_engine on hosts spark1, spark2, spark3: found 'vlm', wanted 'vllm' or 'sglang'."
            " Set serving_engine to 'vllm' or 'sglang'."
        ),
    ),
    "unknown backend": (
        {},
        {"backend": "rya"},
        "-e backend: found 'rya', wanted 'mp' or 'ray'. Set -e backend to 'mp' or 'ray'.",
    ),
    "misspelt variable": (
        {"serving_prot": 8001},
        {},
        (
            "serving_prot on hosts spark1, spark2, spark3: found an unknown variable, wanted serving_port."
            " Rename it to serving_port."
        ),
    ),
    "misspelt role variable": (
        {"replica_redy_timeout": 5},
        {},
        (
            "replica_redy_timeout on hosts spark1, spark2, spark3: found an unknown variable,"
            " wanted replica_ready_timeout."
            " Rename it to replica_ready_timeout."
        ),
    ),
    "misspelt short name": (
        {},
        {"modle": "x"},
        "-e modle: found an unknown name, wanted model. Write -e model=VALUE.",
    ),
    "misspelt key": (
        {DEPLOYMENTS: [{"name": "chat", "modle": "x"}]},
        {},
        "serving_deployments[0].modle: found an unknown key, wanted model. Rename it to model.",
    ),
    "deployment without a name": (
        {DEPLOYMENTS: [{"replicas": [["spark1"]]}]},
        {},
        (
            "serving_deployments[0].name: found nothing, wanted lower-case letters, digits and dashes, at most 40."
            " Give each deployment a name."
        ),
    ),
    "two deployments of one name": (
        {DEPLOYMENTS: [{"name": "a", "replicas": [["spark1"]]}, {"name": "a", "replicas": [["spark2"]]}]},
        {},
        "serving_deployments[1].name: found 'a', wanted a name of its own. Rename one of the two deployments.",
    ),
    "replicas of the wrong shape": (
        {DEPLOYMENTS: [{"name": "a", "replicas": ["spark1"]}]},
        {},
        (
            "serving_deployments[0].replicas: found ['spark1'],"
            " wanted a list of host lists such as [[spark1], [spark2]]."
            " Write serving_deployments[0].replicas as a list of host lists such as [[spark1], [spark2]]."
        ),
    ),
    "listen address that is none": (
        {"serving_listen_address": "300.1.1.1"},
        {},
        (
            "serving_listen_address on hosts spark1, spark2, spark3: found '300.1.1.1', wanted an IPv4 or IPv6 address."
            " Set serving_listen_address to an IPv4 or IPv6 address."
        ),
    ),
    "decided flag among the engine's": (
        {"serving_engine_args": {"port": 1}},
        {},
        (
            "serving_engine_args.port on hosts spark1, spark2, spark3: found 1, wanted no such key."
            " Remove it and set serving_port."
        ),
    ),
    "template that fails": (
        {"serving_image": Unreadable("'tag' is undefined")},
        {},
        (
            "serving_image on hosts spark1, spark2, spark3: found a template that fails ('tag' is undefined),"
            " wanted text."
            " Set serving_image to text."
        ),
    ),
}


@pytest.mark.parametrize(("variables", "extra", "message"), BAD.values(), ids=BAD)
def test_bad_input(variables: dict[str, Any], extra: dict[str, Any], message: str) -> None:
    asked = request({**MODEL, **variables}, extra=extra, role_variables=["replica_ready_timeout"])
    assert faults(asked) == [message]


def test_a_size_that_does_not_divide_the_hosts() -> None:
    asked = request(extra={"tensor_parallel_size": "2"}, world_size=2)
    assert faults(asked) == [
        (
            "-e tensor_parallel_size: found 2 hosts for each replica, wanted a divisor of the 3 hosts of group sparks."
            " Name the hosts of each replica in serving_deployments[0].replicas, or change the size."
        )
    ]


def test_a_size_that_the_playbook_does_not_serve() -> None:
    asked = request({**MODEL, "serving_tensor_parallel_size": 3})
    assert faults(asked) == [
        (
            "serving_tensor_parallel_size on host spark1: found 3 hosts for each replica, wanted 1 with this playbook."
            " Set it to 1, or use the playbook deploy, which serves replicas of any size."
        )
    ]


def test_a_port_twice_on_a_host() -> None:
    deployments = [{"name": "a", "replicas": [["spark1"]]}, {"name": "b", "replicas": [["spark1"]]}]
    assert (
        "serving_port on host spark1: found 8000 for b-0 and for a-0, wanted each port once on a host."
        " Give one of them another port."
    ) in faults(request({**MODEL, DEPLOYMENTS: deployments}))


def test_fabric_address_that_is_none() -> None:
    links = [{"interface": "enp1s0f0np0", "address": "198.51.100.300/24"}]
    assert faults(request(host_variables={"spark2": {"fabric_links": links}})) == [
        (
            "fabric_links[0].address on host spark2: found '198.51.100.300/24',"
            " wanted an IP address with its prefix length."
            " Write the address of the interface, such as 192.0.2.11/24."
        )
    ]


def test_fabric_address_of_two_hosts_n14() -> None:
    links = [{"interface": "enp1s0f0np0", "address": "198.51.100.1/24"}]
    asked = request(host_variables={"spark1": {"fabric_links": links}, "spark2": {"fabric_links": links}})
    assert faults(asked) == [
        (
            "fabric_links[0].address on host spark2: found 198.51.100.1, which spark1 has too,"
            " wanted an address of its own."
            " Write the address that this host's interface really has."
        )
    ]


def test_no_fault_leaves_by_another_way() -> None:
    """Whatever a user writes where a value belongs, the answer is a plan or a list of faults."""
    for value in (None, "", 0, -1, 1.5, True, "text", [], ["a"], [[]], {}, {"a": 1}, [{"name": "a"}], object()):
        for name in ("serving_deployments", "serving_model", "serving_port", "serving_engine_args", "fabric_links"):
            try:
                plan.make(request({**MODEL, name: value}))
            except ConfigurationError as error:
                assert name in str(error)


# -- replicas of several hosts -----------------------------------------------------------------------------------------


def links(number: int, *, rdma: bool = True) -> dict[str, Any]:
    """A host with both twins of a port, as the collection's example inventories have them."""
    devices = ("rocep1s0f0", "roceP2p1s0f0") if rdma else ("", "")
    return {
        "fabric_links": [
            {"interface": "enp1s0f0np0", "address": f"198.51.100.{number}/24", "rdma_device": devices[0]},
            {"interface": "enP2p1s0f0np0", "address": f"203.0.113.{number}/24", "rdma_device": devices[1]},
        ]
    }


FABRIC = {f"spark{number}": links(number) for number in range(1, 10)}
NINE = tuple(FABRIC)


def group_request(everywhere: dict[str, Any] | None = None, count: int = 2, **more: Any) -> Request:
    hosts = NINE[:count]
    own = {host: FABRIC[host] for host in hosts}
    return request({**MODEL, **(everywhere or {})}, own, hosts, **{"world_size": 2, "deployment_name": "tp2", **more})


def test_pairs_are_laid_out_in_inventory_order() -> None:
    made = plan.make(group_request(count=4))

    assert [replica["hosts"] for replica in made["replicas"]] == [["spark1", "spark2"], ["spark3", "spark4"]]
    assert [replica["tensor_parallel_size"] for replica in made["replicas"]] == [2, 2]
    assert [rank["rank"] for rank in made["ranks"].values()] == [0, 1, 0, 1]
    assert made["ranks"]["spark4"]["container"]["name"] == "dgxspark-tp2-1-r1"
    assert made["warnings"] == []


def test_ranks_of_a_replica_share_a_generation_and_know_each_other() -> None:
    ranks = plan.make(group_request())["ranks"]
    first, second = ranks["spark1"]["supervision"], ranks["spark2"]["supervision"]

    assert first["generation"] == second["generation"] != ""
    assert (first["address"], first["peers"]) == ("198.51.100.1", [{"rank": 1, "address": "198.51.100.2"}])
    assert (second["address"], second["peers"]) == ("198.51.100.2", [{"rank": 0, "address": "198.51.100.1"}])
    assert (first["api"], second["api"]) == ("http://127.0.0.1:8000", "")
    assert (ranks["spark1"]["api"], ranks["spark2"]["api"]) == ("http://127.0.0.1:8000", "")


def test_n04_each_rank_has_the_interfaces_of_its_own_host() -> None:
    own = {"spark1": links(1), "spark2": links(2)}
    own["spark1"]["fabric_links"][0]["interface"] = "enP2p1s0f1np1"
    made = plan.make(request(MODEL, own, NINE[:2], world_size=2))

    names = [made["ranks"][host]["container"]["env"]["NCCL_SOCKET_IFNAME"] for host in NINE[:2]]
    assert names == ["enP2p1s0f1np1", "enp1s0f0np0"]


def test_n17_a_gid_index_is_per_host_and_never_empty() -> None:
    own = {"spark1": {**links(1), "fabric_gid_index": 3}, "spark2": {**links(2), "fabric_gid_index": ""}}
    made = plan.make(request(MODEL, own, NINE[:2], world_size=2))

    envs = [made["ranks"][host]["container"]["env"] for host in NINE[:2]]
    assert envs[0]["NCCL_IB_GID_INDEX"] == "3"
    assert "NCCL_IB_GID_INDEX" not in envs[1]


def test_u06_every_rank_of_a_ray_replica_has_the_memory_monitor_off() -> None:
    made = plan.make(group_request(extra={"backend": "Ray"}))

    envs = [rank["container"]["env"] for rank in made["ranks"].values()]
    assert [env["RAY_memory_monitor_refresh_ms"] for env in envs] == ["0", "0"]


def test_a05_text_from_the_command_line_is_read_as_what_it_says() -> None:
    made = plan.make(group_request(extra={"backend": "Ray", "serving_explain": "false"}))

    assert made["replicas"][0]["backend"] == "ray"
    assert made["explain"] is False


def test_four_pairs_and_a_single_on_nine_hosts() -> None:
    pairs = [[f"spark{number}", f"spark{number + 1}"] for number in (1, 3, 5, 7)]
    deployments = [
        {"name": "big", "tensor_parallel_size": 2, "replicas": pairs},
        {"name": "small", "replicas": [["spark9"]], "port": 8001},
    ]
    made = plan.make(group_request({"serving_deployments": deployments}, count=9, world_size=0))

    assert [replica["name"] for replica in made["replicas"]] == ["big-0", "big-1", "big-2", "big-3", "small-0"]
    assert made["ranks"]["spark9"]["world_size"] == 1
    assert made["ranks"]["spark9"]["supervision"]["peers"] == []
    assert len(made["ranks"]) == 9


def test_tensor_and_pipeline_together_make_the_size() -> None:
    made = plan.make(
        group_request({"serving_pipeline_parallel_size": 2}, count=4, world_size=0, extra={"tensor_parallel_size": "2"})
    )

    assert [replica["hosts"] for replica in made["replicas"]] == [list(NINE[:4])]
    assert [peer["rank"] for peer in made["ranks"]["spark3"]["supervision"]["peers"]] == [0, 1, 3]


def test_a_pair_may_share_the_layers_instead() -> None:
    made = plan.make(group_request({"serving_pipeline_parallel_size": 2}))

    assert made["replicas"][0]["tensor_parallel_size"] == 1


def test_a12_half_a_replica_is_refused_under_limit() -> None:
    assert faults(group_request(limit=["spark2"])) == [
        (
            "--limit: found spark2 of replica tp2-0, wanted spark1,spark2."
            " Run without --limit, or with --limit spark1,spark2."
        )
    ]


def test_a12_what_the_limit_leaves_out_is_not_in_the_plan_and_peers_come_from_the_inventory() -> None:
    made = plan.make(group_request(count=4, limit=["spark3", "spark4"]))

    assert [replica["name"] for replica in made["replicas"]] == ["tp2-1"]
    assert list(made["ranks"]) == ["spark3", "spark4"]
    command = made["ranks"]["spark4"]["container"]["command"]
    assert command[command.index("--master-addr") + 1] == "198.51.100.3"


def test_a13_a_host_without_an_address_on_the_fabric_is_named() -> None:
    own = {"localhost": {"ansible_connection": "local"}, "spark-b": {**links(2), "ansible_host": "198.51.100.22"}}
    [line] = faults(request(MODEL, own, ("localhost", "spark-b"), world_size=2))
    assert line.startswith("fabric_links on host localhost: found nothing, wanted the QSFP interfaces of this host")


def test_n14_one_address_for_two_hosts_is_refused() -> None:
    [line] = faults(
        request(
            MODEL,
            {"spark1": links(1), "spark2": {"fabric_links": [links(1)["fabric_links"][0]]}},
            NINE[:2],
            world_size=2,
            extra={"transport": "socket"},
        )
    )
    assert line == (
        "fabric_links[0].address on host spark2: found 198.51.100.1, which spark1 has too,"
        " wanted an address of its own. Write the address that this host's interface really has."
    )


def test_sglang_has_no_ray() -> None:
    assert faults(group_request(extra={"engine": "sglang", "backend": "ray"})) == [
        "-e backend: found 'ray', wanted 'mp' with serving_engine: sglang. Set it to 'mp' with serving_engine: sglang."
    ]


# -- recipes -----------------------------------------------------------------------------------------------------------

RECIPE = {
    "recipe_version": "2",
    "model": "acme/tiny",
    "container": "acme/vllm:1",
    "runtime": "vllm",
    "min_nodes": 1,
    "defaults": {"port": 8005, "max_model_len": 4096, "gpu_memory_utilization": 0.6},
    "env": {"VLLM_USE_X": "1", "VLLM_Y": "1"},
    "command": (
        "vllm serve {model} --port {port} --max-model-len {max_model_len}"
        " --gpu-memory-utilization {gpu_memory_utilization} --kv-cache-dtype fp8"
    ),
}


def recipe_request(everywhere: dict[str, Any] | None = None, **more: Any) -> Request:
    return request(
        {"serving_recipe": "tiny", **(everywhere or {})},
        hosts=("spark1",),
        load_recipe={"tiny": RECIPE}.__getitem__,
        **more,
    )


def test_a_recipe_stands_before_our_defaults() -> None:
    [replica] = plan.make(recipe_request())["replicas"]
    container = plan.make(recipe_request())["ranks"]["spark1"]["container"]

    assert (replica["model"], replica["image"], replica["endpoint"]) == (
        "acme/tiny",
        "acme/vllm:1",
        "http://spark1:8005",
    )
    words = container["command"]
    assert words[words.index("--max-model-len") + 1] == "4096"
    assert words[words.index("--gpu-memory-utilization") + 1] == "0.6"
    assert words[words.index("--kv-cache-dtype") + 1] == "fp8"
    assert container["env"]["VLLM_USE_X"] == "1"


def test_inventory_and_command_line_stand_before_a_recipe() -> None:
    variables = {
        "serving_gpu_memory_utilization": 0.5,
        "serving_engine_args": {"max_model_len": 1024},
        "serving_env": {"VLLM_Y": "0"},
    }
    made = plan.make(recipe_request(variables, extra={"port": "8009"}))
    container = made["ranks"]["spark1"]["container"]

    words = container["command"]
    assert made["replicas"][0]["endpoint"] == "http://spark1:8009"
    assert words[words.index("--gpu-memory-utilization") + 1] == "0.5"
    assert words[words.index("--max-model-len") + 1] == "1024"
    assert words.count("--max-model-len") == 1
    assert (container["env"]["VLLM_USE_X"], container["env"]["VLLM_Y"]) == ("1", "0")
