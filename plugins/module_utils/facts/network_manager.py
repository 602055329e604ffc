# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who sets the addresses of an interface: NetworkManager, systemd-networkd, or a hand."""

from __future__ import annotations

import configparser
import re
from collections.abc import Iterator
from dataclasses import dataclass

from ansible_collections.dgxspark.serving.plugins.module_utils.facts.raw import Raw, Sources

NETWORK_MANAGER, NETWORKD = "NetworkManager", "systemd-networkd"

_DEVICES = "/run/NetworkManager/devices"
_PROFILES = ("/run/NetworkManager/system-connections/*", "/etc/NetworkManager/system-connections/*")
_LINKS = "/run/systemd/netif/links"
_NETWORKS = tuple(
    f"{folder}/systemd/network/{pattern}" for folder in ("/run", "/etc") for pattern in ("*.network", "*.network.d/*")
)
# A service that runs has processes in its control group, under whichever version of control groups there is. What the
# service itself writes under /run stays when it stops.
_GROUPS = ("/sys/fs/cgroup/system.slice", "/sys/fs/cgroup/*/system.slice")

# Netplan and systemd write secrets of Wi-Fi into such files too: nothing but what is named here may leave this module.
SOURCES = Sources(
    (
        f"{_DEVICES}/*",
        *_PROFILES,
        f"{_LINKS}/*",
        *_NETWORKS,
        *(f"{group}/{service}.service/cgroup.procs" for group in _GROUPS for service in (NETWORK_MANAGER, NETWORKD)),
    )
)


@dataclass(frozen=True)
class Owner:
    """What has a hand on an interface.

    :ivar by: ``NetworkManager`` or ``systemd-networkd``; empty when it is neither
    :ivar profile: the name of its profile or file; empty when it has none
    :ivar addresses: those that its profile sets, with prefix lengths; None when that could not be read
    :ivar foreign: whether NetworkManager sees an address that something else has set, and leaves it
    """

    by: str
    profile: str = ""
    addresses: tuple[str, ...] | None = None
    foreign: bool = False


def runs(raw: Raw, service: str) -> bool:
    """Whether a service has processes."""
    return any(text.strip() for path, text in raw.files.items() if path.endswith(f"/{service}.service/cgroup.procs"))


def owner(raw: Raw, index: int) -> Owner:
    """Who sets the addresses of an interface.

    :param index: the kernel's number of the interface
    """
    networkd = _networkd(raw, index)
    if networkd or not runs(raw, NETWORK_MANAGER):
        return networkd or Owner("")
    device = _keyfile(raw.text(f"{_DEVICES}/{index}")).get("device", {})
    if device.get("managed") != "true":
        return Owner("")
    uuid = device.get("connection-uuid", "")
    if not uuid:
        return Owner(NETWORK_MANAGER, addresses=())
    for profile in _profiles(raw):
        if profile.get("connection", {}).get("uuid") == uuid:
            return _profile(profile)
    return Owner(NETWORK_MANAGER, uuid)


def _networkd(raw: Raw, index: int) -> Owner | None:
    link = dict(line.split("=", 1) for line in raw.text(f"{_LINKS}/{index}").splitlines() if "=" in line)
    path = link.get("NETWORK_FILE", "")
    if not path or link.get("ADMIN_STATE") == "unmanaged" or not runs(raw, NETWORKD):
        return None
    name = path.rpartition("/")[2]
    texts = [text for found, text in raw.files.items() if found == path or f"/{name}.d/" in found]
    addresses = re.findall(r"(?m)^\s*Address\s*=\s*(\S+)", "\n".join(texts)) if path in raw.files else None
    return Owner(NETWORKD, name, None if addresses is None else tuple(addresses))


def _profile(profile: dict[str, dict[str, str]]) -> Owner:
    if profile.get(".nmmeta", {}).get("external") == "true":
        return Owner("", foreign=True)
    addresses = [
        # A gateway may follow the address.
        value.partition(",")[0].strip()
        for family in ("ipv4", "ipv6")
        for key, value in profile.get(family, {}).items()
        if re.fullmatch(r"address\d*", key)
    ]
    return Owner(NETWORK_MANAGER, profile["connection"].get("id", ""), tuple(addresses))


def _profiles(raw: Raw) -> Iterator[dict[str, dict[str, str]]]:
    for path, text in raw.files.items():
        if "/NetworkManager/system-connections/" in path:
            yield _keyfile(text)


def _keyfile(text: str) -> dict[str, dict[str, str]]:
    parser = configparser.ConfigParser(interpolation=None, strict=False, delimiters=("=",), default_section="")
    try:
        parser.read_string(text)
    except configparser.Error:
        return {}
    return {section: dict(parser[section]) for section in parser.sections()}
