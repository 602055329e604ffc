# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two runs beside each other: for each figure of each point that both have, whether it got better or worse.

A change counts when it is beyond its margin and more than chance; Holm's adjustment over the points of the report keeps
the chance of a false alarm for each metric at that of one comparison. Of failures any more are a regression.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.judge import (
    comparable,
    margins,
    matching,
    verdict,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.judge.absent import absent, sentences
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.judge.side_by_side import Judged, Two, judged
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.measure.percentiles import rounded
from ansible_collections.dgxspark.serving.plugins.module_utils.faults import ConfigurationError, Fault

Result = Mapping[str, Any]
Point = Mapping[str, Any]

# The worst first.
WORST = (verdict.REGRESSION, verdict.INCONCLUSIVE, verdict.IMPROVEMENT, verdict.NO_CHANGE)
# Shares are rounded to six decimals.
_ROUNDED = 1e-6
EXIT_CODES = ((verdict.REGRESSION, 1), (verdict.INCONCLUSIVE, 3))


def compare(
    candidate: Result,
    baseline: Result,
    given_margins: Mapping[str, Any] | None = None,
    allow_differences: Sequence[str] | bool = (),
) -> dict[str, Any]:
    """The comparison of two results, both of the schema that is read here.

    :param given_margins: laid over the defaults
    :param allow_differences: keys of :data:`comparable.KEYS` that may differ
    :raises ConfigurationError: when they cannot be compared, with each reason
    """
    allowed, faults = comparable.allowed_keys(allow_differences)
    limits: dict[str, float] = {}
    try:
        limits = margins.laid_over(given_margins)
    except ConfigurationError as error:
        faults = [*error.faults, *faults]
    common = _common(candidate["points"], baseline["points"])
    found = comparable.differences(candidate, baseline, [(two.candidate, two.baseline) for two in common])
    faults += comparable.refusals(found, allowed) if common else [_nothing_common(candidate, baseline)]
    if faults:
        raise ConfigurationError(faults)
    rows = _rows(common, limits, matching.natural(candidate["cases"]))
    gone, new = absent(candidate, baseline)
    said = {row["verdict"] for row in rows}
    if any(one["asked"] for one in gone):
        said.add(verdict.INCONCLUSIVE)
    worst = next(word for word in WORST if word in said)
    run = baseline["run"]
    return {
        "baseline": {"run id": run["id"], "started": run["started"], "label": run["label"]},
        "margins": limits,
        "rows": rows,
        "guard": {"differences": found, "overridden": bool(found)},
        "notes": [*comparable.notes(candidate, baseline), *sentences(gone, new), *_of_ladders(common)],
        "only_in_baseline": gone,
        "only_now": new,
        "verdict": worst,
        "exit_code": dict(EXIT_CODES).get(worst, 0),
    }


def _common(ours: Iterable[Point], theirs: Iterable[Point]) -> list[Two]:
    known = {matching.place(one): one for one in theirs}
    pairs = [(one, known.get(matching.place(one))) for one in ours]
    return [Two(one, other) for one, other in pairs if other is not None]


def _nothing_common(candidate: Result, baseline: Result) -> Fault:
    found, wanted = (
        ", ".join(one["id"] for one in result["points"][:3]) or "no points" for result in (candidate, baseline)
    )
    remedy = "Measure the same suite against targets of the same names"
    return Fault("points of the candidate", found, f"one that the baseline has, too; it has {wanted}", remedy)


def _rows(common: Sequence[Two], limits: Mapping[str, float], natural: set[str]) -> list[dict[str, Any]]:
    """The metrics of each point, and its failures last."""
    columns: list[tuple[str, list[Judged | None]]] = []
    for metric in limits:
        if metric != margins.TTFT_LEAST:
            columns.append((metric, _column(common, metric, limits, natural)))
    columns.append((margins.ERRORS, [_failures(two) for two in common]))
    return [
        _row(two, metric, found)
        for place, two in enumerate(common)
        for metric, column in columns
        if (found := column[place]) is not None
    ]


def _of_ladders(common: Sequence[Two]) -> list[str]:
    if not any(matching.is_step(two.candidate) for two in common):
        return []
    return ["A step of a ladder is one round, which has no spread: of its figures the failures alone are compared."]


def _column(common: Sequence[Two], metric: str, limits: Mapping[str, float], natural: set[str]) -> list[Judged | None]:
    """Aligned with ``common``; None where the metric is not compared."""
    compared = [
        place
        for place, two in enumerate(common)
        if matching.is_compared(two.candidate, metric, natural) and not matching.is_step(two.candidate)
    ]
    found = dict(zip(compared, judged([common[place] for place in compared], metric, limits), strict=True))
    return [found.get(place) for place in range(len(common))]


def _failures(two: Two) -> Judged:
    """Invalid points, too: of requests that failed none is late."""
    summaries = (two.baseline["summary"], two.candidate["summary"])
    before, now = (summary.get(margins.ERRORS, {}).get("value") for summary in summaries)
    if before is None or now is None:
        return Judged(before, now, note="How many requests failed is not known of both.")
    more = _more_failed(two, before, now)
    word = verdict.NO_CHANGE
    if more:
        word = verdict.REGRESSION if more > 0 else verdict.IMPROVEMENT
    kinds = ", ".join(f"{kind} {count}" for kind, count in two.candidate["errors"].items())
    note = f"Failed now: {kinds}." if word == verdict.REGRESSION and kinds else ""
    return Judged(before, now, ratio=rounded(now / before) if before else None, verdict=word, note=note)


def _more_failed(two: Two, before: float, now: float) -> float:
    """Above 0 when more requests failed than the baseline's share of them, below when fewer.

    Runs differ a little in how many requests they send, so that the same failures are another share: what is less than
    one request apart is the same.
    """
    failed = sum(two.candidate["errors"].values())
    sent = failed / now if now else (two.candidate["summary"].get("e2el_ms") or {}).get("n")
    if not sent:
        return now - before
    more = failed - before * sent
    return more if abs(more) > 1 - _ROUNDED * sent else 0.0


def _row(two: Two, metric: str, found: Judged) -> dict[str, Any]:
    point = two.candidate
    return {
        "case": point["case"],
        "target": point["target"],
        "endpoint": point["endpoint"],
        "stream": point["stream"],
        "load": point["load"],
        "n": point["load"].get("n"),
        "metric": metric,
        **vars(found),
        "point": point["id"],
    }
