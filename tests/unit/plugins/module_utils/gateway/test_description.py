# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The description of the gateway that the plan makes."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils import plan
from ansible_collections.dgxspark.serving.plugins.module_utils.faults import ConfigurationError
from ansible_collections.dgxspark.serving.plugins.module_utils.request import Request

HOSTS = ("spark1", "spark2", "spark3")
MODEL = {"serving_model": "/srv/models/tiny-qwen3"}
ONE_EACH = [{"name": "chat", "replicas": [["spark1"], ["spark2"]]}]


def made(everywhere: dict[str, Any], own: dict[str, dict[str, Any]] | None = None, **more: Any) -> dict[str, Any]:
    """The plan of three hosts on one fabric."""
    variables = {
        host: {
            **MODEL,
            "ansible_host": f"192.0.2.{number}",
            "fabric_links": [{"interface": "enp1s0f0np0", "address": f"198.51.100.{number}/24"}],
            **everywhere,
            **(own or {}).get(host, {}),
        }
        for number, host in enumerate(HOSTS, 1)
    }
    return plan.make(
        Request(group="sparks", hosts=HOSTS, variables=variables, world_size=0, role_variables=["gateway_keys"], **more)
    )


def faults(everywhere: dict[str, Any]) -> list[str]:
    with pytest.raises(ConfigurationError) as caught:
        made(everywhere)
    return [fault.variable for fault in caught.value.faults]


def test_two_replicas_have_one_address() -> None:
    found = made({"serving_deployments": ONE_EACH, "gateway_keys": [{"name": "laptop", "key": "sk-1"}]})
    gateway = found["gateway"]

    assert (gateway["provider"], gateway["hosts"]) == ("haproxy", ["spark1"])
    assert gateway["urls"] == {"spark1": "http://192.0.2.1:8080"}
    assert gateway["keys"] == ["laptop"]
    [deployment] = gateway["deployments"]
    assert (deployment["served_model_name"], deployment["concurrency"]) == ("tiny-qwen3", 64)
    assert [(one["name"], one["address"], one["health_port"]) for one in deployment["replicas"]] == [
        ("chat-0", "127.0.0.1", 29480),
        ("chat-1", "198.51.100.2", 29480),
    ]
    assert "sk-1" not in repr(found)


def test_engines_listen_where_the_gateway_asks_and_have_its_key() -> None:
    ranks = made({"serving_deployments": ONE_EACH})["ranks"]

    commands = {host: rank["container"]["command"] for host, rank in ranks.items()}
    assert commands["spark1"][commands["spark1"].index("--host") + 1] == "127.0.0.1"
    assert commands["spark2"][commands["spark2"].index("--host") + 1] == "198.51.100.2"
    assert {rank["key_file"] for rank in ranks.values()} == {"/etc/dgxspark-serving/engine.key"}
    assert ranks["spark2"]["supervision"]["health"] == {"address": "198.51.100.2", "port": 29480}
    assert ranks["spark2"]["supervision"]["key_file"] == "/etc/dgxspark-serving/engine.key"
    assert [port["port"] for port in ranks["spark2"]["ports"]] == [8000, 29480]


def test_g04_an_engine_does_not_end_the_connections_that_a_gateway_keeps() -> None:
    behind = made({"serving_deployments": ONE_EACH})["ranks"]["spark2"]["container"]["env"]
    alone = made({"serving_deployments": ONE_EACH, "gateway_enabled": False})["ranks"]["spark2"]["container"]["env"]

    assert behind["VLLM_HTTP_TIMEOUT_KEEP_ALIVE"] == "75"
    assert "VLLM_HTTP_TIMEOUT_KEEP_ALIVE" not in alone


def test_without_a_gateway_nothing_of_it_is_there() -> None:
    found = made({"serving_deployments": ONE_EACH, "gateway_enabled": False})

    assert found["gateway"] is None
    rank = found["ranks"]["spark1"]
    assert (rank["key_file"], rank["supervision"]["health"]) == ("", None)
    assert [port["port"] for port in rank["ports"]] == [8000]
    assert rank["container"]["command"][rank["container"]["command"].index("--host") + 1] == "0.0.0.0"


def test_only_rank_0_is_asked() -> None:
    pairs = [{"name": "big", "tensor_parallel_size": 2, "replicas": [["spark1", "spark2"]]}]
    ranks = made({"serving_deployments": pairs, "gateway_enabled": True})["ranks"]

    assert ranks["spark2"]["supervision"]["health"] is None
    assert ranks["spark2"]["ports"] == []


def test_the_limit_of_the_run_is_not_one_of_the_gateway() -> None:
    found = made({"serving_deployments": ONE_EACH}, limit=["spark2"])

    assert list(found["ranks"]) == ["spark2"]
    assert len(found["gateway"]["deployments"][0]["replicas"]) == 2


def test_deployments_of_one_model_share_its_requests() -> None:
    deployments = [*ONE_EACH, {"name": "more", "replicas": [["spark3"]], "port": 8001}]
    [deployment] = made({"serving_deployments": deployments})["gateway"]["deployments"]

    assert [(one["name"], one["port"]) for one in deployment["replicas"]] == [
        ("chat-0", 8000),
        ("chat-1", 8000),
        ("more-0", 8001),
    ]


@pytest.mark.parametrize(
    ("engine_args", "more", "wanted"),
    [
        ({"max-num-seqs": 16}, {}, 16),
        ({"--max_num_seqs": "8"}, {}, 8),
        ({"max-num-seqs": 16}, {"gateway_concurrency": 4}, 4),
    ],
)
def test_a_replica_is_given_what_its_engine_runs_at_once(
    engine_args: dict[str, Any], more: dict[str, Any], wanted: int
) -> None:
    found = made({"serving_deployments": ONE_EACH, "serving_engine_args": engine_args, **more})

    assert found["gateway"]["deployments"][0]["concurrency"] == wanted


def test_a_port_is_one_program_s() -> None:
    assert faults({"serving_deployments": ONE_EACH, "gateway_port": 8000}) == ["gateway_port"]
    assert faults({"serving_deployments": ONE_EACH, "gateway_metrics_port": 8080}) == ["gateway_metrics_port"]


def test_all_ports_of_a_router_are_its_host_s() -> None:
    uses = {"serving_deployments": ONE_EACH, "gateway_provider": "litellm"}
    ports = [port["port"] for port in made(uses)["gateway"]["ports"]]

    assert ports == [8080, 8405, 29491, 29492, 29510, 29511, 29560]


def test_gateway_and_engines_share_the_key() -> None:
    assert made({"serving_deployments": ONE_EACH, "gateway_hosts": ["spark3"]})["gateway"]["key_hosts"] == [
        "spark3",
        "spark1",
        "spark2",
    ]
    assert made({"serving_deployments": ONE_EACH, "gateway_engine_key": False})["gateway"]["key_hosts"] == []
    assert made({"serving_deployments": ONE_EACH, "serving_engine": "sglang"})["gateway"]["key_hosts"] == []
