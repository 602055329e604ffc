# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names and addresses of a lab."""

from __future__ import annotations

import ipaddress

import pytest

from lab.errors import LabError
from lab.names import check_lab_name, fabric_container, management_address, network_name, plan_host, plan_hosts


@pytest.mark.parametrize("name", ["demo", "a", "tp2-ray", "x" * 32])
def test_good_names(name: str) -> None:
    assert check_lab_name(name) == name


@pytest.mark.parametrize("name", ["", "-a", "a-", "Demo", "a_b", "a/b", "..", "x" * 33, "a b", "a\n"])
def test_names_that_no_container_can_carry(name: str) -> None:
    with pytest.raises(LabError, match="cannot be a lab's name"):
        check_lab_name(name)


def test_everything_is_named_after_the_lab() -> None:
    host = plan_host("tp2", 1)
    names = [host.container, host.volume, network_name("tp2"), fabric_container("tp2")]
    assert all(name.startswith("dgxspark-tp2") for name in names)
    assert len(set(names)) == len(names)


def test_two_labs_share_no_name() -> None:
    one, other = plan_host("a", 1), plan_host("b", 1)
    assert {one.container, one.volume}.isdisjoint({other.container, other.volume})


def test_twins_are_in_a_subnet_each() -> None:
    host = plan_host("demo", 2)
    assert [(link.interface, link.rdma_device, link.address) for link in host.links] == [
        ("enp1s0f0np0", "rocep1s0f0", "10.100.0.2/24"),
        ("enP2p1s0f0np0", "roceP2p1s0f0", "10.100.1.2/24"),
    ]
    networks = [ipaddress.IPv4Interface(link.address).network for link in host.links]
    assert not networks[0].overlaps(networks[1])


def test_forty_hosts_have_different_addresses_and_names_that_the_kernel_takes() -> None:
    links = [link for host in plan_hosts("demo", 40) for link in host.links]
    assert len({link.address for link in links}) == 80
    assert len({link.mac for link in links}) == 80
    assert len({link.far_end for link in links}) == 80
    assert all(len(f"{link.far_end}in") <= 15 for link in links)


@pytest.mark.parametrize("count", [0, -1, 41])
def test_number_of_hosts_has_limits(count: int) -> None:
    with pytest.raises(LabError, match=r"1 to 40 hosts"):
        plan_hosts("demo", count)


def test_port_of_a_host() -> None:
    host = plan_host("demo", 1)
    assert host.chosen_links(None) == host.links
    assert [link.interface for link in host.chosen_links("enP2p1s0f0np0")] == ["enP2p1s0f0np0"]
    with pytest.raises(LabError, match=r"spark1 has no fabric port 'eth0'; its ports are enp1s0f0np0, enP2p1s0f0np0"):
        host.chosen_links("eth0")


def test_management_address() -> None:
    assert management_address("172.18.0.0/16", 1) == "172.18.0.11"
    with pytest.raises(LabError, match="too small"):
        management_address("192.168.0.0/28", 5)
