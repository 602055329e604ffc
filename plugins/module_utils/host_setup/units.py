# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What ``systemctl show`` says of the units that a host lives by. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

PROPERTIES = (
    "Id,LoadState,ActiveState,UnitFileState,NeedDaemonReload,MainPID,OOMScoreAdjust,OOMPolicy,LimitMEMLOCK".split(",")
)


@dataclass(frozen=True)
class Unit:
    """A unit as systemd knows it now.

    :ivar there: whether it has a unit file; a masked unit has none
    :ivar masked: whether it may not be started
    :ivar stale: whether its files have changed since systemd read them
    :ivar enabled: systemd's word, such as ``enabled``, ``disabled`` or ``static``
    :ivar pid: of its main process; 0 when there is none
    :ivar memlock: bytes that its processes may lock
    """

    there: bool = False
    masked: bool = False
    active: bool = False
    stale: bool = False
    enabled: str = ""
    pid: int = 0
    oom_score: int = 0
    oom_policy: str = ""
    memlock: float = math.inf


def show(names: Iterable[str]) -> list[str]:
    """The command whose output :func:`parse` reads."""
    return ["systemctl", "show", *names, "--property", ",".join(PROPERTIES)]


def parse(text: str) -> dict[str, Unit]:
    """Units by name, from blocks of ``Key=value`` with an empty line between them."""
    found = {}
    for block in text.split("\n\n"):
        said = dict(line.split("=", 1) for line in block.splitlines() if "=" in line)
        if said.get("Id"):
            found[said["Id"]] = Unit(
                there=said.get("LoadState") == "loaded",
                masked=said.get("LoadState") == "masked",
                active=said.get("ActiveState") in ("active", "reloading", "activating"),
                stale=said.get("NeedDaemonReload") == "yes",
                enabled=said.get("UnitFileState", ""),
                pid=_number(said.get("MainPID", ""), 0),
                oom_score=_number(said.get("OOMScoreAdjust", ""), 0),
                oom_policy=said.get("OOMPolicy", ""),
                memlock=_number(said.get("LimitMEMLOCK", ""), math.inf),
            )
    return found


def _number(text: str, otherwise: float) -> float:
    return int(text) if text.lstrip("-").isdigit() else otherwise
