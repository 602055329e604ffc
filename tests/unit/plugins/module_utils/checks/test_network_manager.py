# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What sets the addresses at boot."""

from __future__ import annotations

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.checks.check import Check
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.checks.pretended_spark import (
    LINKS,
    NEAR,
    captured,
    check,
    spark,
    want,
)

MANAGER = {"/sys/fs/cgroup/system.slice/NetworkManager.service/cgroup.procs": "812\n"}
NETWORKD = {"/sys/fs/cgroup/systemd/system.slice/systemd-networkd.service/cgroup.procs": "640\n"}
# The interface has number 3 there.
DEVICE, LINK = "/run/NetworkManager/devices/3", "/run/systemd/netif/links/3"
FILE = "10-netplan-enp1s0f0np0.network"
NETWORK = f"/run/systemd/network/{FILE}"
ADDRESS = LINKS[0]["address"]
PROFILE = "/run/NetworkManager/system-connections/netplan-enp1s0f0np0.nmconnection"

STATIC = """[connection]
id=netplan-enp1s0f0np0
uuid=98ce5f70-ca28-4790-87a7-70b13eba1346
type=ethernet
interface-name=enp1s0f0np0

[ethernet]
wake-on-lan=0
mtu=9000

[ipv4]
method=manual
address1=192.0.2.11/25,192.0.2.1

[ipv6]
method=ignore
"""
DHCP = STATIC.replace("method=manual", "method=auto").replace("address1=192.0.2.11/25,192.0.2.1\n", "")


def manager(files: dict[str, str], root: bool = True) -> Check:
    return check("manager", spark(files=files), want(links=LINKS[:1], peers=(), root=root))


@pytest.mark.parametrize(
    ("files", "status", "found"),
    [
        (
            {**MANAGER, DEVICE: captured("networkmanager-device.txt"), PROFILE: STATIC},
            "pass",
            f"{NEAR} by NetworkManager, netplan-enp1s0f0np0",
        ),
        (
            {**MANAGER, DEVICE: captured("networkmanager-device.txt"), PROFILE: DHCP},
            "warn",
            f"NetworkManager manages {NEAR} with the profile netplan-{NEAR}, without {ADDRESS}: it may take it away",
        ),
        (
            {**MANAGER, DEVICE: captured("networkmanager-device-no-profile.txt")},
            "warn",
            f"NetworkManager manages {NEAR} with no profile, without 192.0.2.11/25: it may take it away",
        ),
        (
            {**MANAGER, DEVICE: captured("networkmanager-device.txt"), PROFILE: captured("external.nmconnection")},
            "warn",
            f"192.0.2.11/25 on {NEAR} is in no profile: it is gone after a reboot",
        ),
        (
            {**MANAGER, DEVICE: "[device]\nmanaged=false\n"},
            "skip",
            f"neither NetworkManager nor systemd-networkd manages {NEAR}",
        ),
        (
            {**MANAGER, DEVICE: "managed=true\n"},
            "skip",
            f"neither NetworkManager nor systemd-networkd manages {NEAR}",
        ),
        # What a service leaves behind when it stops.
        (
            {DEVICE: captured("networkmanager-device.txt"), PROFILE: DHCP},
            "skip",
            f"neither NetworkManager nor systemd-networkd manages {NEAR}",
        ),
        (
            {**NETWORKD, LINK: captured("networkd-link-configured.txt"), NETWORK: captured("networkd-netplan.network")},
            "pass",
            f"{NEAR} by systemd-networkd, 10-netplan-enp1s0f0np0.network",
        ),
        (
            {
                **NETWORKD,
                LINK: captured("networkd-link-configured.txt"),
                NETWORK: "[Match]\nName=enp1s0f0np0\n[Network]\nDHCP=yes\n",
                f"/etc{NETWORK[4:]}.d/own.conf": "[Network]\nAddress = 192.0.2.11/25\n",
            },
            "pass",
            f"{NEAR} by systemd-networkd, 10-netplan-enp1s0f0np0.network",
        ),
        (
            {
                **NETWORKD,
                LINK: captured("networkd-link-configured.txt"),
                NETWORK: "[Match]\nName=en*\n[Network]\nDHCP=yes\n",
            },
            "warn",
            f"systemd-networkd manages {NEAR} with the profile {FILE}, without {ADDRESS}: it may take it away",
        ),
        (
            {**NETWORKD, LINK: captured("networkd-link-unmanaged.txt")},
            "skip",
            f"neither NetworkManager nor systemd-networkd manages {NEAR}",
        ),
        # NetworkManager sees what networkd has set, and leaves it.
        (
            {
                **MANAGER,
                **NETWORKD,
                DEVICE: captured("networkmanager-device.txt"),
                PROFILE: captured("external.nmconnection"),
                LINK: captured("networkd-link-configured.txt"),
                NETWORK: captured("networkd-netplan.network"),
            },
            "pass",
            f"{NEAR} by systemd-networkd, 10-netplan-enp1s0f0np0.network",
        ),
    ],
)
def test_who_owns_the_interface(files: dict[str, str], status: str, found: str) -> None:
    one = manager(files)
    assert (one.status, one.found) == (status, found)
    if status == "warn":
        assert one.remedy == "Run the playbook prepare with the tag fabric, which sets it for good"


def test_profiles_are_roots() -> None:
    files = {**MANAGER, DEVICE: captured("networkmanager-device.txt")}
    assert manager(files, root=False).found == "needs become"
    assert manager(files).found.endswith("which cannot be read")


def test_a_secret_of_a_profile_is_never_shown() -> None:
    secret = STATIC + "\n[wifi-security]\npsk=correct-horse\n"
    files = {**MANAGER, DEVICE: captured("networkmanager-device.txt"), PROFILE: secret}
    assert "correct-horse" not in str(manager(files))
