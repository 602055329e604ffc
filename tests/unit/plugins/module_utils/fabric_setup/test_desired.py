# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is written for the fabric, and what is refused."""

from __future__ import annotations

import configparser
from typing import Any

import pytest
import yaml

from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_setup import desired
from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_setup.desired import Refused
from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_setup.seen import Device, Seen

LINKS = [
    {"interface": "enp1s0f0np0", "address": "192.0.2.11/24", "rdma_device": "rocep1s0f0"},
    {"interface": "enP2p1s0f0np0", "address": "198.51.100.11/24", "rdma_device": ""},
]
NAMES = [link["interface"] for link in LINKS]
FOREIGN = "/etc/netplan/40-cx7.yaml"
KEYED = "    enp1s0f0np0:\n      mtu: 1500\n"
CONNECTION = "/etc/NetworkManager/system-connections/fabric.nmconnection"


def interface(address: str, **other: Any) -> dict[str, Any]:
    return {"mac": "", "mtu": 9000, "up": True, "addresses": [address], **other}


THERE = {"enp1s0f0np0": interface("192.0.2.11/24"), "enP2p1s0f0np0": interface("198.51.100.11/24")}


def test_netplan_text_is_yaml_without_a_renderer() -> None:
    network = yaml.safe_load(desired.netplan_text(LINKS, 9000))["network"]
    assert sorted(network) == ["ethernets", "version"]
    assert network["ethernets"]["enP2p1s0f0np0"] == {
        "dhcp4": False,
        "dhcp6": False,
        "addresses": ["198.51.100.11/24"],
        "mtu": 9000,
        "optional": True,
    }


@pytest.mark.parametrize(
    ("address", "four", "six"),
    [("192.0.2.11/24", "manual", "link-local"), ("2001:db8::11/64", "disabled", "manual")],
)
def test_keyfile_is_bound_to_its_interface(address: str, four: str, six: str) -> None:
    parsed = configparser.ConfigParser()
    parsed.read_string(desired.keyfile_text({"interface": "enp1s0f0np0", "address": address}, 9000))
    assert parsed["connection"]["interface-name"] == "enp1s0f0np0"
    assert (parsed["ethernet"]["mtu"], parsed["ipv4"]["method"], parsed["ipv6"]["method"]) == ("9000", four, six)
    assert parsed["ipv4" if four == "manual" else "ipv6"]["address1"] == address


def test_keyfiles_keep_their_id_and_differ_between_interfaces() -> None:
    one, again, other = (desired.keyfile_text(link, 9000) for link in (LINKS[0], LINKS[0], LINKS[1]))
    assert one == again
    assert one.split("uuid=")[1][:36] != other.split("uuid=")[1][:36]


NM_OWNS = {"enp1s0f0np0": Device("connected", "98ce5f70", "Wired")}
BY_NETPLAN = {"enp1s0f0np0": Device("connected", "98ce5f70", "netplan-enp1s0f0np0", by_netplan=True)}


@pytest.mark.parametrize(
    ("seen", "manager"),
    [
        (Seen(netplan=True), "netplan"),
        (Seen(netplan=True, networkmanager=True), "networkmanager"),
        (Seen(netplan=True, networkmanager=True, netplan_files={"/etc/netplan/01-nm.yaml": ""}), "netplan"),
        (Seen(netplan=True, networkmanager=True, devices=NM_OWNS, netplan_files={FOREIGN: ""}), "networkmanager"),
        (Seen(netplan=True, networkmanager=True, devices=BY_NETPLAN, netplan_files={FOREIGN: ""}), "netplan"),
        (
            Seen(netplan=True, networkmanager=True, devices=NM_OWNS, netplan_files={desired.NETPLAN_FILE: ""}),
            "netplan",
        ),
        (
            Seen(netplan=True, networkmanager=True, netplan_files={FOREIGN: ""}, keyfiles={desired.keyfile("x"): ""}),
            "networkmanager",
        ),
        (Seen(networkmanager=True), "networkmanager"),
    ],
)
def test_whoever_has_the_interfaces_keeps_them(seen: Seen, manager: str) -> None:
    assert desired.choose("auto", seen, NAMES) == manager


@pytest.mark.parametrize(
    ("wish", "seen", "text"),
    [
        ("auto", Seen(), "Neither netplan nor NetworkManager is there"),
        ("netplan", Seen(networkmanager=True), "netplan is not installed"),
        ("networkmanager", Seen(netplan=True), "NetworkManager does not run"),
    ],
)
def test_nobody_to_keep_them(wish: str, seen: Seen, text: str) -> None:
    with pytest.raises(Refused, match=text):
        desired.choose(wish, seen, NAMES)


def test_configuration_of_others_is_named_and_refused() -> None:
    found = desired.foreign("netplan", Seen(netplan_files={FOREIGN: KEYED, desired.NETPLAN_FILE: KEYED}), NAMES)
    assert found == [desired.Foreign("enp1s0f0np0", FOREIGN, "key")]
    with pytest.raises(Refused) as refused:
        desired.refuse_foreign(found, "netplan", take_over=False)
    assert str(refused.value) == (
        "/etc/netplan/40-cx7.yaml configures enp1s0f0np0 already, and it is not of this collection. Take the interface"
        " out of it, or set fabric_take_over to true: the file comes back with the undo."
    )
    desired.refuse_foreign(found, "netplan", take_over=True)


@pytest.mark.parametrize(
    ("manager", "seen", "text"),
    [
        ("netplan", Seen(netplan_files={FOREIGN: "  lan:\n    match: {name: en*}\n"}), "by a pattern"),
        (
            "netplan",
            Seen(networkmanager=True, keyfiles={CONNECTION: "interface-name=enp1s0f0np0\n"}),
            "Set fabric_manager to networkmanager",
        ),
        ("networkmanager", Seen(netplan_files={FOREIGN: KEYED}), "Set fabric_manager to netplan"),
    ],
)
def test_what_cannot_be_taken_over(manager: str, seen: Seen, text: str) -> None:
    with pytest.raises(Refused, match=text):
        desired.refuse_foreign(desired.foreign(manager, seen, NAMES), manager, take_over=True)


def test_a_connection_of_others_gives_way_to_a_higher_priority() -> None:
    seen = Seen(networkmanager=True, keyfiles={CONNECTION: "interface-name=enp1s0f0np0\n"})
    desired.refuse_foreign(desired.foreign("networkmanager", seen, NAMES), "networkmanager", take_over=True)


def test_a_connection_file_means_nothing_where_networkmanager_does_not_run() -> None:
    assert desired.foreign("netplan", Seen(keyfiles={CONNECTION: "interface-name=enp1s0f0np0\n"}), NAMES) == []


def test_files_of_ours_that_are_not_wanted_any_more_go() -> None:
    old = desired.keyfile("enp1s0f1np1")
    seen = Seen(keyfiles={old: "x", CONNECTION: "y"}, netplan_files={desired.NETPLAN_FILE: "z"})
    files = desired.files("networkmanager", LINKS, 9000, seen)
    assert {path: text is None for path, text in files.items()} == {
        desired.NETPLAN_FILE: True,
        old: True,
        desired.keyfile("enp1s0f0np0"): False,
        desired.keyfile("enP2p1s0f0np0"): False,
    }


@pytest.mark.parametrize(
    ("changed", "lacking"),
    [
        ({}, []),
        ({"enp1s0f0np0": interface("192.0.2.99/24")}, ["enp1s0f0np0 has 192.0.2.99/24"]),
        ({"enp1s0f0np0": interface("192.0.2.11/24", mtu=1500)}, ["enp1s0f0np0 has MTU 1500"]),
        ({"enp1s0f0np0": interface("192.0.2.11/24", up=False)}, ["enp1s0f0np0 is down"]),
        ({"enp1s0f0np0": interface("192.0.2.11/24", addresses=[])}, ["enp1s0f0np0 has no address"]),
    ],
)
def test_what_is_not_in_force(changed: dict[str, Any], lacking: list[str]) -> None:
    assert desired.not_yet(LINKS, 9000, Seen(interfaces={**THERE, **changed})) == lacking


def test_the_way_in_and_a_missing_interface_are_refused() -> None:
    seen = Seen(interfaces={"enp1s0f0np0": {}, "enP7s7": {}})
    with pytest.raises(Refused) as refused:
        desired.refuse_interfaces(LINKS, seen, {})
    assert str(refused.value) == (
        "There is no interface enP2p1s0f0np0; the ones like it are enP7s7, enp1s0f0np0."
        " Correct fabric_links of this host."
    )
    with pytest.raises(Refused) as refused:
        desired.refuse_interfaces(LINKS, Seen(interfaces=THERE), {"enp1s0f0np0": "its address is 192.0.2.11"})
    assert str(refused.value) == (
        "enp1s0f0np0 is the interface by which Ansible came in (its address is 192.0.2.11), so it is not touched."
        " Name the QSFP interfaces in fabric_links, or connect over another network."
    )


def test_running_ranks_keep_the_fabric_as_it_is() -> None:
    desired.refuse_ranks(Seen())
    with pytest.raises(Refused, match="^dgxspark-main-0-r0 runs over the fabric"):
        desired.refuse_ranks(Seen(ranks=["dgxspark-main-0-r0"]))
