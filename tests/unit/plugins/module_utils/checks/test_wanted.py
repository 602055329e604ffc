# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is wanted of a host, from plan and inventory."""

from __future__ import annotations

from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.checks import want
from ansible_collections.dgxspark.serving.plugins.module_utils.checks.wanted import wanted


def link(number: int, network: int = 0, interface: str = "enp1s0f0np0") -> dict[str, str]:
    return {"interface": interface, "address": f"10.100.{network}.{number}/24", "rdma_device": ""}


def both(number: int) -> list[dict[str, str]]:
    return [link(number), link(number, 1, "enP2p1s0f0np0")]


LINKS = {"a": both(1), "b": both(2), "c": both(3), "d": []}
PAIR: dict[str, Any] = {
    "hosts": ["a", "b"],
    "world_size": 2,
    "transport": "roce",
    "links": both(1),
    "supervision": {"memory_share": 0.7},
    "container": {"name": "dgxspark-big-0-r0", "image": "acme/vllm:1", "env": {"NCCL_IB_GID_INDEX": "3"}},
}


def test_a_rank_of_a_pair() -> None:
    found = wanted("a", PAIR, LINKS)
    assert (found["world_size"], found["transport"], found["image"], found["memory_share"], found["gid_index"]) == (
        2,
        "roce",
        "acme/vllm:1",
        0.7,
        "3",
    )
    assert found["peers"] == [
        {"host": "b", "address": "10.100.0.2", "interface": "enp1s0f0np0", "must": True},
        {"host": "b", "address": "10.100.1.2", "interface": "enP2p1s0f0np0", "must": True},
    ]


def test_a_host_alone_asks_the_next_one_on_each_link() -> None:
    assert [(peer["host"], peer["address"], peer["must"]) for peer in wanted("b", {}, LINKS)["peers"]] == [
        ("c", "10.100.0.3", False),
        ("c", "10.100.1.3", False),
    ]


def test_the_last_one_asks_the_first() -> None:
    assert [peer["host"] for peer in wanted("c", {}, LINKS)["peers"]] == ["a", "a"]


def test_without_links_nobody_is_asked() -> None:
    found = wanted("d", {}, LINKS)
    assert (found["links"], found["peers"], found["world_size"], found["memory_share"]) == ([], [], 0, None)


def test_a_peer_in_another_network_is_not_asked() -> None:
    links = {"a": [link(1)], "b": [link(2, 7)]}
    assert wanted("a", {**PAIR, "links": [link(1)]}, links)["peers"] == []


def test_what_comes_to_the_host_is_read() -> None:
    found = want.read(wanted("a", PAIR, LINKS), root=False, user="nvidia")
    assert found.peers[0] == want.Peer("b", "10.100.0.2", "enp1s0f0np0", True)
    assert (found.gid_index, found.memory_share, found.root, found.user) == (3, 0.7, False, "nvidia")


def test_older_ansible_hands_numbers_over_as_text() -> None:
    peer = {"host": "b", "address": "10.100.0.2", "interface": "x", "must": "False"}
    found = want.read({"world_size": "2", "memory_share": "0.7", "gid_index": "", "peers": [peer]}, True, "root")
    assert (found.world_size, found.memory_share, found.gid_index, found.peers[0].must) == (2, 0.7, None, False)


def test_nothing_is_planned() -> None:
    assert want.read({}, True, "root") == want.Want(peers=[])
