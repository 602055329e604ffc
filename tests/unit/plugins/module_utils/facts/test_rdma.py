# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which RDMA devices carry the data of an interface."""

from __future__ import annotations

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.facts import netdev, rdma
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.raw import Output, Raw
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.rdma import Device
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.checks.pretended_spark import captured, spark

# Field fault P05: all four are up, and one cable is meant for the cluster.
P05 = """rocep1s0f0 port 1 ==> enp1s0f0np0 (Up)
rocep1s0f1 port 1 ==> enp1s0f1np1 (Up)
roceP2p1s0f0 port 1 ==> enP2p1s0f0np0 (Up)
roceP2p1s0f1 port 1 ==> enP2p1s0f1np1 (Up)"""


def hcas(raw: Raw, interface: str) -> list[str]:
    found = rdma.devices(raw)
    return rdma.hcas_for(interface, found, netdev.ports(raw, [device.netdev for device in found.values()]))


@pytest.mark.parametrize(
    ("interface", "expected"),
    [
        ("enp1s0f0np0", ["rocep1s0f0", "roceP2p1s0f0"]),
        ("enP2p1s0f0np0", ["roceP2p1s0f0", "rocep1s0f0"]),
        ("enp1s0f1np1", ["rocep1s0f1", "roceP2p1s0f1"]),
        ("enP7s7", []),
    ],
)
def test_p05_the_devices_are_that_of_the_interface_and_its_twin(interface: str, expected: list[str]) -> None:
    assert hcas(Raw(outputs={"ibdev2netdev": Output(0, P05)}), interface) == expected
    assert hcas(spark(), interface) == expected, "from /sys alone"


def test_sysfs_comes_before_ibdev2netdev() -> None:
    wrong = Output(0, "rocep1s0f0 port 1 ==> enp1s0f1np1 (Up)\nmlx5_bond_0 port 1 ==> bond0 (Up)\n")
    found = rdma.devices(spark(outputs={"ibdev2netdev": wrong}))
    assert found["rocep1s0f0"] == Device("enp1s0f0np0", "ACTIVE", "LinkUp")
    assert found["rocep1s0f1"] == Device("enp1s0f1np1", "DOWN", "Disabled")
    assert found["mlx5_bond_0"] == Device("bond0")


@pytest.mark.parametrize("text", ["", "ibdev2netdev: command not found", "rocep1s0f0 port 1 ==>"])
def test_text_that_names_no_device(text: str) -> None:
    assert rdma.devices(Raw(outputs={"ibdev2netdev": Output(0, text)})) == {}


def test_what_sparks_print() -> None:
    found = rdma.devices(Raw(outputs={"ibdev2netdev": Output(0, captured("ibdev2netdev.txt"))}))
    assert {name: device.netdev for name, device in found.items()} == {
        "rocep1s0f0": "enp1s0f0np0",
        "rocep1s0f1": "enp1s0f1np1",
        "roceP2p1s0f0": "enP2p1s0f0np0",
        "roceP2p1s0f1": "enP2p1s0f1np1",
    }
