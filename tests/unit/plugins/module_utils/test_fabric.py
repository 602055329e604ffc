# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fabric of one replica: transport, faults and warnings."""

from __future__ import annotations

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils import fabric


def link(interface: str, address: str, rdma_device: str = "") -> dict[str, str]:
    return {"interface": interface, "address": address, "rdma_device": rdma_device}


def twins(number: int) -> list[dict[str, str]]:
    """Both halves of QSFP port 0, as on every host of the documentation."""
    return [
        link("enp1s0f0np0", f"192.0.2.{number}/24", "rocep1s0f0"),
        link("enP2p1s0f0np0", f"198.51.100.{number}/24", "roceP2p1s0f0"),
    ]


PAIR = {"spark1": twins(11), "spark2": twins(12)}
BARE = [link("enp1s0f0np0", "192.0.2.12/24", "rocep1s0f0"), link("enP2p1s0f0np0", "198.51.100.12/24")]


@pytest.mark.parametrize(
    ("wish", "links", "transport"),
    [
        ("auto", PAIR, "roce"),
        ("auto", {"spark1": twins(11), "spark2": BARE}, "socket"),
        ("auto", {"spark1": twins(11), "spark2": []}, "socket"),
        ("socket", PAIR, "socket"),
        ("roce", PAIR, "roce"),
    ],
)
def test_transport(wish: str, links: dict[str, list[dict[str, str]]], transport: str) -> None:
    assert fabric.transport_for(wish, links) == (transport, None)


def test_roce_needs_an_rdma_device_for_each_link() -> None:
    transport, fault = fabric.transport_for("roce", {"spark1": twins(11), "spark2": BARE})
    assert transport == "roce"
    assert fault is not None
    assert (fault.host, fault.variable, fault.found) == ("spark2", "fabric_links[1].rdma_device", "nothing")
    assert "enP2p1s0f0np0" in fault.remedy


def test_hosts_that_can_meet() -> None:
    assert fabric.group_faults(PAIR) == []
    assert fabric.group_warnings(PAIR) == []


def test_a13_a_host_without_fabric_links_is_named() -> None:
    [fault] = fabric.group_faults({"localhost": [], "spark-b": twins(22)})
    assert (fault.host, fault.variable, fault.found) == ("localhost", "fabric_links", "nothing")
    assert fault.remedy.startswith("Write fabric_links: [{interface: enp1s0f0np0, address: 192.0.2.11/24")


def test_the_supervisors_speak_ipv4() -> None:
    six = [link("enp1s0f0np0", "2001:db8::11/64", "rocep1s0f0")]
    [fault] = fabric.group_faults({"spark1": six, "spark2": [link("enp1s0f0np0", "2001:db8::12/64", "")]})[:1]
    assert (fault.host, fault.wanted) == ("spark1", "an IPv4 address, which the supervisors need")


@pytest.mark.parametrize("address", ["127.0.0.1/8", "0.0.0.0/0", "::1/128"])
def test_a13_a_loopback_is_no_address_of_a_rank(address: str) -> None:
    [fault] = fabric.group_faults({"localhost": [link("lo", address)], "spark-b": twins(22)})
    assert (fault.host, fault.variable) == ("localhost", "fabric_links[0].address")
    assert fault.wanted == "an address that the other hosts of the replica can reach"


def test_n14_each_rank_has_its_own_address() -> None:
    shared = [link("enp1s0f0np0", "192.0.2.11/24")]
    [fault] = fabric.group_faults({"spark-a": shared, "spark-b": shared})
    assert (fault.host, fault.found) == ("spark-b", "192.0.2.11, which spark-a has too")


def test_control_links_share_a_network() -> None:
    crossed = [*reversed(twins(12))]
    faults = fabric.group_faults({"spark1": twins(11), "spark2": crossed, "spark3": twins(13)})
    assert [(fault.host, fault.found, fault.wanted) for fault in faults] == [
        ("spark2", "198.51.100.12/24", "an address in 192.0.2.0/24, where spark1 has its control link")
    ]


def test_n18_one_half_only() -> None:
    one = {host: links[:1] for host, links in PAIR.items()}
    assert fabric.group_warnings(one) == [
        f"{host}: fabric_links has one half only of QSFP port 0 (enp1s0f0np0), which is half the bandwidth at most."
        " Add enP2p1s0f0np0 with an address in a network of its own."
        for host in ("spark1", "spark2")
    ]


def test_n18_the_other_half_is_named_too() -> None:
    [warning] = fabric.group_warnings({"spark1": [link("enP2p1s0f1np1", "192.0.2.11/24")]})
    assert "QSFP port 1 (enP2p1s0f1np1)" in warning
    assert "Add enp1s0f1np1 " in warning


def test_n20_twins_in_one_network_are_a_note() -> None:
    links = [link("enp1s0f0np0", "192.0.2.11/24"), link("enP2p1s0f0np0", "192.0.2.13/24")]
    assert fabric.group_faults({"spark1": links, "spark2": twins(12)}) == []
    [warning] = fabric.group_warnings({"spark1": links})
    assert warning.startswith("spark1: note that enp1s0f0np0 and enP2p1s0f0np0, the two halves of QSFP port 0, are in")


def test_n20_two_ports_in_one_network_are_a_warning() -> None:
    links = [link("enp1s0f0np0", "192.0.2.11/24"), link("enp1s0f1np1", "192.0.2.14/24")]
    assert (
        "spark1: enp1s0f0np0 and enp1s0f1np1 are two ports in one network (192.0.2.0/24), so traffic may leave by the"
        " wrong one. Give each a network of its own."
    ) in fabric.group_warnings({"spark1": links})


@pytest.mark.parametrize(
    ("interface", "network"), [("enP7s7", "the management network"), ("wlP9s9", "Wi-Fi")], ids=["management", "wifi"]
)
def test_slow_networks_are_a_warning(interface: str, network: str) -> None:
    [warning] = fabric.group_warnings({"spark1": [link(interface, "203.0.113.11/24")]})
    assert warning.startswith(f"spark1: {interface} in fabric_links is {network} of a DGX Spark")


def test_a_second_link_that_leads_nowhere_is_a_warning() -> None:
    other = [twins(12)[0], link("enP2p1s0f0np0", "203.0.113.12/24", "roceP2p1s0f0")]
    assert fabric.group_warnings({"spark1": twins(11), "spark2": other}) == [
        "spark2: enP2p1s0f0np0 is in 203.0.113.0/24, where spark1 has no link: no data passes between the two there."
    ]
