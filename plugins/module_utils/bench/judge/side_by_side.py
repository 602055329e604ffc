# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One metric of many pairs of points, judged together."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.judge import (
    holm,
    margins,
    matching,
    needed,
    verdict,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.judge.verdict import Estimate
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.measure.percentiles import rounded

Point = Mapping[str, Any]


@dataclass(frozen=True)
class Two:
    """Two points that were measured alike.

    :ivar paired: whether their rounds took turns
    """

    candidate: Point
    baseline: Point
    paired: bool = False


@dataclass(frozen=True)
class Judged:
    """What is to be said of one metric of two points; None where not known.

    :ivar candidate: geometric mean of its rounds
    :ivar ratio: of the candidate to the baseline
    :ivar needed_rounds: rounds a side that would settle what is inconclusive
    :ivar note: why there is no verdict, a sentence; else empty
    """

    baseline: float | None
    candidate: float | None
    ratio: float | None = None
    ci95: list[float] | None = None
    verdict: str = verdict.INCONCLUSIVE
    needed_rounds: int | None = None
    note: str = ""


def judged(twos: Sequence[Two], metric: str, limits: Mapping[str, float]) -> list[Judged | None]:
    """One for each; None where neither side has the metric.

    Holm's adjustment is over all of them, so they belong to one report.
    """
    estimates = [_estimate(two, metric) for two in twos]
    tested = [None if one is None else one.p for one in estimates]
    adjusted = holm.adjusted(tested)
    return [
        _without(two, metric) if estimate is None else _with(two, metric, limits, estimate, p)
        for two, estimate, p in zip(twos, estimates, adjusted, strict=True)
    ]


def _estimate(two: Two, metric: str) -> Estimate | None:
    """None when a side is invalid or has no figure."""
    if not (two.candidate["valid"] and two.baseline["valid"]):
        return None
    if two.paired:
        ours, theirs = matching.by_round(two.candidate, metric), matching.by_round(two.baseline, metric)
        both = [(ours[number], theirs[number]) for number in ours if ours[number] and theirs.get(number)]
        if len(both) > 1:
            return verdict.paired([one for one, _other in both], [other for _one, other in both])
    ours, theirs = (matching.figures(point, metric) for point in (two.candidate, two.baseline))
    return verdict.unpaired(ours, theirs) if ours and theirs else None


def _with(two: Two, metric: str, limits: Mapping[str, float], estimate: Estimate, adjusted_p: float | None) -> Judged:
    baseline = _mean(two.baseline, metric)
    margin = margins.of_log_ratio(metric, baseline or 0.0, limits)
    lower = metric in margins.LOWER_IS_BETTER
    word = verdict.verdict(estimate, margin, lower_is_better=lower, adjusted_p=adjusted_p)
    interval = estimate.interval()
    rounds, note = None, ""
    if word == verdict.INCONCLUSIVE:
        # The level that Holm leaves to this one.
        alpha = verdict.ALPHA * estimate.p / adjusted_p if estimate.p and adjusted_p else verdict.ALPHA
        rounds = needed.rounds_to_settle(estimate, margin, alpha)
        note = _why_open(estimate, rounds)
    return Judged(
        baseline=baseline,
        candidate=_mean(two.candidate, metric),
        ratio=rounded(estimate.ratio),
        ci95=None if interval is None else [rounded(end) for end in interval],
        verdict=word,
        needed_rounds=rounds,
        note=note,
    )


def _why_open(estimate: Estimate, rounds: int | None) -> str:
    if estimate.error is None:
        return "One round has no spread: measure two or more on each side, better five."
    if rounds is None:
        return f"The ratio is too close to the margin for {needed.MOST_ROUNDS} rounds a side to tell."
    return ""


def _without(two: Two, metric: str) -> Judged | None:
    found = {"candidate": _mean(two.candidate, metric), "baseline": _mean(two.baseline, metric)}
    if found["candidate"] is None and found["baseline"] is None:
        return None
    for side, point in (("baseline", two.baseline), ("candidate", two.candidate)):
        if not point["valid"]:
            note = f"The {side} is invalid here: {' '.join(point['invalid_reasons'])}"
            return Judged(found["baseline"], found["candidate"], note=note)
    missing = next(side for side, value in found.items() if value is None)
    return Judged(found["baseline"], found["candidate"], note=f"The {missing} has no {metric} here.")


def _mean(point: Point, metric: str) -> float | None:
    values = matching.figures(point, metric)
    return rounded(math.exp(math.fsum(map(math.log, values)) / len(values))) if values else None
