# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a host says of its sockets, links and memory: an edge, it reads /proc and asks ``ip``."""

from __future__ import annotations

import json
import os
from collections.abc import Collection
from pathlib import Path

from ansible_collections.dgxspark.serving.plugins.module_utils import ports
from ansible_collections.dgxspark.serving.plugins.module_utils.host_problems import Owner
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.host import Runner
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.memory import Memory, parse_meminfo

PROC = Path("/proc")


def listeners() -> list[ports.Listener]:
    """All TCP sockets of the host that listen."""
    found = []
    for name in ("tcp", "tcp6"):
        try:
            found += ports.listeners((PROC / "net" / name).read_text(encoding="ascii"))
        except FileNotFoundError:
            continue  # a kernel without IPv6
    return found


def owners(inodes: Collection[int]) -> dict[int, Owner]:
    """The processes behind sockets, as far as this user may see them."""
    wanted = {f"socket:[{inode}]": inode for inode in inodes}
    found: dict[int, Owner] = {}
    for process in PROC.iterdir():
        if process.name.isdigit() and len(found) < len(wanted):
            for link in _sockets(process):
                if link in wanted:
                    found.setdefault(wanted[link], _owner(process))
    return found


def _sockets(process: Path) -> list[str]:
    links = []
    try:
        for descriptor in (process / "fd").iterdir():
            links.append(os.readlink(descriptor))
    except OSError:
        return links  # another user's, or gone meanwhile
    return links


def _owner(process: Path) -> Owner:
    try:
        command = (process / "comm").read_text(encoding="utf-8", errors="replace").strip()
        cgroup = (process / "cgroup").read_text(encoding="ascii", errors="replace")
    except OSError:
        command, cgroup = "a process that ended meanwhile", ""
    return Owner(int(process.name), command, ports.container_id(cgroup), ports.unit(cgroup))


def addresses(run: Runner) -> dict[str, list[str]]:
    """Addresses of each interface, without prefix lengths."""
    code, out, _err = run(["ip", "-json", "address"])
    return interface_addresses(out) if code == 0 else {}


def interface_addresses(text: str) -> dict[str, list[str]]:
    """Read the answer of ``ip -json address``."""
    return {
        entry["ifname"]: [one["local"] for one in entry.get("addr_info", []) if "local" in one]
        for entry in json.loads(text or "[]")
        if "ifname" in entry
    }


def memory() -> Memory:
    """Memory of the host."""
    return parse_meminfo((PROC / "meminfo").read_text(encoding="ascii"))
