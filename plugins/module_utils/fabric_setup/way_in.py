# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""By which interfaces Ansible came in: an edge."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_setup import revert


def interfaces() -> dict[str, str]:
    """The interfaces by which Ansible came in, each with what it was found by.

    ``sudo`` takes SSH_CONNECTION away, so it is read from the processes above this one.
    """
    connection = _ssh_connection().split()
    if len(connection) != 4:
        default = _device(["ip", "route", "show", "default"])
        return {default: "the default route leaves by it"} if default else {}
    client, address = connection[0], connection[2]
    found = {
        name: f"its address is {address}"
        for name, state in revert.live(revert.run_process).items()
        if any(one.split("/")[0] == address for one in state["addresses"])
    }
    back = _device(["ip", "route", "get", client])
    return {**({back: f"the way back to {client}"} if back else {}), **found}


def _device(argv: Sequence[str]) -> str:
    """The interface that a line of ``ip route`` names."""
    words = revert.run_process(argv)[1].split()
    return words[words.index("dev") + 1] if "dev" in words[:-1] else ""


def _ssh_connection() -> str:
    process = os.getpid()
    while process > 1:
        try:
            environment = Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
            status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
        except OSError:
            return ""
        for entry in environment:
            if entry.startswith(b"SSH_CONNECTION="):
                return entry.decode(errors="replace").partition("=")[2]
        process = int(status.partition("PPid:")[2].split()[0])
    return ""
