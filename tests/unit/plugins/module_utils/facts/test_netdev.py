# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The QSFP port behind an interface."""

from __future__ import annotations

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.facts import netdev
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.raw import Raw


def test_p07_halves_are_grouped_by_port_and_not_by_pci_address() -> None:
    addresses = {"enp1s0f0np0": "0000:01:00.0", "enP2p1s0f0np0": "0002:01:00.0", "enp1s0f1np1": "0000:01:00.1"}
    raw = Raw(links={f"/sys/class/net/{name}/device": f"/sys/devices/{pci}" for name, pci in addresses.items()})
    assert netdev.ports(raw, addresses) == {"0": ["enp1s0f0np0", "enP2p1s0f0np0"], "1": ["enp1s0f1np1"]}


@pytest.mark.parametrize(
    ("interface", "port_name", "port"),
    [
        ("enp1s0f0np0", "", "0"),
        ("enP2p1s0f1np1", "p1", "1"),
        ("enP2p1s0f1", "", "1"),
        # As one release names it, and as an administrator may.
        ("enP2p1s1np1", "", "1"),
        ("fabric0", "p0", "0"),
        ("fabric0", "", ""),
        ("enP7s7", "", ""),
        ("wlP9s9", "", ""),
        ("enp1s0f0v3", "", ""),
        ("enp1s0f0np0", "pf0vf1", "0"),
        ("docker0", "", ""),
    ],
)
def test_port(interface: str, port_name: str, port: str) -> None:
    assert netdev.port_of(interface, port_name) == port


@pytest.mark.parametrize(("text", "speed"), [("200000\n", 200000), ("-1\n", None), ("0\n", None), ("", None)])
def test_speed(text: str, speed: int | None) -> None:
    assert netdev.speed(Raw({"/sys/class/net/enp1s0f0np0/speed": text}), "enp1s0f0np0") == speed
