# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All checks of the preflight, in the order in which they are shown. docs/troubleshooting.md explains each."""

from __future__ import annotations

from collections.abc import Iterable

GROUPS = {
    "plan": ("configuration",),
    "host": ("reachable",),
    "machine": ("architecture", "os", "python", "hostname", "time_sync", "rdma_kernel", "next_kernel"),
    "gpu": ("driver", "visible", "runtime", "container", "clocks", "processes"),
    "memory": ("need", "leftover", "utilization", "swap", "swap_returns", "pressure"),
    "kernel": ("sysctl", "sysctl_boot", "sysctl_files", "memlock", "remove_ipc"),
    "docker": ("engine", "version", "access", "storage", "disk", "names"),
    "network": (
        "interface",
        "mtu",
        "speed",
        "address",
        "twin",
        "pcie",
        "rdma_device",
        "gid_index",
        "infiniband",
        "route",
        "jumbo",
        "ports",
        "manager",
    ),
    "image": ("present", "architecture"),
    "model": ("complete", "memory"),
    "across": ("driver", "image", "versions", "model", "mtu", "address", "clock"),
}
IDS = tuple(f"{group}.{word}" for group, words in GROUPS.items() for word in words)


def unknown(names: Iterable[str]) -> list[str]:
    """Names that no check has."""
    return [name for name in names if name not in IDS]
