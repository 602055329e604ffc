# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The verdicts on each link of a host."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.checks import ids, network
from ansible_collections.dgxspark.serving.plugins.module_utils.checks.want import Want
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.raw import MISSING, Output, Raw
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.checks.pretended_spark import (
    FAR,
    LINKS,
    NEAR,
    PEERS,
    captured,
    check,
    spark,
    troubled,
    want,
)

DARK = {"flags": ["NO-CARRIER", "BROADCAST", "MULTICAST", "UP"], "operstate": "DOWN"}
LIT = {"flags": ["BROADCAST", "MULTICAST", "UP", "LOWER_UP"], "operstate": "UP"}


def test_a_healthy_spark_passes() -> None:
    found = {one.id: one for one in network.checks(spark(), want())}
    assert list(found) == [name for name in ids.IDS if name.startswith("network.") and name != "network.ports"]
    assert {name: one.found for name, one in found.items() if one.status != "pass"} == {
        "network.gid_index": "fabric_gid_index is not set, so NCCL chooses",
        "network.manager": f"neither NetworkManager nor systemd-networkd manages {NEAR};"
        f" neither NetworkManager nor systemd-networkd manages {FAR}",
    }
    assert found["network.interface"].found == f"{NEAR} up; {FAR} up"
    assert found["network.pcie"].found == f"{NEAR} x4 at 32 GT/s; {FAR} x4 at 32 GT/s"
    assert found["network.jumbo"].found == f"9000 bytes on {NEAR}; 9000 bytes on {FAR}"


def test_a_clean_lab_host_is_at_no_fault() -> None:
    links = [
        {"interface": NEAR, "address": "10.100.0.1/24", "rdma_device": ""},
        {"interface": FAR, "address": "10.100.1.1/24", "rdma_device": ""},
    ]
    raw = Raw(
        {f"/sys/class/net/{NEAR}/speed": "10000\n"}, {}, {"ip address": Output(0, captured("ip-address-lab.json"))}
    )
    wish = want(links=links, peers=(), transport="socket")
    assert troubled(raw, wish) == {}
    assert check("speed", raw, wish).found.startswith(f"{NEAR} is a virtual interface")
    assert network.facts(raw, wish) == {
        "mtu": {NEAR: 9000, FAR: 9000},
        "addresses": {NEAR: ["10.100.0.1/24"], FAR: ["10.100.1.1/24"]},
        "silent": [],
    }


def test_without_links_nothing_is_read_and_all_is_skipped() -> None:
    wish = Want(world_size=1)
    assert network.sources(wish).commands == {} and network.sources(wish).files == ()
    assert {(one.status, one.found) for one in network.checks(Raw(), wish)} == {("skip", "no fabric_links")}
    assert network.facts(Raw(), wish) == {"mtu": {}, "addresses": {}, "silent": []}


@pytest.mark.parametrize(
    "output",
    [
        Output(MISSING),
        Output(0, ""),
        Output(0, "[{"),
        Output(0, '{"ifname": "lo"}'),
        Output(0, "[{},{}]"),
        Output(255, "", 'Option "-json" is unknown, try "ip -help".'),
    ],
)
def test_what_ip_says_may_be_anything(output: Output) -> None:
    found = network.checks(spark(outputs={"ip address": output}), want())
    assert {one.status for one in found} == {"skip"}
    assert found[0].found.startswith("ip -json address gave ")


def test_only_rdma_asks_for_rdma() -> None:
    plain, roce = (network.sources(want(transport=transport)) for transport in ("socket", "roce"))
    assert not any("infiniband" in path for path in (*plain.files, *plain.links))
    assert "ibdev2netdev" not in plain.commands
    assert any("infiniband" in path for path in roce.links)
    assert not any("/gids/" in path for path in roce.files)
    pinned = network.sources(want(gid_index=20)).files
    assert "/sys/class/infiniband/roceP2p1s0f0/ports/1/gids/20" in pinned


@pytest.mark.parametrize(
    ("interfaces", "found", "remedy"),
    [
        (
            {NEAR: None},
            f"no interface {NEAR}; there are enP2p1s0f0np0, enP2p1s0f1np1, enP7s7, enp1s0f1np1, wlP9s9",
            "Write this host's own interface into its fabric_links: names differ with the cage the cable is in",
        ),
        (
            {NEAR: {"flags": ["BROADCAST", "MULTICAST"], "operstate": "DOWN"}},
            f"{NEAR} is down",
            f"Run ip link set {NEAR} up; the playbook prepare with the tag fabric sets it for good",
        ),
        (
            {NEAR: DARK},
            f"{NEAR} has no carrier",
            "Plug in the QSFP cable at both ends, and see that the other host is on",
        ),
        (
            {NEAR: DARK, "enp1s0f1np1": LIT},
            f"{NEAR} has no carrier",
            "Name enp1s0f1np1 in fabric_links, for the cable is in that cage, or move the cable",
        ),
    ],
    ids=["none", "down", "pulled", "n04 the other cage"],
)
def test_n04_the_interface_is_checked_on_each_host(interfaces: dict[str, Any], found: str, remedy: str) -> None:
    raw = spark(interfaces=interfaces)
    one = check("interface", raw)
    assert (one.status, one.found, one.remedy) == ("fail", found, remedy)
    assert troubled(raw) == {"interface": "fail"}, "a cause is named once"
    assert check("interface", raw, want(world_size=1)).status == "warn", "one host needs no fabric"
    assert check("jumbo", raw).found == f"9000 bytes on {FAR}"


def test_n04_each_host_has_an_interface_of_its_own() -> None:
    """Field fault N04's two hosts: the cable is in the other cage of each."""
    a = want(links=[{"interface": "enP2p1s0f1np1", "address": "192.0.2.11/24", "rdma_device": "roceP2p1s0f1"}])
    b = want(links=[{"interface": NEAR, "address": "192.0.2.11/25", "rdma_device": "rocep1s0f0"}])
    assert check("interface", spark(), a).found == "enP2p1s0f1np1 has no carrier"
    assert NEAR in check("interface", spark(), a).remedy
    assert check("interface", spark(), b).status == "pass"


# Interfaces of field fault N03's host, whose management NIC is enP7s7 and which has neither eth0 nor a default route.
N03 = """[
  {"ifname": "lo", "addr_info": [{"local": "127.0.0.1", "prefixlen": 8}]},
  {"ifname": "enP7s7", "addr_info": [{"local": "198.51.100.26", "prefixlen": 24}]},
  {"ifname": "enp1s0f0np0", "addr_info": [{"local": "192.0.2.11", "prefixlen": 24}]}
]"""


def test_n03_the_interface_is_that_of_the_route_to_the_peer() -> None:
    outputs = {
        "ip address": Output(0, N03),
        "route 192.0.2.12": Output(0, '[{"dst":"192.0.2.12","dev":"enp1s0f0np0","prefsrc":"192.0.2.11","flags":[]}]'),
    }
    link = {"interface": NEAR, "address": "192.0.2.11/24", "rdma_device": ""}
    wish = want(links=[link], peers=PEERS[:1], transport="socket")
    raw = spark(outputs=outputs)
    assert troubled(raw, wish) == {"twin": "warn"}
    assert check("route", raw, wish).found == f"peers by {NEAR}"
    wrong = want(links=[{**link, "interface": "eth0"}], peers=[], transport="socket")
    found = check("interface", raw, wrong)
    assert found.status == "fail"
    assert found.found == "no interface eth0; there are enP7s7, enp1s0f0np0; enp1s0f0np0 has 192.0.2.11"


def address_of(interface: str, *addresses: str) -> dict[str, Any]:
    rows = [dict(zip(("local", "prefixlen"), one.split("/"), strict=True)) for one in addresses]
    return {interface: {"addr_info": [{**row, "prefixlen": int(row["prefixlen"])} for row in rows]}}


@pytest.mark.parametrize(
    ("interfaces", "status", "found"),
    [
        (address_of(NEAR), "fail", f"{NEAR} with no address; this host does not own 192.0.2.11"),
        (
            address_of(NEAR, "203.0.113.1/24"),
            "fail",
            f"{NEAR} with 203.0.113.1/24; this host does not own 192.0.2.11",
        ),
        (
            {**address_of(NEAR), **address_of("enP7s7", "192.0.2.11/25")},
            "fail",
            f"{NEAR} with no address; enP7s7 has 192.0.2.11",
        ),
        (address_of(NEAR, "192.0.2.11/16"), "warn", f"{NEAR} with 192.0.2.11/16"),
    ],
    ids=["n14 none", "n14 another", "n03 on another interface", "another network"],
)
def test_n14_the_address_is_on_the_host(interfaces: dict[str, Any], status: str, found: str) -> None:
    raw = spark(interfaces=interfaces)
    one = check("address", raw)
    assert (one.status, one.found, one.wanted) == (status, found, f"{NEAR} with 192.0.2.11/25")
    assert troubled(raw) == {"address": status}


def test_n14_the_address_of_the_head_on_both_hosts() -> None:
    """Field fault N14: a group variable gives the head's address to the second host."""
    link = {"interface": NEAR, "address": "192.0.2.11/24", "rdma_device": "rocep1s0f0"}
    raw = spark(interfaces=address_of(NEAR, "192.0.2.12/24"))
    found = check("address", raw, want(host="spark-b", links=[link], peers=()))
    assert found.status == "fail"
    assert found.found == f"{NEAR} with 192.0.2.12/24; this host does not own 192.0.2.11"


@pytest.mark.parametrize(
    ("mtu", "status"), [(9000, "pass"), (9216, "pass"), (1500, "warn"), (8999, "warn"), (None, "skip")]
)
def test_mtu(mtu: int | None, status: str) -> None:
    raw = spark(interfaces={NEAR: {"mtu": mtu}, FAR: {"mtu": mtu}})
    one = check("mtu", raw)
    assert one.status == status
    if status == "warn":
        assert one.found == f"{NEAR} {mtu}; {FAR} {mtu}" and one.wanted == "9000"
        assert check("jumbo", raw).found == "follows from network.mtu"


@pytest.mark.parametrize(
    ("speed", "status"), [("200000", "pass"), ("100000", "warn"), ("-1", "skip"), ("", "skip"), (None, "skip")]
)
def test_speed(speed: str | None, status: str) -> None:
    files = {f"/sys/class/net/{name}/speed": speed for name in (NEAR, FAR)}
    one = check("speed", spark(files=files))
    assert one.status == status
    if status == "warn":
        assert one.found == f"{NEAR} 100000 Mb/s; {FAR} 100000 Mb/s" and one.wanted == "200000 Mb/s"


@pytest.mark.parametrize(
    ("file", "text", "status", "found"),
    [
        ("current_link_width", "2", "warn", f"{FAR} x2 at 32 GT/s"),
        ("current_link_speed", "16.0 GT/s PCIe", "warn", f"{FAR} x4 at 16 GT/s"),
        ("current_link_width", "63", "pass", f"{NEAR} x4 at 32 GT/s"),
        ("current_link_width", None, "pass", f"{NEAR} x4 at 32 GT/s"),
        ("current_link_speed", "Unknown", "pass", f"{NEAR} x4 at 32 GT/s"),
    ],
    ids=["two lanes", "slow lanes", "asleep", "not there", "unknown"],
)
def test_pcie(file: str, text: str | None, status: str, found: str) -> None:
    one = check("pcie", spark(files={f"/sys/class/net/{FAR}/device/{file}": text}))
    assert (one.status, one.found) == (status, found)
    if status == "warn":
        assert one.wanted == "x4 at 32 GT/s" and "fwupdmgr" in one.remedy


def test_all_that_is_wrong_is_said_at_once() -> None:
    raw = spark(interfaces={NEAR: {"mtu": 1500}, **address_of(FAR, "203.0.113.1/24")})
    assert troubled(raw) == {"mtu": "warn", "address": "fail"}
    both = check("address", spark(interfaces={**address_of(NEAR), **address_of(FAR, "192.0.2.139/24")}))
    assert both.found == f"{NEAR} with no address; this host does not own 192.0.2.11; {FAR} with 192.0.2.139/24"
    assert LINKS[0]["address"] in both.wanted and LINKS[1]["address"] in both.wanted
