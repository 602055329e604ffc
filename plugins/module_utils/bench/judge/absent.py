# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Points that only one of two runs has.

A point of the baseline that was asked for now and not measured, as behind a ladder that ended early or at a target that
no longer answered, keeps anybody from saying that nothing changed. One that was not asked for, as when another suite
was chosen, is named and counts for nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.judge import matching

Result = Mapping[str, Any]
Absent = dict[str, Any]

NOT_ASKED = "It was not asked for."
# So many are named in a sentence; the result has all.
MOST_NAMED = 5
_KEPT = ("case", "target", "endpoint", "stream", "load")


def absent(candidate: Result, baseline: Result) -> tuple[list[Absent], list[Absent]]:
    """The points that only the baseline has, and those that only the candidate has.

    Of the first ``asked`` says whether the candidate was to measure it, and ``why`` why it did not, a sentence.
    """
    ours, theirs = ({matching.place(one): one for one in result["points"]} for result in (candidate, baseline))
    unmeasured = {matching.place(one): one for one in candidate.get("not_measured") or ()}
    gone = []
    for place, point in theirs.items():
        if place not in ours:
            found = unmeasured.get(place)
            why = NOT_ASKED if found is None else found["why"]
            gone.append({**_named(point), "asked": found is not None, "why": why})
    return gone, [_named(point) for place, point in ours.items() if place not in theirs]


def sentences(gone: Sequence[Absent], new: Sequence[Absent]) -> list[str]:
    """What a reader must know of them."""
    lost = [one for one in gone if one["asked"]]
    found = []
    if lost:
        why = " ".join(dict.fromkeys(one["why"] for one in lost))
        found.append(f"Not measured now, though asked for and in the baseline: {_ids(lost)}. {why}")
    others = [one for one in gone if not one["asked"]]
    if others:
        found.append(f"In the baseline and not asked for now: {_ids(others)}.")
    if new:
        found.append(f"Measured now and not in the baseline: {_ids(new)}.")
    return found


def _named(point: Mapping[str, Any]) -> Absent:
    return {"point": point["id"], **{key: point[key] for key in _KEPT}}


def _ids(points: Sequence[Absent]) -> str:
    more = f" and {len(points) - MOST_NAMED} more" if len(points) > MOST_NAMED else ""
    return ", ".join(one["point"] for one in points[:MOST_NAMED]) + more
