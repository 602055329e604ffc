# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line of earlyoom. Pure.

earlyoom looks at a process's name (15 characters at most) and at the kernel's score, in which memory of the GPU does
not count: without a preference it would end anything but the engine that holds the memory.
"""

from __future__ import annotations

PREFER = "^(VLLM::|EngineCore|vllm|ray::|sglang)"
# Those without which nobody can reach the host any more. Our supervisors have a score of their own that spares them.
AVOID = (
    "^(sshd.*|dockerd|containerd.*|runc|systemd.*|\\(sd-pam\\)|init|dbus.*|NetworkManager|wpa_supplicant|nvidia-persiste"
    "|earlyoom)$"
)
PROGRAM = "/usr/bin/earlyoom"
KIB = 1024**2  # in a GiB


def command(free: float, prefer: str = PREFER, avoid: str = AVOID) -> list[str]:
    """What earlyoom is started with.

    :param free: GiB available under which it asks the engine to end; at half of it, it kills
    """
    most = round(free * KIB)
    # Free swap is no reason to wait: a host that swaps is not usable before its swap is full.
    swap = ["-s", "100,100"]
    return [PROGRAM, "-r", "3600", "-M", f"{most},{most // 2}", *swap, "--prefer", prefer, "--avoid", avoid]
