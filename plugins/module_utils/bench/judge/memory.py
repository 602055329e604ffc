# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The least memory that hosts had free while a layout was measured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.judge.layouts import Sides

Point = Mapping[str, Any]

GIB = 2**30
# Free memory moves by a little all the time.
MARGIN = 0.05


def row(sides: Sides, snapshots: Mapping[str, Any]) -> dict[str, Any]:
    """A row of the decision page."""
    found = {"tp1x2": _least(sides.tp1x2, snapshots), "tp2": _least(sides.tp2, snapshots)}
    one, two = found["tp1x2"], found["tp2"]
    better = "not known"
    if one is not None and two is not None:
        alike = abs(one - two) <= MARGIN * max(one, two)
        better = "no difference" if alike else ("tp1x2" if one > two else "tp2")
    note = "" if better != "not known" else "No snapshot was taken while both layouts were measured."
    return {"aspect": "least memory available on a host", **found, "unit": "GiB", "better": better, "note": note}


def words(least: Mapping[str, Any], names: Mapping[str, str]) -> str:
    """The same as a sentence with a space before it; empty when it is not known.

    :param names: of the layouts
    """
    one, two = least["tp1x2"], least["tp2"]
    if one is None or two is None:
        return ""
    return f" Of this run's model {one:.1f} GiB were left with {names['tp1x2']}, {two:.1f} GiB with {names['tp2']}."


def _least(points: Iterable[Point], snapshots: Mapping[str, Any]) -> float | None:
    """Over all hosts, while a round of these points ran."""
    spans = [
        (one["began"], one["began"] + one["seconds"])
        for point in points
        for one in point["rounds"]
        if one.get("began") is not None and one.get("seconds") is not None
    ]
    free = [
        sample["mem"]["available"]
        for seen in snapshots.values()
        for sample in _samples(seen)
        if (sample.get("mem") or {}).get("available") is not None
        and any(start <= sample["t"] <= end for start, end in spans)
    ]
    return round(min(free) / GIB, 2) if free else None


def _samples(seen: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """As the sampler gives them, or split as a result keeps them."""
    if "samples" in seen:
        return list(seen["samples"])
    return [one for one in (seen.get("before"), *seen.get("during", ()), seen.get("after")) if one is not None]
