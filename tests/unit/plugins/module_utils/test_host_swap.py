# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Swap off for good, and back."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.facts import fstab, meminfo, swap
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.fstab import PREFIX
from ansible_collections.dgxspark.serving.plugins.module_utils.host_files import RECORDS
from ansible_collections.dgxspark.serving.plugins.module_utils.host_swap import HostSwap
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.host import Refused
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.swap_host import FSTAB, SwapHost

ZRAM = "systemd-zram-setup@zram0.service"
WANTS = f"{swap.OWN_UNITS}/swap.target.wants"


@pytest.fixture
def host(tmp_path: Path) -> SwapHost:
    return SwapHost(tmp_path)


def snapshot(host: SwapHost) -> dict[str, object]:
    """All that the undo has to bring back: content or target, and mode, by path."""
    found: dict[str, object] = {}
    for path in sorted((host.root / "etc").rglob("*")):
        if path.is_symlink():
            found[str(path)] = os.readlink(path)
        elif path.is_file():
            found[str(path)] = (path.read_bytes(), stat.S_IMODE(path.stat().st_mode))
    return found


def test_off_now_and_for_good_and_back(host: SwapHost) -> None:
    before = snapshot(host)
    done = HostSwap(host).absent(False)
    assert (done.changed, done.devices, host.devices()) == (True, ["/swap.img"], [])
    assert host.read(fstab.PATH) == FSTAB.replace("/swap.img", f"{PREFIX}/swap.img")
    assert not HostSwap(host).absent(False).changed
    assert HostSwap(host).restored(False).changed
    assert snapshot(host) == before
    assert host.devices() == ["/swap.img"]
    assert not host.path(RECORDS).parent.exists()
    assert not HostSwap(host).restored(False).changed


def test_check_mode_only_says_what_it_would_do(host: SwapHost) -> None:
    before = snapshot(host)
    done = HostSwap(host).absent(True)
    assert (done.changed, done.devices) == (True, ["/swap.img"])
    assert done.after == FSTAB.replace("/swap.img", f"{PREFIX}/swap.img")
    assert (snapshot(host), host.devices(), host.said) == (before, ["/swap.img"], [])
    HostSwap(host).absent(False)
    off = snapshot(host)
    assert HostSwap(host).restored(True).changed
    assert (snapshot(host), host.devices()) == (off, [])


def test_a_host_without_swap_is_left_alone(tmp_path: Path) -> None:
    host = SwapHost(tmp_path)
    host.on({})
    host.write(fstab.PATH, "UUID=1 / ext4 defaults 0 1\n/dev/sdb none swap noauto 0 0\n")
    assert not HostSwap(host).absent(False).changed
    assert not HostSwap(host).restored(False).changed
    assert host.said == []
    assert not host.path(RECORDS).exists()


def test_p11_zram_is_stopped_and_masked(host: SwapHost) -> None:
    host.services = {ZRAM}
    host.on({"/dev/zram0": (0, 100)})
    done = HostSwap(host).absent(False)
    assert (done.units, done.services) == ([ZRAM], [ZRAM])
    assert host.said[:2] == [f"systemctl stop {ZRAM}", "swapoff /dev/zram0"]
    assert os.readlink(host.path(f"{swap.OWN_UNITS}/{ZRAM}")) == "/dev/null"
    assert not HostSwap(host).absent(False).changed
    host.said.clear()
    HostSwap(host).restored(False)
    # Its service makes the device; swapon has nothing to do with it.
    assert host.said == [f"systemctl start {ZRAM}"]
    assert not os.path.lexists(host.path(f"{swap.OWN_UNITS}/{ZRAM}"))


@pytest.mark.parametrize("linked", [False, True])
def test_somebodys_own_unit_comes_back_as_it_was(host: SwapHost, linked: bool) -> None:
    own = host.path(f"{swap.OWN_UNITS}/data.swap")
    if linked:
        host.write("/opt/data.swap", "[Swap]\nWhat=/data\n")
        own.parent.mkdir(parents=True)
        own.symlink_to("/opt/data.swap")
    else:
        host.write(f"{swap.OWN_UNITS}/data.swap", "[Swap]\nWhat=/data\n", 0o640)
    host.path(WANTS).mkdir()
    host.path(f"{WANTS}/data.swap").symlink_to("../data.swap")
    before = snapshot(host)
    assert HostSwap(host).absent(False).units == ["data.swap"]
    assert os.readlink(own) == "/dev/null"
    HostSwap(host).restored(False)
    assert snapshot(host) == before


def test_a_unit_that_somebody_unmasked_meanwhile_is_his(host: SwapHost) -> None:
    host.services = {ZRAM}
    HostSwap(host).absent(False)
    host.remove(f"{swap.OWN_UNITS}/{ZRAM}")
    host.write(f"{swap.OWN_UNITS}/{ZRAM}", "[Unit]\n")
    HostSwap(host).restored(False)
    assert host.read(f"{swap.OWN_UNITS}/{ZRAM}") == "[Unit]\n"


def test_swap_that_stays_on_is_said(host: SwapHost) -> None:
    host.stuck = {"/swap.img"}
    with pytest.raises(Refused) as refused:
        HostSwap(host).absent(False)
    assert str(refused.value) == (
        "Swap is still on: /swap.img (swapoff: /swap.img: Cannot allocate memory). Switch it off by hand."
    )
    # What was is known, so that the undo works and another run goes on.
    host.stuck = set()
    assert HostSwap(host).absent(False).devices == ["/swap.img"]
    HostSwap(host).restored(False)
    assert host.read(fstab.PATH) == FSTAB


def test_swapped_out_memory_must_fit(host: SwapHost) -> None:
    host.on({"/swap.img": (3 * 1024 * 1024 + 1, -2)})
    with pytest.raises(Refused, match=r"3\.0 GiB are swapped out, and only 4\.0 GiB of memory are available"):
        HostSwap(host).absent(True)
    assert host.read(fstab.PATH) == FSTAB
    host.write(meminfo.PATH, "MemTotal: 8388608 kB\nMemAvailable: 4194305 kB\n")
    assert HostSwap(host).absent(False).changed


def test_what_does_not_come_back_is_a_warning(host: SwapHost) -> None:
    HostSwap(host).absent(False)
    host.stuck = {"/swap.img"}
    done = HostSwap(host).restored(False)
    assert done.warnings == ["/swap.img did not come on again: swapon: /swap.img: Cannot allocate memory"]
    assert host.read(fstab.PATH) == FSTAB
    assert not host.path(RECORDS).exists()


def test_a_priority_that_was_chosen_comes_back(host: SwapHost) -> None:
    host.on({"/swap.img": (0, -2), "/fast.img": (0, 7)})
    HostSwap(host).absent(False)
    host.said.clear()
    HostSwap(host).restored(False)
    assert host.said == ["swapon /swap.img", "swapon --priority 7 /fast.img"]


def test_rows_come_back_without_the_record_and_whatever_their_bytes(host: SwapHost) -> None:
    path = host.path(fstab.PATH)
    path.write_bytes(b"/dev/sda1 /gr\xf6\xdfe ext4 defaults 0 2\r\n/swap.img none swap sw")
    path.chmod(0o664)
    before = snapshot(host)
    HostSwap(host).absent(False)
    host.forget("swap")
    assert HostSwap(host).restored(False).changed
    assert snapshot(host) == before
