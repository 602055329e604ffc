# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What switches swap on."""

from __future__ import annotations

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.facts import swap
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.raw import Output, Raw
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.swap import Swap

HEADER = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"
P11_SWAPS = "Filename Type Size Used Priority\n/dev/zram0 partition 8388604 0 100\n"
P11_UNITS = (
    "dev-zram0.swap loaded active active Compressed Swap on /dev/zram0\n"
    "systemd-zram-setup@zram0.service loaded active exited Create swap on /dev/zram0\n"
)
GENERATOR = "/run/systemd/generator"


def names(raw: Raw) -> list[str]:
    return [one.name for one in swap.returns(raw)]


def test_p11_zram_comes_back_although_fstab_has_no_swap() -> None:
    raw = Raw({"/etc/fstab": "UUID=1 / ext4 defaults 0 1\n"}, outputs={swap.LISTED: Output(0, P11_UNITS)})
    assert swap.swaps(P11_SWAPS) == [Swap("/dev/zram0", 8388604 * 1024, 0, 100)]
    assert names(raw) == ["dev-zram0.swap", "systemd-zram-setup@zram0.service"]
    assert swap.active_services(P11_UNITS) == ["systemd-zram-setup@zram0.service"]


def test_p11_what_is_masked_does_not_come_back() -> None:
    masks = {f"{swap.OWN_UNITS}/{name}": "/dev/null" for name in ("dev-zram0.swap", "systemd-zram-setup@zram0.service")}
    assert names(Raw(links=masks, outputs={swap.LISTED: Output(0, P11_UNITS)})) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (HEADER, []),
        ("", []),
        (HEADER + "/swap.img file 8388604 12 -2\n", [Swap("/swap.img", 8388604 * 1024, 12 * 1024, -2)]),
        (HEADER + "/my\\040swap file 4 0 5\n/cut file", [Swap("/my swap", 4096, 0, 5)]),
    ],
)
def test_swaps(text: str, expected: list[Swap]) -> None:
    assert swap.swaps(text) == expected


def test_a_row_of_fstab_and_the_unit_made_from_it_are_one() -> None:
    made = {
        "/etc/fstab": "/swap.img none swap sw 0 0\n",
        f"{GENERATOR}/swap.img.swap": "SourcePath=/etc/fstab\n[Swap]\n",
    }
    links = {f"{GENERATOR}/swap.target.requires/swap.img.swap": f"{GENERATOR}/swap.img.swap"}
    listed = Output(0, "swap.img.swap loaded active active /swap.img\n")
    [row] = swap.returns(Raw(made, links, {swap.LISTED: listed}))
    assert (str(row), row.unit) == ("/swap.img (/etc/fstab line 1)", False)
    # The unit is there until the next boot, and does not come back then.
    assert names(Raw({**made, "/etc/fstab": ""}, links, {swap.LISTED: listed})) == []


@pytest.mark.parametrize(
    ("files", "links", "expected"),
    [
        # Somebody's own unit; one that nothing starts; one that the partition table makes.
        ({}, {"/etc/systemd/system/swap.target.wants/a.swap": "/etc/systemd/system/a.swap"}, ["a.swap"]),
        ({}, {"/etc/systemd/system/a.swap": "/etc/systemd/system/a.swap"}, []),
        (
            {},
            {f"{GENERATOR}.late/swap.target.wants/dev-sda3.swap": f"{GENERATOR}.late/dev-sda3.swap"},
            ["dev-sda3.swap"],
        ),
        (
            {},
            {f"{swap.OWN_UNITS}/multi-user.target.wants/zramswap.service": "/usr/lib/systemd/system/zramswap.service"},
            ["zramswap.service"],
        ),
        (
            {},
            {"/etc/systemd/system/multi-user.target.wants/ssh.service": "/usr/lib/systemd/system/ssh.service"},
            [],
        ),
        (
            {"/etc/systemd/zram-generator.conf": "# ours\n[zram0]\nzram-size = ram\n[zram1]\nmount-point = /tmp\n"},
            {swap.ZRAM_GENERATOR: swap.ZRAM_GENERATOR},
            ["dev-zram0.swap"],
        ),
        (
            {"/etc/systemd/zram-generator.conf.d/a.conf": "[zram0]\nfs-type = swap\n[zram2]\nfs-type=ext4\n"},
            {swap.ZRAM_GENERATOR: swap.ZRAM_GENERATOR},
            ["dev-zram0.swap"],
        ),
        ({"/etc/systemd/zram-generator.conf": "[zram0]\n"}, {}, []),
    ],
)
def test_returns(files: dict[str, str], links: dict[str, str], expected: list[str]) -> None:
    assert names(Raw(files, links)) == expected


def test_a_cut_or_failed_list_of_units_says_nothing() -> None:
    assert names(Raw(outputs={swap.LISTED: Output(1, "dev-zram0.swap loaded\n\nFailed to connect to bus\n")})) == []
