# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How many requests were under way, from their records. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

STEADY_SHARE = 0.95
# A steady window shorter than this says nothing.
SHORTEST_S = 1.0
# A dip shorter than this is one user going from one request to the next.
DIP_S = 0.02


def concurrency(records: Sequence[Mapping[str, Any]], seconds: float) -> dict[str, float | int | None]:
    """Mean over time and peak of the requests under way."""
    area = sum(max(0.0, min(one["t_end"], seconds) - one["t_write"]) for one in records)
    peak = max((level for _begin, _end, level in _levels(records)), default=0)
    return {"mean": round(area / seconds, 3) if seconds > 0 else None, "peak": peak}


def steady(records: Sequence[Mapping[str, Any]], users: int) -> dict[str, float] | None:
    """The longest stretch with nearly all users at work; None when there is none of a second."""
    enough = STEADY_SHARE * users
    best = begin = end = None
    for start, stop, level in _levels(records):
        if level < enough:
            continue
        if begin is None or end is None or start - end > DIP_S:
            begin = start
        end = stop
        if best is None or end - begin > best[1] - best[0]:
            best = (begin, end)
    if best is None or best[1] - best[0] < SHORTEST_S:
        return None
    return {"t0": round(best[0], 6), "t1": round(best[1], 6)}


def _levels(records: Sequence[Mapping[str, Any]]) -> Iterator[tuple[float, float, int]]:
    """Give begin, end and number of requests of each stretch of time in which that number stays."""
    steps = [(one["t_write"], 1) for one in records] + [(one["t_end"], -1) for one in records]
    # At the same time an end goes first: it made room for the beginning.
    steps.sort()
    level, since = 0, 0.0
    for when, step in steps:
        if when > since and level > 0:
            yield since, when, level
        level, since = level + step, when
