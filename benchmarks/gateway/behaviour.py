# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All of a target's behaviour, one scenario after the other."""

from __future__ import annotations

import signal
from dataclasses import dataclass

from benchmarks.gateway import faults
from benchmarks.gateway.faults import Event, Full
from benchmarks.gateway.stage import Stage
from benchmarks.gateway.targets import Target, claims


@dataclass
class Behaviour:
    """Events, generations per error, seconds until a client's leave is seen. None: the target does not claim it."""

    killed: Event
    stopped: Event
    hung: Event
    drained: Event | None
    generations: int
    unchanged: bool
    left_stream: float
    left_whole: float
    full: Full | None
    race: int = 0


def behaviour(stage: Stage, target: Target, users: int) -> Behaviour:
    """Go through all scenarios.

    :param users: more than all engines and the queue take
    """
    faults.settle(stage, target)
    killed = faults.ended(stage, target, signal.SIGKILL)
    faults.settle(stage, target)
    stopped = faults.ended(stage, target, signal.SIGTERM)
    faults.settle(stage, target)
    drained = faults.drained(stage, target) if claims(target, "drain") else None
    generations, unchanged = faults.engine_error(stage, target)
    left_stream, left_whole = (faults.left(stage, target, stream) for stream in (True, False))
    full = faults.full(stage, target, users) if claims(target, "queue") else None
    faults.settle(stage, target)
    hung = faults.hung(stage, target)
    return Behaviour(killed, stopped, hung, drained, generations, unchanged, left_stream, left_whole, full)
