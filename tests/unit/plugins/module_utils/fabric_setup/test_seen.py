# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A host's network from captured text."""

from __future__ import annotations

import json

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_setup import revert, seen
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.raw import Output, Raw

MAC = "4c:bb:47:00:00:01"
ADDRESS = json.dumps(
    [
        {
            "ifname": "enp1s0f0np0",
            "flags": ["BROADCAST", "UP", "LOWER_UP"],
            "mtu": 9000,
            "address": MAC,
            "addr_info": [
                {"family": "inet", "local": "192.0.2.11", "prefixlen": 24, "scope": "global"},
                {"family": "inet6", "local": "fe80::1", "prefixlen": 64, "scope": "link"},
            ],
        },
        {"ifname": "enP7s7"},
        {},
    ]
)
STATUS = r"""enp1s0f0np0:connected:98ce5f70-ca28-4790-87a7-70b13eba1346
enP2p1s0f0np0:connected (externally):7576cfaf-443c-44bc-91ff-3d86dca7316b
enp1s0f1np1:connected:11111111-2222-4333-8444-555555555555
eth0:unmanaged:
"""
CONNECTIONS = "\n".join(
    (
        r"98ce5f70-ca28-4790-87a7-70b13eba1346:/etc/NetworkManager/system-connections/W\: 1.nmconnection:Wired\: 1",
        "7576cfaf-443c-44bc-91ff-3d86dca7316b:/run/NetworkManager/system-connections/enP2p1s0f0np0.nmconnection:x",
        "11111111-2222-4333-8444-555555555555:/run/NetworkManager/system-connections/netplan-x.nmconnection:netplan-x",
    )
)


def test_interfaces_have_their_global_addresses() -> None:
    assert revert.interfaces(ADDRESS) == {
        "enp1s0f0np0": {"mac": MAC, "mtu": 9000, "up": True, "addresses": ["192.0.2.11/24"]},
        "enP7s7": {"mac": "", "mtu": 0, "up": False, "addresses": []},
    }


@pytest.mark.parametrize("text", ["", "[]", "no JSON"])
def test_no_interfaces_where_ip_says_nothing(text: str) -> None:
    assert revert.interfaces(text) == {}


def test_devices_have_the_connection_whose_file_stays() -> None:
    found = seen.devices(STATUS, CONNECTIONS)
    assert found["enp1s0f0np0"] == seen.Device("connected", "98ce5f70-ca28-4790-87a7-70b13eba1346", "Wired: 1")
    assert found["enP2p1s0f0np0"] == seen.Device("connected (externally)")
    assert found["enp1s0f1np1"].by_netplan
    assert found["eth0"] == seen.Device("unmanaged")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("network:\n  ethernets:\n    enp1s0f0np0:\n      mtu: 9000\n", "key"),
        ('network: {ethernets: {"enp1s0f0np0": {mtu: 9000}}}\n', "key"),
        ("    lan:\n      match: {name: en*}\n", "match"),
        ("    lan:\n      set-name: enp1s0f0np0\n", "match"),
        ("    lan:\n      match:\n        macaddress: '4C:BB:47:00:00:01'\n", "match"),
        ("network:\n  ethernets:\n    enP2p1s0f0np0:\n      mtu: 9000\n", ""),
        ("    # enp1s0f0np0:\n", ""),
        ("    enp1s0f0np00:\n", ""),
        ("", ""),
    ],
)
def test_definitions_in_netplan_files(text: str, kind: str) -> None:
    assert seen.in_netplan(text, "enp1s0f0np0", MAC) == kind


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("[connection]\ninterface-name=enp1s0f0np0\n", True),
        ("[connection]\ninterface-name = enp1s0f0np0\n", True),
        ("[connection]\ninterface-name=enp1s0f0np00\n", False),
        ("[connection]\nid=enp1s0f0np0\n", False),
    ],
)
def test_connections_bound_to_an_interface(text: str, bound: bool) -> None:
    assert seen.in_keyfile(text, "enp1s0f0np0") is bound


def test_ranks_count_where_they_talk_to_others_and_in_doubt() -> None:
    files = {
        "/etc/dgxspark-serving/replicas/one.json": '{"world_size": 1}',
        "/etc/dgxspark-serving/replicas/two.json": '{"world_size": 2}',
        "/etc/dgxspark-serving/replicas/cut.json": '{"world',
    }
    assert seen.shared_ranks(["one", "two", "cut", "gone"], files) == ["two", "cut", "gone"]


@pytest.mark.parametrize(
    ("units", "manager", "daemon"),
    [("active\ninactive\n", True, False), ("inactive\nactive\n", False, True), ("", False, False)],
)
def test_a_whole_look(units: str, manager: bool, daemon: bool) -> None:
    raw = Raw(
        files={"/etc/netplan/01-x.yaml": "a", "/etc/NetworkManager/system-connections/x.nmconnection": "b"},
        links={"/usr/libexec/netplan/generate": "/usr/libexec/netplan/generate"},
        outputs={"address": Output(0, ADDRESS), "units": Output(3, units)},
    )
    found = seen.read(raw)
    assert (found.netplan, found.networkmanager, found.networkd) == (True, manager, daemon)
    assert (list(found.netplan_files), list(found.keyfiles), found.ranks) == (
        ["/etc/netplan/01-x.yaml"],
        ["/etc/NetworkManager/system-connections/x.nmconnection"],
        [],
    )
