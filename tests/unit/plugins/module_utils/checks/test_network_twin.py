# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The two halves of a QSFP port."""

from __future__ import annotations

import pytest

from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.checks.pretended_spark import (
    FAR,
    LINKS,
    NEAR,
    check,
    spark,
    troubled,
    want,
)


def test_n18_one_half_only() -> None:
    """Field fault N18: NCCL_IB_HCA has one device of the two."""
    one = check("twin", spark(), want(links=LINKS[:1], peers=()))
    assert one.status == "warn"
    assert one.found == f"{NEAR} only; its other half {FAR} is not in fabric_links"
    assert one.remedy == f"Add {FAR} with rdma_device roceP2p1s0f0 to fabric_links, with an address in its own network"
    assert check("twin", spark(), want(links=LINKS[:1], peers=(), world_size=1)).status == "pass"


def test_n18_both_halves() -> None:
    assert check("twin", spark()).found == f"both halves: {NEAR} and {FAR}"


def test_n18_a_half_that_the_host_does_not_show() -> None:
    raw = spark(interfaces={FAR: None})
    one = check("twin", raw, want(links=LINKS[:1], peers=()))
    assert one.status == "warn"
    assert one.found == f"{NEAR} and not its other half, which this host does not show"
    assert "power off" in one.remedy
    assert troubled(raw) == {"interface": "fail"}, "a missing interface of fabric_links is said of the interface"
    assert check("twin", raw).found == "follows from network.interface"


@pytest.mark.parametrize(
    ("other", "status", "found"),
    [
        ((FAR, "192.0.2.13/24"), "pass", f"both halves: {NEAR} and {FAR}; {NEAR} and {FAR} in one network"),
        (("enp1s0f1np1", "192.0.2.14/24"), "warn", f"{NEAR} and enp1s0f1np1 in one network, 192.0.2.0/24"),
    ],
    ids=["halves of one port", "two ports"],
)
def test_n20_two_interfaces_in_one_network(other: tuple[str, str], status: str, found: str) -> None:
    links = [
        {"interface": NEAR, "address": "192.0.2.11/24", "rdma_device": ""},
        {"interface": other[0], "address": other[1], "rdma_device": ""},
    ]
    one = check("twin", spark(), want(links=links, peers=(), transport="socket"))
    assert one.status == status
    assert found in one.found
    if status == "pass":
        assert one.detail.endswith("which works; a network for each is the usual way")


def test_other_interfaces_have_no_halves() -> None:
    links = [{"interface": "enP7s7", "address": "198.51.100.26/24", "rdma_device": ""}]
    one = check("twin", spark(), want(links=links, peers=(), transport="socket"))
    assert (one.status, one.found) == ("skip", "no QSFP interface in fabric_links")
