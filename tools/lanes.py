# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which check may run beside which: the whole of `make test` on two cores and 24 GiB (pure)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

SLOTS = 2
# Light labs wait for each other, for seconds to pass and for ssh: three of them fill the two cores.
LIGHT_SLOTS = 3


class Kind(Enum):
    """What a step takes from the machine."""

    STATIC = "static"  # needs no container: one core at most, little memory
    LAB = "lab"  # light hosts and the engine double: fine beside others of its kind
    HEAVY = "heavy"  # real vLLM or the making of its image: up to 8 GB, beside one light lab at most
    ALONE = "alone"  # what every lab needs first, or what would disturb it: never beside a lab


@dataclass(frozen=True)
class Step:
    """One check: what it is called, the command, what it takes.

    :ivar limit: seconds after which it counts as hung; :ivar seconds: about how long it takes beside others
    """

    name: str
    argv: tuple[str, ...]
    kind: Kind = Kind.STATIC
    limit: int = 1800
    seconds: int = 150


def fits(step: Step, running: Sequence[Step]) -> bool:
    """Say whether a step may start beside those that run."""
    kinds = [other.kind for other in (step, *running)]
    # What runs alone waits for the disk: two checks of files go beside it.
    waiting = Kind.ALONE in kinds and {*kinds} <= {Kind.ALONE, Kind.STATIC}
    light = waiting or all(kind is Kind.LAB for kind in kinds)
    if len(running) >= (LIGHT_SLOTS if light else SLOTS):
        return False
    if step.kind is Kind.STATIC:
        return True
    labs = {other.kind for other in running} - {Kind.STATIC}
    if Kind.ALONE in (step.kind, *labs):
        return not labs
    return step.kind is Kind.LAB or Kind.HEAVY not in labs


def next_step(pending: Sequence[Step], running: Sequence[Step]) -> Step | None:
    """Return the step to start now, or None when a running one has to end first.

    The labs are the long way, so one of them always runs, and static steps go beside it; only when these are used up,
    a light lab goes beside a heavy one, and then light ones run side by side.
    """
    lab_runs = any(step.kind is not Kind.STATIC for step in running)
    able = [step for step in pending if fits(step, running)]
    preferred = [step for step in able if (step.kind is Kind.STATIC) == lab_runs]
    return next(iter(preferred or able), None)


def in_order(steps: Sequence[Step]) -> list[Step]:
    """Return the steps that labs need, then heavy and then light ones, long ones first: short ones fill the lanes."""
    return sorted(steps, key=lambda step: (step.kind is not Kind.ALONE, step.kind is Kind.LAB, -step.seconds))
