# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Print all of a host that the role host may change, one line for each thing, so that two looks can be compared."""

from __future__ import annotations

import hashlib
import os
import subprocess
from pathlib import Path

SERVICES = ("ssh", "docker", "containerd", "earlyoom", "dgxspark-gpu-clock")
PROPERTIES = "Id,LoadState,ActiveState,UnitFileState,OOMScoreAdjust,OOMPolicy,LimitMEMLOCK,DropInPaths"
TREES = ("/etc", "/var/lib/dgxspark-serving", "/usr/local")
# Copies that their tools make of the file before, and an index that each installation writes anew.
NOT_OURS = ("/etc/passwd-", "/etc/group-", "/etc/shadow-", "/etc/gshadow-", "/etc/ld.so.cache")
SETTINGS = ("^net[.]core", "^net[.]ipv4[.]tcp_(rmem|wmem|congestion|mtu)", "^vm[.]swappiness")


def said(*argv: str) -> list[str]:
    """Lines of a command's output."""
    return subprocess.run(argv, capture_output=True, text=True, check=False).stdout.splitlines()


def entry(path: Path) -> str:
    """One line for a file, link or folder."""
    if path.is_symlink():
        return f"{path} -> {os.readlink(path)}"
    mode = f"{path} {path.lstat().st_mode:o} {path.owner()}:{path.group()}"
    return mode if path.is_dir() else f"{mode} {hashlib.sha256(path.read_bytes()).hexdigest()}"


def lines() -> list[str]:
    """Everything."""
    found = [entry(path) for tree in TREES for path in sorted(Path(tree).rglob("*")) if str(path) not in NOT_OURS]
    # What is used of it changes by itself.
    found += [" ".join(line.split()[:3]) for line in Path("/proc/swaps").read_text(encoding="ascii").splitlines()]
    for pattern in SETTINGS:
        found += said("sysctl", "--all", "--pattern", pattern)
    found += said("dpkg-query", "--show", "--showformat", "${db:Status-Abbrev} ${Package} ${Version}\\n")
    found += said("systemctl", "show", *SERVICES, "--property", PROPERTIES)
    found += said("id", "nvidia")
    return found


if __name__ == "__main__":
    print("\n".join(lines()))
