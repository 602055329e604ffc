# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What both hosts of a pair run: commands, reasons to leave something out, and the refusal to disturb."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_test import all_gather, orders, pairs, plan
from ansible_collections.dgxspark.serving.plugins.module_utils.faults import ConfigurationError

IMAGE = "nvcr.io/nvidia/vllm:26.05-py3"
GIB = 2**30


def links(number: int, rdma: bool = True) -> list[dict[str, str]]:
    return [
        {
            "interface": "enp1s0f0np0",
            "address": f"192.0.2.{number}/24",
            "rdma_device": "rocep1s0f0" if rdma else "",
        },
        {
            "interface": "enP2p1s0f0np0",
            "address": f"198.51.100.{number}/24",
            "rdma_device": "roceP2p1s0f0" if rdma else "",
        },
    ]


def look(**more: Any) -> dict[str, Any]:
    up = {"speed": 200000, "mtu": 9000, "state": "up"}
    return {
        "tools": ["iperf3", "ib_write_bw", "ib_write_lat", "docker"],
        "links": {"enp1s0f0np0": up, "enP2p1s0f0np0": up},
        "rdma_devices": ["roceP2p1s0f0", "rocep1s0f0"],
        "engines": [],
        "image": True,
        "memory_available": 100 * GIB,
        **more,
    }


LINKS = {"spark1": links(11), "spark2": links(12)}
LOOKS = {"spark1": look(), "spark2": look()}
PAIR = pairs.Pair("spark1", "spark2", pairs.shared(LINKS["spark1"], LINKS["spark2"]))
CHOICE = all_gather.Choice(
    image={"spark1": IMAGE, "spark2": IMAGE},
    ranks={},
    gid_indices={"spark2": 3},
    transport="auto",
    backend="nccl",
    buffer=GIB,
)
WISH = plan.Wish("auto", 5, 8, disturb=False)


def environment(argv: list[str]) -> dict[str, str]:
    """What a container is given with ``--env``."""
    given = [value for option, value in pairwise(argv) if option == "--env"]
    return dict(text.split("=", 1) for text in given)


def test_tools_over_each_twin_and_over_both() -> None:
    part = orders.tools(PAIR, LOOKS, 5, 8)
    assert [(one["kind"], len(one["over"])) for one in part.measurements] == [
        ("tcp", 1),
        ("tcp", 1),
        ("tcp", 2),
        ("rdma_bandwidth", 1),
        ("rdma_bandwidth", 1),
        ("rdma_bandwidth", 2),
        ("rdma_latency", 1),
        ("rdma_latency", 1),
    ]
    servers = {job["name"]: job for job in part.servers}
    used = [job["port_of"] for one in part.measurements for job in one["jobs"]]
    # A server serves one client and ends.
    assert sorted(used) == sorted(servers)
    assert len(set(used)) == len(used)


def test_each_end_is_bound_to_its_own_address() -> None:
    part = orders.tools(PAIR, LOOKS, 5, 8)
    server, client = part.servers[1], part.measurements[1]["jobs"][0]
    assert " ".join(server["argv"]) == "iperf3 --server --one-off --bind 198.51.100.12 --port @PORT@"
    assert server["address"] == "198.51.100.12"
    assert " ".join(client["argv"]) == (
        "iperf3 --client 198.51.100.12 --bind 198.51.100.11 --port @PORT@ --time 5 --omit 1 --parallel 8 --json"
        " --connect-timeout 5000"
    )


def test_servers_outlast_all_measurements_and_no_longer() -> None:
    part = orders.tools(PAIR, LOOKS, 5, 8)
    total = sum(one["jobs"][0]["limit"] for one in part.measurements)
    assert {job["limit"] for job in part.servers} == {total + 60}


def test_rdma_uses_the_devices_of_each_host() -> None:
    part = orders.tools(PAIR, LOOKS, 5, 8)
    client = part.measurements[4]["jobs"][0]["argv"]
    assert client[0] == "ib_write_bw"
    assert client[-3:] == ["-d", "roceP2p1s0f0", "198.51.100.12"]
    assert {"-R", "--force-link"} <= set(client)


DOWN = {"enp1s0f0np0": {"speed": 0, "mtu": 9000, "state": "down"}, "enP2p1s0f0np0": look()["links"]["enP2p1s0f0np0"]}


@pytest.mark.parametrize(
    ("changed", "kind", "skipped", "remedy"),
    [
        ({"tools": ["docker"]}, "tcp", "iperf3 is not installed on spark2", "fabric_test_install=true"),
        ({"tools": ["iperf3"]}, "rdma_bandwidth", "perftest is not installed on spark2", "fabric_test_install=true"),
        ({"rdma_devices": []}, "rdma_bandwidth", "spark2 has no RDMA device", "mlx5_ib"),
        (
            {"rdma_devices": ["roceP2p1s0f0"]},
            "rdma_latency",
            "spark2 has no RDMA device rocep1s0f0",
            "correct fabric_links",
        ),
        ({"links": DOWN}, "tcp", "enp1s0f0np0 of spark2 is down", "plug the cable in"),
        ({"links": {}}, "tcp", "enp1s0f0np0 of spark2 is not there", "correct fabric_links"),
    ],
)
def test_what_cannot_be_measured_says_why(changed: dict, kind: str, skipped: str, remedy: str) -> None:
    part = orders.tools(PAIR, {**LOOKS, "spark2": look(**changed)}, 5, 8)
    first = next(one for one in part.measurements if one["kind"] == kind)
    assert first["skipped"] == skipped
    assert remedy in first["remedy"]
    assert first["jobs"] == []


def test_the_all_gather_has_the_environment_of_the_plan() -> None:
    part = all_gather.part(PAIR, LOOKS, CHOICE)
    server, client = part.servers[0]["argv"], part.measurements[0]["jobs"][0]["argv"]
    assert environment(server)["NCCL_IB_HCA"] == "rocep1s0f0,roceP2p1s0f0"
    assert environment(server)["NCCL_IB_GID_INDEX"] == "3"
    assert "NCCL_IB_GID_INDEX" not in environment(client)
    assert environment(client)["NCCL_SOCKET_IFNAME"] == "enp1s0f0np0"
    assert environment(client)["NCCL_DEBUG"] == "INFO"
    for argv in (server, client):
        text = " ".join(argv)
        assert "--device /dev/infiniband" in text
        assert "--cap-add IPC_LOCK" in text
        assert "--ulimit memlock=-1:-1" in text
        assert "--gpus all" in text
        assert "--rm --init --pull never" in text
    assert [json.loads(argv[-1])["rank"] for argv in (server, client)] == [0, 1]
    assert {json.loads(argv[-1])["address"] for argv in (server, client)} == {"192.0.2.12"}


def test_without_rdma_the_all_gather_goes_by_sockets() -> None:
    pair = pairs.Pair("spark1", "spark2", pairs.shared(links(11, rdma=False), links(12, rdma=False)))
    part = all_gather.part(pair, LOOKS, CHOICE)
    argv = part.servers[0]["argv"]
    assert environment(argv)["NCCL_IB_DISABLE"] == "1"
    assert "/dev/infiniband" not in " ".join(argv)
    assert part.measurements[0]["transport"] == "socket"


def test_a_replica_is_measured_with_what_its_engine_uses() -> None:
    def rank(hca: str) -> dict[str, Any]:
        env = {"NCCL_IB_HCA": hca, "VLLM_HOST_IP": "192.0.2.11"}
        container = {"env": env, "devices": ["/dev/infiniband"], "capabilities": ["IPC_LOCK"], "image": IMAGE}
        return {"replica": "main-0", "container": container}

    ranks = {"spark1": rank("rocep1s0f0"), "spark2": rank("rocep1s0f0")}
    part = all_gather.part(PAIR, LOOKS, replace(CHOICE, ranks=ranks))
    given = environment(part.measurements[0]["jobs"][0]["argv"])
    assert given["NCCL_IB_HCA"] == "rocep1s0f0"
    assert "VLLM_HOST_IP" not in given


@pytest.mark.parametrize(
    ("wish", "available", "size"),
    [(GIB, [100 * GIB, 90 * GIB], GIB), (16 * GIB, [64 * GIB, 32 * GIB], 2 * GIB), (GIB, [GIB, 64 * GIB], GIB // 16)],
)
def test_the_size_is_bounded_by_the_memory_that_is_free(wish: int, available: list[int], size: int) -> None:
    assert all_gather.bounded(wish, available) == size


@pytest.mark.parametrize(
    ("changed", "image", "skipped"),
    [
        ({}, "", "no image is known for spark1"),
        ({"image": False}, IMAGE, f"spark1 does not have image {IMAGE}"),
        ({"tools": ["iperf3"]}, IMAGE, "spark1 has no Docker"),
        ({"memory_available": 0}, IMAGE, "a host has too little free memory"),
    ],
)
def test_an_all_gather_that_cannot_be(changed: dict, image: str, skipped: str) -> None:
    looks = {"spark1": look(**changed), "spark2": look(**changed)}
    choice = replace(CHOICE, image={"spark1": image, "spark2": image})
    (measurement,) = all_gather.part(PAIR, looks, choice).measurements
    assert measurement["skipped"] == skipped
    assert measurement["remedy"]


def test_the_whole_plan_is_plain_data() -> None:
    made = plan.make(LINKS, LOOKS, [], WISH, CHOICE)
    assert json.loads(json.dumps(made)) == json.loads(json.dumps(made))
    (parts,) = made["rounds"]
    assert (parts["spark1"]["side"], parts["spark1"]["peer"]) == ("client", "spark2")
    assert parts["spark2"]["side"] == "server"
    assert parts["spark1"]["devices"] == ["rocep1s0f0", "roceP2p1s0f0"]
    assert [one["settings"] for one in parts["spark1"]["after"]] == ["settings of prepare"] * 2
    # Two links of 21 s at most, and 30 s of the servers, twice, and the slack.
    assert parts["spark2"]["trial_seconds"] == 2 * (2 * 21 + 30) + 120
    assert made["pairs"][0]["name"] == "spark1 - spark2"


def test_engines_are_not_disturbed() -> None:
    looks = {"spark1": look(engines=["dgxspark-chat-0-r0"]), "spark2": look()}
    with pytest.raises(RuntimeError) as said:
        plan.make(LINKS, looks, [], WISH, CHOICE)
    assert str(said.value) == (
        "Engines run here, which the test would slow down: dgxspark-chat-0-r0 on spark1. Stop them with the playbook "
        "stop, or give -e fabric_test_disturb=true."
    )
    assert plan.make(LINKS, looks, [], replace(WISH, disturb=True), CHOICE)["pairs"]


def test_hosts_without_a_common_network() -> None:
    with pytest.raises(ConfigurationError, match="no two hosts that share a network"):
        plan.make({"spark1": [], "spark2": []}, LOOKS, [], WISH, CHOICE)
