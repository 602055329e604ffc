# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What sort of machine a host is: container or not, operating system, names in /etc/hosts, clock. Pure."""

from __future__ import annotations

from ansible_collections.dgxspark.serving.plugins.module_utils.facts.raw import Raw, Sources

CONTAINER = "/run/systemd/container"
INIT_ENVIRONMENT = "/proc/1/environ"
DOCKER_MARK = "/.dockerenv"
SYSTEMD = "/run/systemd/system"
OS_RELEASE = "/etc/os-release"
DGX_RELEASE = "/etc/dgx-release"
HOSTNAME = "/proc/sys/kernel/hostname"
HOSTS = "/etc/hosts"
UNAME = "uname"
TIME = "timedatectl"

SOURCES = Sources(
    files=(CONTAINER, INIT_ENVIRONMENT, OS_RELEASE, DGX_RELEASE, HOSTNAME, HOSTS),
    links=(DOCKER_MARK, SYSTEMD),
    commands={
        # It starts a service of its own, which is a pity in a container: its clock is the machine's.
        TIME: ("sh", "-c", f"[ -s {CONTAINER} ] || exec timedatectl show"),
    },
)


def in_container(raw: Raw) -> bool:
    """Whether the host is a container, so that kernel, clock and PCIe are those of another machine."""
    environment = raw.text(INIT_ENVIRONMENT).split("\0")
    return (
        bool(raw.text(CONTAINER))
        or DOCKER_MARK in raw.links
        or any(entry.startswith("container=") and entry != "container=" for entry in environment)
    )


def assignments(text: str) -> dict[str, str]:
    """``KEY=VALUE`` lines, as os-release, dgx-release and ``timedatectl show`` have them; the last of a key counts."""
    found = {}
    for line in text.splitlines():
        key, equals, value = line.strip().partition("=")
        if equals and not key.startswith("#"):
            found[key] = value.strip().strip("\"'")
    return found


def dgx_os(text: str) -> str:
    """The version of DGX OS in ``/etc/dgx-release``, updates over the network counted; empty on another system."""
    found = assignments(text)
    return found.get("DGX_OTA_VERSION") or found.get("DGX_SWBUILD_VERSION", "")


def numbers(version: str) -> tuple[int, ...]:
    """The leading numbers of a version, to compare: ``24.04`` is (24, 4), ``26.1.5+dfsg1`` is (26, 1, 5)."""
    found: list[int] = []
    for part in version.split("."):
        digits = part[: len(part) - len(part.lstrip("0123456789"))]
        if not digits:
            break
        found.append(int(digits))
        if digits != part:
            break
    return tuple(found)


def addresses_of(hosts: str, name: str) -> list[str]:
    """Addresses that ``/etc/hosts`` gives a name."""
    rows = [line.partition("#")[0].split() for line in hosts.splitlines()]
    return [row[0] for row in rows if name in row[1:]]
