# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernels that run and that boot next."""

from __future__ import annotations

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.facts import kernels
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.raw import Raw

OLD, NEW, GENERIC = "6.17.0-1032-nvidia", "7.0.0-1019-nvidia", "7.0.0-31-generic"
SUBMENU = "Advanced options for Ubuntu>Ubuntu, with Linux"


def raw(*releases: str, **files: str) -> Raw:
    """A /boot with these kernels, and GRUB's files."""
    paths = {"grub": kernels.GRUB, "part": f"{kernels.GRUB_PARTS}50-x.cfg", "environment": kernels.GRUB_ENVIRONMENT}
    return Raw(
        files={paths[name]: text for name, text in files.items()},
        links={f"/boot/vmlinuz-{release}": f"/boot/vmlinuz-{release}" for release in releases},
    )


@pytest.mark.parametrize(
    ("host", "release"),
    [
        (raw(OLD, NEW), NEW),
        (raw("6.17.0-999-nvidia", "6.17.0-1032-nvidia", f"{NEW}.old"), OLD),
        (raw(OLD, NEW, grub="GRUB_DEFAULT=0\n"), NEW),
        (raw(OLD, NEW, grub=f'GRUB_DEFAULT="{SUBMENU} {OLD}"\n'), OLD),
        (raw(OLD, NEW, grub="GRUB_DEFAULT=0\n", part=f'GRUB_DEFAULT="{SUBMENU} {OLD}"\n'), OLD),
        (raw(OLD, NEW, grub="GRUB_DEFAULT=saved\n"), NEW),
        (
            raw(
                OLD, NEW, grub="GRUB_DEFAULT=saved\n", environment=f"saved_entry=gnulinux-advanced-1>gnulinux-{OLD}-1\n"
            ),
            OLD,
        ),
        (raw(OLD, NEW, environment=f"saved_entry=x>gnulinux-{OLD}-1\n"), NEW),
        (raw(OLD, NEW, environment=f"next_entry=x>gnulinux-{OLD}-1\n####"), OLD),
        (raw(OLD, f"{OLD}-64k", grub=f'GRUB_DEFAULT="{SUBMENU} {OLD}-64k"\n'), f"{OLD}-64k"),
        (raw(OLD, GENERIC), GENERIC),
        (raw(OLD, GENERIC, part='GRUB_FLAVOUR_ORDER="nvidia generic"\n'), OLD),
        (raw(OLD, NEW, grub='GRUB_DEFAULT="1>2"\n'), ""),
        (raw(), ""),
    ],
)
def test_which_kernel_boots_next(host: Raw, release: str) -> None:
    assert kernels.boots_next(host) == release


def test_modules_of_packages_of_dkms_and_of_the_installer() -> None:
    paths = [
        f"/lib/modules/{OLD}/kernel/nvidia-580-open/nvidia.ko",
        f"/lib/modules/{NEW}/updates/dkms/nvidia.ko.zst",
        "/lib/modules/6.8.0-1/kernel/drivers/video/nvidia.ko",
    ]
    found = kernels.modules(Raw(links={path: path for path in paths}))
    assert found == {OLD: "nvidia-580-open", NEW: "", "6.8.0-1": ""}


@pytest.mark.parametrize(
    ("release", "breaks"),
    [
        (NEW, True),
        (GENERIC, True),
        ("7.0", True),
        (OLD, False),
        ("7.01.0", False),
        ("6.7.0-1-nvidia", False),
        ("", False),
    ],
)
def test_kernels_7_0_break_rdma(release: str, breaks: bool) -> None:
    assert kernels.breaks_rdma(release) is breaks


@pytest.mark.parametrize(
    ("command_line", "off"),
    [
        ("root=/dev/x ro quiet kho=off", True),
        ('"quiet kho=off"', True),
        ("kho=on", False),
        ("xkho=off", False),
        ("kho=offset", False),
        ("", False),
    ],
)
def test_the_handover_is_switched_off(command_line: str, off: bool) -> None:
    assert kernels.kho_off(command_line) is off


@pytest.mark.parametrize(
    ("meminfo", "holds"),
    [
        ("CmaTotal:              0 kB\nCmaFree:        9750528 kB\n", True),
        ("CmaTotal:              0 kB\nCmaFree:               0 kB\n", False),
        ("CmaTotal:          65536 kB\nCmaFree:           60000 kB\n", False),
        ("MemTotal: 127600748 kB\n", None),
    ],
)
def test_the_handover_shows_in_the_memory(meminfo: str, holds: bool | None) -> None:
    assert kernels.kho_holds_memory(meminfo) is holds
