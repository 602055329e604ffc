# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests of who takes from whom."""

from __future__ import annotations

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.fanout.chain import plan

Links = dict[str, list[dict[str, str]]]


def links(**addresses: str) -> Links:
    return {
        host: [{"interface": f"nic{n}", "address": one} for n, one in enumerate(text.split())]
        for host, text in addresses.items()
    }


SWITCH = links(
    a="192.0.2.1/24 198.51.100.1/24",
    b="192.0.2.2/24 198.51.100.2/24",
    c="192.0.2.3/24 198.51.100.3/24",
    d="192.0.2.4/24",
)
# Each two share a cable with a network of its own.
RING = links(a="192.0.2.1/30 192.0.2.5/30", b="192.0.2.2/30 192.0.2.9/30", c="192.0.2.6/30 192.0.2.10/30")
LINE = links(a="192.0.2.1/30", b="192.0.2.2/30 192.0.2.5/30", c="192.0.2.6/30")
STAR = links(a="192.0.2.1/30 192.0.2.5/30", b="192.0.2.2/30", c="192.0.2.6/30")


def test_on_a_switch_all_hosts_are_one_chain_and_use_both_twins() -> None:
    made, faults = plan("a", ["b", "c", "d"], SWITCH)
    assert not faults
    assert made["a"] == {
        "listen": ["192.0.2.1", "198.51.100.1"],
        "peers": ["192.0.2.2", "198.51.100.2", "192.0.2.3", "198.51.100.3", "192.0.2.4"],
        "upstreams": [],
    }
    assert made["c"] == {
        "listen": ["192.0.2.3"],
        "peers": ["192.0.2.4"],
        "upstreams": [["192.0.2.2", "198.51.100.2"], ["192.0.2.1", "198.51.100.1"]],
    }
    assert made["d"] == {"listen": [], "peers": [], "upstreams": [["192.0.2.3"], ["192.0.2.2"], ["192.0.2.1"]]}


@pytest.mark.parametrize(
    ("fabric", "upstreams"),
    [
        (RING, {"b": [["192.0.2.1"]], "c": [["192.0.2.9"], ["192.0.2.5"]]}),
        (LINE, {"b": [["192.0.2.1"]], "c": [["192.0.2.5"]]}),
        (STAR, {"b": [["192.0.2.1"]], "c": [["192.0.2.5"]]}),
    ],
)
def test_with_cables_the_chain_goes_along_them(fabric: Links, upstreams: dict[str, list[list[str]]]) -> None:
    made, faults = plan("a", ["b", "c"], fabric)
    assert not faults
    assert {host: made[host]["upstreams"] for host in ("b", "c")} == upstreams


def test_the_order_of_the_targets_gives_way_to_the_cables() -> None:
    made, faults = plan("a", ["c", "b"], LINE)
    assert (made["c"]["upstreams"], faults) == ([["192.0.2.5"]], [])


def test_a_host_without_the_fabric_is_a_fault_unless_any_network_will_do() -> None:
    fabric = {**RING, "e": [], "f": links(f="203.0.113.6/24")["f"]}
    made, faults = plan("a", ["b", "e", "c", "f"], fabric)
    assert set(made) == {"a", "b", "c"}
    assert faults == [
        f"{host} has {found} in fabric_links, and needs an address in a network of a, or of a host that a reaches."
        " Write its fabric address, or set fanout_network=any to copy over the management network."
        for host, found in (("e", "nothing"), ("f", "203.0.113.6/24"))
    ]
    others = {"a": "10.0.0.1", "e": "10.0.0.5", "f": "10.0.0.6"}
    made, faults = plan("a", ["b", "e", "c", "f"], fabric, others)
    assert not faults
    assert made["e"]["upstreams"] == [["10.0.0.1"]]
    assert made["f"]["upstreams"] == [["10.0.0.5"], ["10.0.0.1"]]
    assert made["a"]["listen"] == ["192.0.2.1", "192.0.2.5", "10.0.0.1"]
    # The fabric stays first where it will do.
    assert made["c"]["upstreams"] == [["192.0.2.9"], ["192.0.2.5"]]


def test_the_same_address_on_two_hosts_is_no_way() -> None:
    assert len(plan("a", ["b"], links(a="192.0.2.1/24", b="192.0.2.1/24"))[1]) == 1


def test_the_source_is_no_target_and_nobody_is_one_twice() -> None:
    made, faults = plan("a", ["a", "b", "b"], SWITCH)
    assert (list(made), faults) == (["a", "b"], [])
