# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who meets whom on the fabric, and what is written wrongly."""

from __future__ import annotations

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_setup import links


def host(*addresses: str) -> list[dict[str, str]]:
    names = ("enp1s0f0np0", "enP2p1s0f0np0")
    return [{"interface": name, "address": one} for name, one in zip(names, addresses, strict=False)]


PAIR = {"spark1": host("192.0.2.11/24", "198.51.100.11/24"), "spark2": host("192.0.2.12/24", "198.51.100.12/24")}


def test_peers_are_the_hosts_of_the_same_network() -> None:
    assert links.peers("spark1", {**PAIR, "spark3": host("203.0.113.3/24")}) == [
        {"host": "spark2", "address": "192.0.2.12", "interface": "enp1s0f0np0", "source": "192.0.2.11"},
        {"host": "spark2", "address": "198.51.100.12", "interface": "enP2p1s0f0np0", "source": "198.51.100.11"},
    ]


def test_n04_each_host_names_its_own_interface() -> None:
    """The cable is in other cages: each host's peer is reached by that host's own interface."""
    crossed = {
        "spark-a": [{"interface": "enP2p1s0f1np1", "address": "192.0.2.11/24"}],
        "spark-b": [{"interface": "enp1s0f0np0", "address": "192.0.2.12/24"}],
    }
    assert [links.peers(name, crossed)[0]["interface"] for name in crossed] == ["enP2p1s0f1np1", "enp1s0f0np0"]


def test_a_sound_pair_and_a_host_alone_have_no_faults() -> None:
    assert links.faults("spark1", PAIR) == []
    assert links.faults("spark1", {"spark1": host("192.0.2.11/24"), "spark2": []}) == []


@pytest.mark.parametrize(
    ("own", "fault"),
    [
        (
            host("192.0.2.12/24", "198.51.100.11/24"),
            (
                "fabric_links[0].address of enp1s0f0np0 is 192.0.2.12, which spark2 (enp1s0f0np0) has too;"
                " give each interface an address of its own."
            ),
        ),
        (
            host("192.0.2.11/24", "198.51.101.11/24"),
            (
                "enP2p1s0f0np0 is to get 198.51.101.11/24, and no other host has a link in 198.51.101.0/24;"
                " correct the address or its prefix length in fabric_links."
            ),
        ),
        (
            host("192.0.2.0/24", "198.51.100.11/24"),
            (
                "fabric_links[0].address of enp1s0f0np0 is 192.0.2.0/24, the network itself; write the address of the"
                " host in it."
            ),
        ),
        (
            [*host("192.0.2.11/24"), {"interface": "enp1s0f0np0", "address": "198.51.100.11/24"}],
            "fabric_links names enp1s0f0np0 twice; write one entry for each interface.",
        ),
    ],
)
def test_a_slip_of_the_pen_is_refused_before_anything_is_touched(own: list[dict[str, str]], fault: str) -> None:
    assert links.faults("spark1", {**PAIR, "spark1": own}) == [fault]


def test_n14_one_address_for_both_hosts_is_refused_on_both() -> None:
    """group_vars: one address for all hosts."""
    same = {"spark1": host("192.0.2.11/24"), "spark2": host("192.0.2.11/24")}
    assert all("192.0.2.11, which" in links.faults(name, same)[0] for name in same)
