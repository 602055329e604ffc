# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Points that were to be measured and have no figures: without them nobody would see in a result that they lack."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Round = Mapping[str, Any]

ENDED = "The run ended before it."
_KEPT = ("case", "target", "endpoint", "stream", "load")


def points(ordered: Iterable[Round], rounds: Sequence[Round], measured: Iterable[str]) -> list[dict[str, Any]]:
    """Each with ``kind`` and ``why``: what a round of it was skipped for, else that the run ended before it.

    :param ordered: the rounds of the order
    :param rounds: those that ended
    :param measured: ids of the points that have figures
    """
    known = set(measured)
    skipped = {one.get("point"): one for one in rounds if one.get("skipped")}
    found: dict[str, dict[str, Any]] = {}
    for spec in ordered:
        point = spec.get("point")
        if not point or point in known or point in found or spec.get("warmup"):
            continue
        last = skipped.get(point, {})
        kind, why = last.get("skip_kind") or "", last.get("skipped") or ENDED
        found[point] = {"id": point, **{key: spec[key] for key in _KEPT}, "kind": kind, "why": why}
    return list(found.values())
