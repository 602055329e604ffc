# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ratios with their confidence intervals and the margin, to be drawn as a forest plot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.judge import comparison_text
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result import verdicts
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result.figures import Figure

# More lines than this nobody reads in a picture; the table has them all.
MOST_ROWS = 36


@dataclass(frozen=True)
class Ratio:
    """One line of the plot.

    :ivar margin: the ratios between which a change is none that counts; None where the metric has no margin
    """

    label: str
    ratio: float
    ends: tuple[float, float] | None
    verdict: str
    margin: tuple[float, float] | None


@dataclass(frozen=True)
class Forest(Figure):
    """Ratios around 1."""

    rows: tuple[Ratio, ...]
    x_label: str

    @property
    def span(self) -> tuple[float, float]:
        """What is drawn of the axis: an interval that goes further is cut, for it would hide all others."""
        ratios = [row.ratio for row in self.rows]
        return min(0.5, *ratios) / 1.25, max(2.0, *ratios) * 1.25


def of_comparison(comparison: Mapping[str, Any] | None) -> list[Forest]:
    """Candidate against baseline."""
    if not comparison:
        return []
    margins = comparison.get("margins") or {}
    rows = [_ratio(f"{comparison_text.where(row)}: {row['metric']}", row, margins) for row in comparison["rows"]]
    return _forest("picture-comparison", "comparison", "Against the baseline", rows, "now / before")


def of_pairs(pairs: Sequence[Mapping[str, Any]], margins: Mapping[str, Any]) -> list[Forest]:
    """Targets of one run against each other."""
    rows = [
        _ratio(
            f"{verdicts.pair_place(pair)}: {pair['metric']}",
            pair,
            margins,
        )
        for pair in pairs
    ]
    return _forest("picture-pairs", "pairs", "Pairs within this run", rows, "ratio")


def _ratio(label: str, row: Mapping[str, Any], margins: Mapping[str, Any]) -> Ratio | None:
    if not row["ratio"] or row["ratio"] <= 0:
        return None
    ends = row["ci95"]
    known = bool(ends) and None not in ends and min(ends) > 0
    return Ratio(label, row["ratio"], (ends[0], ends[1]) if known else None, row["verdict"], margin_of(row, margins))


def margin_of(row: Mapping[str, Any], margins: Mapping[str, Any]) -> tuple[float, float] | None:
    """As it was judged, with the milliseconds of TTFT; a row of an earlier day has the share alone."""
    if row.get("margin"):
        return row["margin"][0], row["margin"][1]
    found = margins.get(row["metric"])
    return (1 / (1 + found), 1 + found) if isinstance(found, (int, float)) and 0 < found < 1 else None


def _forest(identity: str, place: str, title: str, rows: Sequence[Ratio | None], x_label: str) -> list[Forest]:
    known = [row for row in rows if row is not None]
    if not known:
        return []
    caption = "Dot: ratio; line: 95 % CI, with an arrow where it goes further; grey: the margin."
    if len(known) > MOST_ROWS:
        caption += f" The first {MOST_ROWS} of {len(known)}."
    return [Forest(identity, place, title, caption, tuple(known[:MOST_ROWS]), x_label)]
