# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What every engine needs to use the fabric."""

from __future__ import annotations

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.engines import group, ray_rank
from ansible_collections.dgxspark.serving.plugins.module_utils.engines.group import Group, Member

A = Member("spark-a", "192.0.2.11", ("enp1s0f0np0", "enP2p1s0f0np0"), ("rocep1s0f0", "roceP2p1s0f0"))
B = Member("spark-b", "192.0.2.12", ("enP2p1s0f1np1", "enp1s0f1np1"), ("roceP2p1s0f1", "rocep1s0f1"))
ROCE = Group((A, B), "roce")
SOCKET = Group((A, B), "socket")
ALONE = Group((Member("spark-a", "", (), ()),), "")

NAMES = (
    "NCCL_SOCKET_IFNAME",
    "GLOO_SOCKET_IFNAME",
    "TP_SOCKET_IFNAME",
    "UCX_NET_DEVICES",
    "OMPI_MCA_btl_tcp_if_include",
)


def test_roce() -> None:
    assert group.environment(ROCE, 0) == {
        **dict.fromkeys(NAMES, "enp1s0f0np0"),
        "NCCL_IB_HCA": "rocep1s0f0,roceP2p1s0f0",
        "NCCL_IGNORE_CPU_AFFINITY": "1",
        "NCCL_DEBUG": "INFO",
        "NCCL_DEBUG_SUBSYS": "INIT,NET",
    }


def test_socket() -> None:
    assert group.environment(SOCKET, 0) == {
        **dict.fromkeys(NAMES, "enp1s0f0np0"),
        "NCCL_IGNORE_CPU_AFFINITY": "1",
        "NCCL_IB_DISABLE": "1",
    }


def test_a_replica_of_one_host_needs_no_fabric() -> None:
    assert group.environment(ALONE, 0) == {}
    assert (ALONE.devices, ALONE.capabilities) == ([], [])


def test_d11_roce_has_its_devices_and_shows_its_network_in_the_log() -> None:
    assert ROCE.devices == ["/dev/infiniband"]
    assert ROCE.capabilities == ["IPC_LOCK"]
    assert group.environment(ROCE, 1)["NCCL_DEBUG_SUBSYS"] == "INIT,NET"
    assert (SOCKET.devices, SOCKET.capabilities) == ([], [])


def test_n03_the_interface_is_that_of_the_fabric_address_and_no_route_is_asked() -> None:
    assert group.environment(SOCKET, 0)["GLOO_SOCKET_IFNAME"] == "enp1s0f0np0"


def test_n04_each_rank_has_its_own_interface() -> None:
    assert [group.environment(ROCE, rank)["NCCL_SOCKET_IFNAME"] for rank in (0, 1)] == ["enp1s0f0np0", "enP2p1s0f1np1"]
    assert [group.environment(ROCE, rank)["NCCL_IB_HCA"] for rank in (0, 1)] == [
        "rocep1s0f0,roceP2p1s0f0",
        "roceP2p1s0f1,rocep1s0f1",
    ]


def test_n04_vllm_is_not_to_copy_these_from_rank_0_to_the_others() -> None:
    with_index = Member("spark-a", "192.0.2.11", A.interfaces, A.rdma_devices, gid_index=3)
    assert set(group.host_environment(Group((with_index, B), "roce"), 0)) == set(ray_rank.PER_HOST_VARIABLES)


@pytest.mark.parametrize(("gid_index", "value"), [(None, None), (0, "0"), (3, "3")])
def test_n17_the_gid_index_is_set_per_host_or_not_at_all(gid_index: int | None, value: str | None) -> None:
    member = Member("spark-b", "192.0.2.12", B.interfaces, B.rdma_devices, gid_index)
    both = Group((A, member), "roce")
    assert group.environment(both, 1).get("NCCL_IB_GID_INDEX") == value
    assert "NCCL_IB_GID_INDEX" not in group.environment(both, 0)
    assert "NCCL_IB_GID_INDEX" not in group.environment(Group((A, member), "socket"), 1)


def test_n18_both_halves_carry_data_by_default() -> None:
    assert group.environment(ROCE, 0)["NCCL_IB_HCA"].split(",") == ["rocep1s0f0", "roceP2p1s0f0"]


def test_n14_one_address_for_all_ranks_is_refused() -> None:
    [fault] = group.address_faults("VLLM_HOST_IP", {"VLLM_HOST_IP": "192.0.2.11"}, ROCE, "serving_env", "spark-a")
    assert (fault.variable, fault.found) == ("serving_env.VLLM_HOST_IP", "'192.0.2.11' for all 2 ranks")
    assert fault.wanted == "an address of its own for each rank: 192.0.2.11, 192.0.2.12"


def test_an_address_of_a_single_host_is_its_users() -> None:
    users = {"VLLM_HOST_IP": "192.0.2.11"}
    assert group.address_faults("VLLM_HOST_IP", users, ALONE, "serving_env", "") == []
    assert group.address_faults("VLLM_HOST_IP", {"VLLM_HOST_IP": ""}, ROCE, "serving_env", "") == []
