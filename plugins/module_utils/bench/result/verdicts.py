# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What was judged, as rows of tables and as sentences: findings, comparison, pairs and the choice of a layout."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.judge import absent, comparison_text
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result import headline
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
    "load",
    "metric",
    "before",
    "now",
    "ratio (95 % CI)",
    "verdict",
    "rounds to settle it",
)
PAIR_HEAD = ("pair", "case", "load", "metric", "ratio (95 % CI)", "verdict")
_SEVERITIES = {"error": 0, "warning": 1, "info": 2}
# So many places of a note are named; the table marks them all.
MOST_PLACES = 3


def findings(result: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The worst first."""
    return sorted(result["findings"], key=lambda finding: _SEVERITIES[finding["severity"]])


def comparison_line(comparison: Mapping[str, Any]) -> str:
    """The verdict in one sentence, with the margins that it hangs on."""
    rows = comparison["rows"]
    baseline = comparison.get("baseline") or {}
    label = f' "{baseline["label"]}"' if baseline.get("label") else ""
    named = f"{baseline.get('run id') or NOT_KNOWN}{label}"
    counts = {
        word: sum(row["verdict"] == word for row in rows)
        for word in ("regression", "inconclusive", "improvement", "no change")
    }
    said = ", ".join(f"{word} {count}" for word, count in counts.items() if count)
    margins = comparison_text.margins_words(comparison.get("margins") or {})
    by = f" Margins: {margins}." if margins else ""
    return f"{comparison.get('verdict') or NOT_KNOWN} against {named}" + (f": {said}." if said else ".") + by


def differences(comparison: Mapping[str, Any]) -> list[str]:
    """What differs between the two runs besides what was measured."""
    found = comparison["guard"]["differences"]
    ending = " (allowed)" if comparison["guard"]["overridden"] else ""
    return [
        f"{_place(one)}: {_value(one.get('baseline'))} before, {_value(one.get('candidate'))} now{ending}"
        for one in found
    ] + list(comparison.get("notes") or [])


def only_on_one_side(comparison: Mapping[str, Any]) -> list[str]:
    """Points that only one of the two runs has, in sentences."""
    return absent.sentences(comparison.get("only_in_baseline") or (), comparison.get("only_now") or ())


def comparison_rows(comparison: Mapping[str, Any]) -> list[tuple[Cell, ...]]:
    """A row for each metric of each point that both runs have."""
    return [
        (
            words(headline.case_of(row)),
            words(row["target"]),
            Cell(headline.tagged_load(headline.of_row(row))),
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
            words(headline.case_of(pair)),
            Cell(headline.tagged_load(headline.of_row(pair))),
            words(pair["metric"]),
            Cell(figure(pair["ratio"]), interval(pair["ci95"])),
            Cell(pair["verdict"], why=" ".join(filter(None, (pair["note"], pair["unlike"]))), is_number=False),
        )
        for pair in pairs
    ]


def comparison_notes(comparison: Mapping[str, Any]) -> list[str]:
    """Each note of its rows once, with where it holds."""
    return _notes((f"{comparison_text.where(row)}: {row['metric']}", row.get("note")) for row in comparison["rows"])


def pair_notes(pairs: Sequence[Mapping[str, Any]]) -> list[str]:
    """Each note once; first those on pairs that cannot be alike, as they hold for the whole pair."""
    unlike = dict.fromkeys(pair["unlike"] for pair in pairs if pair["unlike"])
    return [*unlike, *_notes((f"{pair_place(pair)}: {pair['metric']}", pair["note"]) for pair in pairs)]


def pair_place(pair: Mapping[str, Any]) -> str:
    """``gateway / main-0, short-en (completions), 1``."""
    return f"{pair['name']}, {headline.case_of(pair)}, {headline.tagged_load(headline.of_row(pair))}"


def decision_notes(decision: Mapping[str, Any]) -> list[str]:
    """Each note of its rows once, with the aspects that it is of."""
    return _notes((row["aspect"], row.get("note")) for row in decision["rows"])


def _notes(found: Iterable[tuple[str, Any]]) -> list[str]:
    places: dict[str, list[str]] = {}
    for place, note in found:
        if note:
            places.setdefault(str(note), []).append(place)
    return [f"{_some(named)}: {note}" for note, named in places.items()]


def _some(named: Sequence[str]) -> str:
    more = f"; and {len(named) - MOST_PLACES} more" if len(named) > MOST_PLACES else ""
    return "; ".join(named[:MOST_PLACES]) + more


def decision_title(decision: Mapping[str, Any] | None) -> str:
    """``TP=1 twice or TP=2``."""
    return " or ".join(decision["names"].values()) if decision else ""


def decision_head(decision: Mapping[str, Any]) -> tuple[str, ...]:
    """With the layouts as they were measured."""
    one, two = (decision["names"][layout] for layout in ("tp1x2", "tp2"))
    return ("aspect", one, two, "unit", f"{two} / {one} (95 % CI)", "better")


def decision_rows(decision: Mapping[str, Any]) -> list[tuple[Cell, ...]]:
    """A row for each aspect."""
    return [
        (
            words(row["aspect"]),
            Cell(figure(row["tp1x2"])),
            Cell(figure(row["tp2"])),
            words(row["unit"]),
            Cell(figure(row.get("ratio")), interval(row.get("ci95"))),
            Cell(choice(row["better"], decision), why=str(row.get("note") or ""), is_number=False),
        )
        for row in decision["rows"]
    ]


def choice(word: str, decision: Mapping[str, Any]) -> str:
    """``tp1x2`` and ``tp2`` as a reader knows them."""
    return str(decision["names"].get(word, word))


def _figure(value: Any, metric: str) -> Cell:
    return Cell(share(value) if metric == "error_rate" else figure(value))


def _place(difference: Mapping[str, Any]) -> str:
    where = difference.get("where")
    return f"{difference['key']} of {where}" if where else str(difference["key"])


def _value(value: Any) -> str:
    return NOT_KNOWN if value is None else str(value)
