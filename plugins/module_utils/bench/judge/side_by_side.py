# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One metric of many pairs of points, judged together."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
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
    :ivar names: of the candidate and the baseline, in notes
    """

    candidate: Point
    baseline: Point
    paired: bool = False
    names: tuple[str, str] = ("The candidate", "The baseline")


@dataclass(frozen=True)
class Judged:
    """What is to be said of one metric of two points; None where not known.

    :ivar candidate: geometric mean of its rounds
    :ivar ratio: of the candidate to the baseline
    :ivar needed_rounds: rounds a side that would settle what is inconclusive
    :ivar note: why there is no verdict, a sentence; else empty
    :ivar margin: the ratios between which a change is none that counts
    """

    baseline: float | None
    candidate: float | None
    ratio: float | None = None
    ci95: list[float] | None = None
    verdict: str = verdict.INCONCLUSIVE
    needed_rounds: int | None = None
    note: str = ""
    margin: list[float] | None = None


def judged(twos: Sequence[Two], metric: str, limits: Mapping[str, float]) -> list[Judged | None]:
    """One for each; None where neither side has the metric.

    Holm's adjustment is over all of them, so they belong to one report.
    """
    estimates = [_estimate(two, metric) for two in twos]
    tested = [None if one is None else one.p for one in estimates]
    adjusted = holm.adjusted(tested)
    among = sum(p is not None for p in tested)
    return [
        _without(two, metric) if estimate is None else _with(two, metric, limits, estimate, _Adjusted(p, among))
        for two, estimate, p in zip(twos, estimates, adjusted, strict=True)
    ]


@dataclass(frozen=True)
class _Adjusted:
    """A probability as Holm adjusts it, and among how many that was."""

    p: float | None
    among: int


def _estimate(two: Two, metric: str) -> Estimate | None:
    """None when nothing can be said: a side is invalid, has no figure or one of 0, or both were asked otherwise."""
    if not (two.candidate["valid"] and two.baseline["valid"]) or _unlike(two, metric):
        return None
    ours, theirs = (matching.figures(point, metric) for point in (two.candidate, two.baseline))
    if not ours or not theirs or min(*ours, *theirs) <= 0:
        return None
    if two.paired:
        by_number = matching.by_round(two.candidate, metric), matching.by_round(two.baseline, metric)
        both = [(mine, other) for number, mine in by_number[0].items() if mine and (other := by_number[1].get(number))]
        if len(both) > 1:
            return verdict.paired([mine for mine, _other in both], [other for _mine, other in both])
    return verdict.unpaired(ours, theirs)


def _unlike(two: Two, metric: str) -> str:
    """Why the figures of two points are not of the same thing, a sentence; empty when they are."""
    if metric in matching.OF_TOKENS:
        for name, point in _sides(two):
            source = point.get("token_source")
            if source in matching.NOT_COUNTED:
                how = "nobody counted" if source == "none" else "were not all counted alike"
                return f"{name} has answers whose tokens {how}, so figures of tokens are not judged here."
    now, before = (point["load"].get("rate") for _name, point in _sides(two))
    if two.candidate["load"].get("share") and now and before and max(now / before, before / now) > matching.LIKE_RATES:
        return f"The same share of another knee: {before:.3g} requests/s there, {now:.3g} here."
    return ""


def _sides(two: Two) -> tuple[tuple[str, Point], tuple[str, Point]]:
    """Each with its name, which begins a sentence."""
    return (two.names[0], two.candidate), (two.names[1], two.baseline)


def _with(two: Two, metric: str, limits: Mapping[str, float], estimate: Estimate, adjusted: _Adjusted) -> Judged:
    baseline = _mean(two.baseline, metric)
    margin = margins.of_log_ratio(metric, baseline or 0.0, limits)
    lower = metric in margins.LOWER_IS_BETTER
    word = verdict.verdict(estimate, margin, lower_is_better=lower, adjusted_p=adjusted.p)
    interval = estimate.interval()
    rounds, note = None, ""
    if word == verdict.INCONCLUSIVE:
        # The level that Holm leaves to this one.
        alpha = verdict.ALPHA * estimate.p / adjusted.p if estimate.p and adjusted.p else verdict.ALPHA
        rounds = needed.rounds_to_settle(estimate, margin, alpha)
        alone = verdict.verdict(estimate, margin, lower_is_better=lower)
        note = _why_open(estimate, rounds, alone, adjusted.among)
    return Judged(
        baseline=baseline,
        candidate=_mean(two.candidate, metric),
        ratio=rounded(estimate.ratio),
        ci95=None if interval is None else [rounded(end) for end in interval],
        verdict=word,
        needed_rounds=rounds,
        note=" ".join(filter(None, [note, _counted(two, metric)])),
        margin=[rounded(math.exp(-margin[0])), rounded(math.exp(margin[1]))],
    )


def _counted(two: Two, metric: str) -> str:
    """A text has a few tokens more or fewer by itself than it had when the engine made it."""
    sources = [(name, point.get("token_source")) for name, point in _sides(two)]
    known = {source for _name, source in sources if source is not None}
    if metric not in matching.OF_TOKENS or len(known) < len(sources):
        return ""
    return "Tokens were not counted alike: " + ", ".join(f"{name}: {source}" for name, source in sources) + "."


def _why_open(estimate: Estimate, rounds: int | None, alone: str, among: int) -> str:
    if estimate.error is None:
        return "One round has no spread: measure two or more on each side, better five."
    if alone != verdict.INCONCLUSIVE:
        return f"By itself this is {_article(alone)}; one so great comes by chance among {among} comparisons (Holm)."
    if rounds is None:
        return f"The ratio is too close to the margin for {needed.MOST_ROUNDS} rounds a side to tell."
    return ""


def _article(word: str) -> str:
    return f"an {word}" if word == verdict.IMPROVEMENT else f"a {word}"


def _without(two: Two, metric: str) -> Judged | None:
    before, now = _mean(two.baseline, metric), _mean(two.candidate, metric)
    if before is None and now is None:
        return None
    for name, point in reversed(_sides(two)):
        if not point["valid"]:
            return Judged(before, now, note=f"{name} is invalid here: {' '.join(point['invalid_reasons'])}")
    if note := _unlike(two, metric):
        return Judged(before, now, note=note)
    if before is not None and now is not None:
        return _of_nothing(two, metric, before, now)
    missing = two.names[1] if before is None else two.names[0]
    return Judged(before, now, note=f"{missing} has no {metric} here.")


def _of_nothing(two: Two, metric: str, before: float, now: float) -> Judged:
    """Where a round has 0, such as no request within the limits of goodput, there is no ratio of means of logs."""
    ours, theirs = (matching.figures(point, metric) for point in (two.candidate, two.baseline))
    if not any(ours) and not any(theirs):
        return Judged(before, now, verdict=verdict.NO_CHANGE)
    apart = max(ours) == 0 < min(theirs) or max(theirs) == 0 < min(ours)
    if not apart or min(len(ours), len(theirs)) < 2:
        return Judged(before, now, note=f"Some rounds have a {metric} of 0, which has no ratio to others.")
    less_is_better = metric in margins.LOWER_IS_BETTER
    better = (now < before) == less_is_better
    name = two.names[1] if before == 0 else two.names[0]
    return Judged(
        before,
        now,
        verdict=verdict.IMPROVEMENT if better else verdict.REGRESSION,
        note=f"{name} has a {metric} of 0 in all rounds, the other side in none.",
    )


def _mean(point: Point, metric: str) -> float | None:
    """Geometric; arithmetic where a round has 0."""
    values = matching.figures(point, metric)
    if not values:
        return None
    return rounded(fmean(values) if min(values) <= 0 else math.exp(fmean(map(math.log, values))))
