# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What runs on which host, as a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.report.table import table

HEADER = ("host", "replica", "container", "status", "what it says")


def status(seen: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Lines of the status table; each host has at least one row.

    :param seen: for each host what ``replica_info`` returned there, or Ansible's result of a host that did not answer
    """
    rows = []
    for host, result in seen.items():
        if "containers" not in result:
            word = "unreachable" if result.get("unreachable") else "unknown"
            rows.append((host, "-", "-", word, " ".join(str(result.get("msg", "")).split())))
        elif not result["containers"]:
            rows.append((host, "-", "-", "absent", "no engine of dgxspark.serving is on this host"))
        else:
            rows += [
                (host, rank["replica"], rank["name"], rank["status"], _words(rank)) for rank in result["containers"]
            ]
    return table(HEADER, rows)


def _words(rank: Mapping[str, Any]) -> str:
    if rank["status"] != "running":
        killed = ", killed for lack of memory" if rank["oom_killed"] else ""
        return f"exit code {rank['exit_code']}{killed}" if rank["status"] in ("exited", "dead") else ""
    if not rank["api"]:
        return "rank without an API"
    if rank["health"] is None:
        return f"{rank['api']} does not answer: still loading, or hung"
    if rank["health"] != 200:
        return f"/health answers {rank['health']}"
    if rank["served"] is None:
        return "/health answers 200, /v1/models does not"
    return f"/health answers 200, serves {', '.join(rank['served'])}"
