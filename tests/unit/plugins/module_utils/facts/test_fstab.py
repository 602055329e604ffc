# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of fstab for swap."""

from __future__ import annotations

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.facts import fstab
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.fstab import PREFIX, Row

P10 = (
    "# swap was on /dev/nvme0n1p3 during installation\n"
    "/swap.img\tnone\tswap\tsw\n"
    "#/old.img none swap sw 0 0\n"
    "UUID=1111-2222 /mnt/swap\\040data ext4 defaults 0 2\n"
)
P12 = "/swap.img none swap sw 0 0\n/dev/nvme1n1p2 none swap sw,noauto 0 0\n"


def test_p10_only_the_row_of_type_swap_is_taken_out() -> None:
    lines = P10.splitlines(keepends=True)
    assert fstab.rows(P10) == [Row(2, "/swap.img", ("sw",))]
    assert fstab.commented(P10) == "".join([lines[0], PREFIX + lines[1], *lines[2:]])


def test_p10_a_second_run_changes_nothing() -> None:
    once = fstab.commented(P10)
    assert fstab.commented(once) == once


def test_p12_only_the_named_device_is_taken_out() -> None:
    first, second = P12.splitlines(keepends=True)
    assert fstab.commented(P12, ["/swap.img"]) == PREFIX + first + second
    assert fstab.commented(P12, ["/dev/other"]) == P12


def test_p12_a_row_that_is_not_for_the_boot_stays() -> None:
    first, second = P12.splitlines(keepends=True)
    assert fstab.commented(P12) == PREFIX + first + second


@pytest.mark.parametrize(
    ("line", "device"),
    [
        ("/swap.img none swap", "/swap.img"),
        ("  LABEL=swap  swap  swap  defaults,pri=5 0 0 ", "LABEL=swap"),
        ("/my\\040swap\tnone\tswap\tsw\t0\t0\r", "/my swap"),
        ("/swap /mnt/a ext4 defaults 0 0", None),
        ("/dev/sda1 /swap btrfs subvol=swap 0 0", None),
        ("  # /swap.img none swap sw 0 0", None),
        ("/swap.img none", None),
        ("", None),
    ],
)
def test_rows(line: str, device: str | None) -> None:
    assert [row.device for row in fstab.rows(f"# one\n{line}\n")] == ([device] if device else [])


@pytest.mark.parametrize("text", [P10, P12, P10.rstrip("\n"), P10.replace("\n", "\r\n"), "", "\n\n/a none swap\n\n"])
def test_restored_byte_for_byte(text: str) -> None:
    assert fstab.restored(fstab.commented(text)) == text


def test_restored_when_other_rows_changed() -> None:
    taken_out = fstab.commented(P10).replace("ext4", "xfs") + "/dev/sdb1 /data ext4 defaults 0 2\n"
    assert fstab.restored(taken_out) == P10.replace("ext4", "xfs") + "/dev/sdb1 /data ext4 defaults 0 2\n"
