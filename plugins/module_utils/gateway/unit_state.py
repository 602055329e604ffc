# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A unit as systemd shows it, and why its program gave up. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

PROPERTIES = "ActiveState,SubState,UnitFileState,MainPID,NRestarts,ActiveEnterTimestamp"
_WORST = re.compile(r"alert|emerg|error|fatal|exception|cannot|denied|failed|no such", re.IGNORECASE)
# What systemd says of a unit, and HAProxy of processes that end.
_NOISE = re.compile(
    r"Main process exited|Failed with result|Scheduled restart|Consumed |^(?:Starting|Started|Stopp|Reload)|"
    r"(?:Former|Current) worker|exited with code|exit-on-failure"
)
_LEVEL = re.compile(r"^(?:\[\w+\]\s*\(\d+\) : |\d{4}/\d\d/\d\d [\d:]+ \[\w+\] (?:\d+#\d+: )?)")


@dataclass(frozen=True)
class State:
    """A unit as systemd has it now.

    :ivar active: ``active``, ``inactive``, ``failed``, ``activating``, ...
    :ivar enabled: whether it starts at boot
    :ivar pid: of its main process; 0 when there is none
    :ivar restarts: how often systemd has started it again by itself
    :ivar since: Unix seconds at which it became active; None when it never was
    """

    active: str = "inactive"
    sub: str = ""
    enabled: bool = False
    pid: int = 0
    restarts: int = 0
    since: int | None = None


def parse_state(text: str) -> State:
    """Read the answer of ``systemctl show``."""
    said = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
    since = said.get("ActiveEnterTimestamp", "").removeprefix("@")
    return State(
        active=said.get("ActiveState", "inactive"),
        sub=said.get("SubState", ""),
        enabled=said.get("UnitFileState") == "enabled",
        pid=_number(said.get("MainPID", "")),
        restarts=_number(said.get("NRestarts", "")),
        since=int(since) if since.isdigit() and since != "0" else None,
    )


def _number(text: str) -> int:
    return int(text) if text.isdigit() else 0


def cause(text: str) -> str:
    """Why a program gave up, from what it said: its first two complaints, or its last words."""
    lines = list(dict.fromkeys(line.strip() for line in text.splitlines() if line.strip() and not _NOISE.search(line)))
    worst = [line for line in lines if _WORST.search(line)]
    said = [_LEVEL.sub("", line).rstrip(".") for line in (worst or lines[-2:])]
    return " | ".join(list(dict.fromkeys(said))[:2]) or "nothing"
