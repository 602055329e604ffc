# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A host whose swap pretends."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ansible_collections.dgxspark.serving.plugins.module_utils.facts import fstab, meminfo, swap
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.raw import MISSING, Output
from ansible_collections.dgxspark.serving.plugins.module_utils.host_files import HostFiles

HEADER = "Filename\tType\tSize\tUsed\tPriority\n"
FSTAB = "# swap was on /dev/sda3\nUUID=1 / ext4 defaults 0 1\n/swap.img\tnone\tswap\tsw  \n#/old none swap sw 0 0\n"


class SwapHost(HostFiles):
    """Files under a folder, and the commands of systemd and of swap.

    :ivar said: the commands that were run
    :ivar stuck: devices that swapoff and swapon refuse
    :ivar services: services of swap that are up
    """

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.said: list[str] = []
        self.stuck: set[str] = set()
        self.services: set[str] = set()
        self.write(fstab.PATH, FSTAB)
        self.write(meminfo.PATH, "MemTotal: 8388608 kB\nMemAvailable: 4194304 kB\n")
        self.on({"/swap.img": (0, -2)})

    def on(self, devices: dict[str, tuple[int, int]]) -> None:
        """Set what is on: KiB in use and priority, by device."""
        rows = [f"{device} file 8388604 {used} {priority}\n" for device, (used, priority) in devices.items()]
        self.write(swap.SWAPS, HEADER + "".join(rows))

    def devices(self) -> list[str]:
        return [one.device for one in swap.swaps(self.read(swap.SWAPS) or "")]

    def run(self, argv: Sequence[str]) -> Output:
        if "list-units" in argv:
            return Output(0, "".join(f"{name} loaded active exited Swap\n" for name in sorted(self.services)))
        self.said.append(" ".join(argv))
        if argv[0] in ("swapoff", "swapon"):
            device = argv[-1]
            if device in self.stuck:
                return Output(255, err=f"{argv[0]}: {device}: Cannot allocate memory\n")
            there = {one.device: (0, one.priority) for one in swap.swaps(self.read(swap.SWAPS) or "")}
            self.on(
                {
                    name: kept
                    for name, kept in {**there, device: (0, -2)}.items()
                    if argv[0] == "swapon" or name != device
                }
            )
            return Output(0)
        if argv[:2] == ["systemctl", "stop"]:
            self.services -= set(argv[2:])
            return Output(0)
        if argv[:2] == ["systemctl", "start"]:
            self.services |= set(argv[2:])
            return Output(0)
        return Output(MISSING)
