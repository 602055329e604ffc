# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who is measured against whom."""

from __future__ import annotations

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_test import pairs


def link(interface: str, address: str) -> dict[str, str]:
    return {"interface": interface, "address": address, "rdma_device": ""}


def twins(number: int, networks: tuple[str, str] = ("192.0.2", "198.51.100")) -> list[dict[str, str]]:
    names = ("enp1s0f0np0", "enP2p1s0f0np0")
    return [link(name, f"{network}.{number}/24") for name, network in zip(names, networks, strict=True)]


FOUR = {f"spark{number}": twins(number) for number in range(1, 5)}
# Three hosts in a ring: each two share one cable.
RING = {
    "a": [link("enp1s0f0np0", "192.0.2.1/24"), link("enp1s0f1np1", "203.0.113.1/24")],
    "b": [link("enp1s0f0np0", "192.0.2.2/24"), link("enp1s0f1np1", "198.51.100.2/24")],
    "c": [link("enp1s0f0np0", "198.51.100.3/24"), link("enp1s0f1np1", "203.0.113.3/24")],
}


@pytest.mark.parametrize(
    ("links", "replicas", "wish", "names"),
    [
        (FOUR, [], "auto", ["spark1 - spark2", "spark3 - spark4"]),
        (FOUR, [["spark2", "spark3"]], "auto", ["spark2 - spark3", "spark1 - spark4"]),
        (FOUR, [["spark1", "spark2", "spark3"]], "auto", ["spark1 - spark2", "spark2 - spark3", "spark1 - spark4"]),
        (FOUR, [["spark1"], ["spark2"]], "auto", ["spark1 - spark2", "spark3 - spark4"]),
        ({**FOUR, "alone": []}, [], "auto", ["spark1 - spark2", "spark3 - spark4"]),
        (RING, [], "auto", ["a - b", "a - c"]),
        (RING, [], "all", ["a - b", "a - c", "b - c"]),
        (FOUR, [], "spark4:spark1, spark2:spark3", ["spark4 - spark1", "spark2 - spark3"]),
        ({"a": [], "b": []}, [["a", "b"]], "auto", []),
    ],
)
def test_pairs(links: dict, replicas: list, wish: str, names: list[str]) -> None:
    found, faults = pairs.pairs(links, replicas, wish)
    assert faults == []
    assert [pair.name for pair in found] == names


@pytest.mark.parametrize("wish", ["spark1", "spark1:spark1", "spark1:spark9", "spark1:spark2:spark3"])
def test_a_pair_that_is_none(wish: str) -> None:
    found, faults = pairs.pairs(FOUR, [], wish)
    assert found == []
    assert [fault.variable for fault in faults] == ["fabric_test_pairs"]
    assert "spark1:spark2" in faults[0].remedy


def test_a_pair_without_a_common_network() -> None:
    _found, faults = pairs.pairs({"a": twins(1), "b": twins(2, ("203.0.113", "10.0.0"))}, [], "a:b")
    assert faults[0].found == "'a:b', which share no network"


def test_links_are_matched_by_network_and_not_by_name() -> None:
    crossed = [link("enp1s0f1np1", "198.51.100.2/24"), link("enP2p1s0f1np1", "192.0.2.2/24")]
    both = pairs.shared(twins(1), crossed)
    assert [(one.client["interface"], one.server["interface"]) for one in both] == [
        ("enp1s0f0np0", "enP2p1s0f1np1"),
        ("enP2p1s0f0np0", "enp1s0f1np1"),
    ]


def test_twins_in_one_network_are_two_links() -> None:
    one_network = ("192.0.2", "192.0.2")
    server = [link("enp1s0f0np0", "192.0.2.2/24"), link("enP2p1s0f0np0", "192.0.2.12/24")]
    assert len(pairs.shared(twins(1, one_network), server)) == 2


def test_a_round_has_each_host_once() -> None:
    found = pairs.pairs(FOUR, [], "all")[0]
    made = pairs.rounds(found)
    assert sum(len(together) for together in made) == 6
    assert len(made) == 3
    for together in made:
        hosts = [host for pair in together for host in (pair.client, pair.server)]
        assert len(hosts) == len(set(hosts))


def test_an_address_that_two_hosts_claim() -> None:
    links, faults = pairs.read({"a": twins(1), "b": twins(1)})
    assert list(links) == ["a", "b"]
    assert [fault.host for fault in faults] == ["b", "b"]
    assert faults[0].found == "192.0.2.1, which a has too"
