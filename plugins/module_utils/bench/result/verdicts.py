# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What was judged, as rows of tables and as sentences: findings, comparison, pairs and the choice of a layout."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result.headline import Cell, words
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result.numbers import (
    NOT_KNOWN,
    figure,
    interval,
    share,
)

COMPARISON_HEAD = (
    "case",
    "target",
    "N",
    "metric",
    "before",
    "now",
    "ratio (95 % CI)",
    "verdict",
    "rounds to settle it",
)
PAIR_HEAD = ("pair", "case", "load", "metric", "ratio (95 % CI)", "verdict")
DECISION_HEAD = ("aspect", "TP=1 twice", "TP=2", "unit", "better")
_SEVERITIES = {"error": 0, "warning": 1, "info": 2}
_CHOICES = {"tp1x2": "TP=1 twice", "tp2": "TP=2"}


def findings(result: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The worst first."""
    return sorted(result["findings"], key=lambda finding: _SEVERITIES[finding["severity"]])


def comparison_line(comparison: Mapping[str, Any]) -> str:
    """The verdict in one sentence."""
    rows = comparison["rows"]
    baseline = comparison.get("baseline") or {}
    label = f' "{baseline["label"]}"' if baseline.get("label") else ""
    named = f"{baseline.get('run id') or NOT_KNOWN}{label}"
    counts = {
        word: sum(row["verdict"] == word for row in rows)
        for word in ("regression", "inconclusive", "improvement", "no change")
    }
    said = ", ".join(f"{word} {count}" for word, count in counts.items() if count)
    return f"{comparison.get('verdict') or NOT_KNOWN} against {named}" + (f": {said}." if said else ".")


def differences(comparison: Mapping[str, Any]) -> list[str]:
    """What differs between the two runs besides what was measured."""
    found = comparison["guard"]["differences"]
    ending = " (allowed)" if comparison["guard"]["overridden"] else ""
    return [
        f"{_place(one)}: {_value(one.get('baseline'))} before, {_value(one.get('candidate'))} now{ending}"
        for one in found
    ]


def comparison_rows(comparison: Mapping[str, Any]) -> list[tuple[Cell, ...]]:
    """A row for each metric of each point that both runs have."""
    return [
        (
            words(row["case"]),
            words(row["target"]),
            Cell("" if row["n"] is None else str(row["n"])),
            words(row["metric"]),
            _figure(row["baseline"], row["metric"]),
            _figure(row["candidate"], row["metric"]),
            Cell(figure(row["ratio"]), interval(row["ci95"])),
            Cell(row["verdict"], why=str(row.get("note") or ""), is_number=False),
            Cell("" if row["needed_rounds"] is None else str(row["needed_rounds"])),
        )
        for row in comparison["rows"]
    ]


def pair_rows(pairs: Sequence[Mapping[str, Any]]) -> list[tuple[Cell, ...]]:
    """A row for each metric of each pair."""
    return [
        (
            words(pair["name"]),
            words(str(pair.get("case", ""))),
            words(load_words(pair.get("load"))),
            words(pair["metric"]),
            Cell(figure(pair["ratio"]), interval(pair["ci95"])),
            Cell(pair["verdict"], why=str(pair.get("note") or ""), is_number=False),
        )
        for pair in pairs
    ]


def decision_rows(decision: Mapping[str, Any]) -> list[tuple[Cell, ...]]:
    """A row for each aspect."""
    return [
        (
            words(row["aspect"]),
            Cell(figure(row["tp1x2"])),
            Cell(figure(row["tp2"])),
            words(row["unit"]),
            words(choice(row["better"])),
        )
        for row in decision["rows"]
    ]


def choice(word: str) -> str:
    """``tp1x2`` and ``tp2`` as a reader knows them."""
    return _CHOICES.get(word, word)


def load_words(load: Any) -> str:
    """``8 users``; a load may come as the mapping of a round or as text."""
    if not isinstance(load, Mapping):
        return "" if load is None else str(load)
    if load.get("model") == "open":
        return f"{figure(load.get('rate'))} requests/s"
    number = load.get("n")
    return "1 user" if number == 1 else f"{number} users"


def _figure(value: Any, metric: str) -> Cell:
    return Cell(share(value) if metric == "error_rate" else figure(value))


def _place(difference: Mapping[str, Any]) -> str:
    where = difference.get("where")
    return f"{difference['key']} of {where}" if where else str(difference["key"])


def _value(value: Any) -> str:
    return NOT_KNOWN if value is None else str(value)
