# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What of the lab is there before a run, and taking down what the run added to it."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from lab.docker_engine import connect

LAB = (sys.executable, "-m", "lab")
LABEL = "dgxspark.lab"


@dataclass(frozen=True)
class LabState:
    """Whether a Docker Engine answers, and the names of the labs in it."""

    engine: bool
    labs: frozenset[str]


def lab_state() -> LabState:
    """Look at the machine."""
    client = connect()
    if client is None:
        return LabState(engine=False, labs=frozenset())
    with_label = client.containers.list(all=True, filters={"label": LABEL}, ignore_removed=True)
    return LabState(engine=True, labs=frozenset(container.labels[LABEL] for container in with_label))


def clean_up_commands(before: LabState, after: LabState) -> list[list[str]]:
    """Return the commands that bring the labs back to how they were: labs and engines that were there before stay."""
    if not before.engine:
        return [[*LAB, "down", "--all", "--engine-too"]] if after.engine else []
    return [[*LAB, "down", "--name", name] for name in sorted(after.labs - before.labs)]
