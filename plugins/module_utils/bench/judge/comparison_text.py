# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A comparison on the screen, and the sentence with which a run fails."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.judge import absent, margins, verdict
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result import headline
from ansible_collections.dgxspark.serving.plugins.module_utils.report.table import table

HEADER = ("case", "target", "load", "metric", "baseline", "now", "ratio", "95 % CI", "verdict", "rounds to settle it")
# For which verdicts a run fails; the first is the default.
FAIL_ON = (verdict.REGRESSION, verdict.INCONCLUSIVE, "never")
# So many regressions are named in the sentence; the table has all.
MOST_NAMED = 5

Row = Mapping[str, Any]
Comparison = Mapping[str, Any]


def lines(comparison: Comparison) -> list[str]:
    """The table, the notes below it, and the verdict."""
    rows = comparison["rows"]
    base = comparison["baseline"]
    label = f" ({base['label']})" if base["label"] else ""
    notes = dict.fromkeys(f"{where(row)}: {row['metric']}: {row['note']}" for row in rows if row["note"])
    differing = [
        f"Differs and was allowed: {one['key']}{' of ' + one['where'] if one['where'] else ''}: "
        f"{_known(one['baseline'])} in the baseline, {_known(one['candidate'])} now."
        for one in comparison["guard"]["differences"]
    ]
    counts = Counter(row["verdict"] for row in rows)
    counted = ", ".join(f"{counts[word]} {word}" for word in _WORDS if counts[word])
    return [
        f"Compared with the baseline {base['run id']}{label}, margins {margins_words(comparison['margins'])}:",
        "",
        *table(HEADER, [_cells(row) for row in rows]),
        "",
        *differing,
        *comparison["notes"],
        *notes,
        f"Verdict: {comparison['verdict']} ({counted}).",
    ]


def failure(comparison: Comparison, fail_on: str) -> str:
    """Why the task fails, in one sentence; empty when it does not.

    :param fail_on: ``regression``, ``inconclusive`` (regressions as well) or ``never``
    """
    failing = {
        "regression": (verdict.REGRESSION,),
        "inconclusive": (verdict.REGRESSION, verdict.INCONCLUSIVE),
        "never": (),
    }[fail_on]
    word = next((word for word in failing if word == comparison["verdict"]), None)
    if word is None:
        return ""
    rows = [row for row in comparison["rows"] if row["verdict"] == word]
    worse = "is worse than in" if len(rows) == 1 else "are worse than in"
    what = worse if word == verdict.REGRESSION else "cannot be told from"
    lost = [one for one in comparison["only_in_baseline"] if one["asked"]]
    if not rows:
        return f"The baseline {comparison['baseline']['run id']} has more. {' '.join(absent.sentences(lost, ()))}"
    said = "; ".join(_sentence(row) for row in rows[:MOST_NAMED])
    more = f"; and {len(rows) - MOST_NAMED} more" if len(rows) > MOST_NAMED else ""
    named = f"{len(rows)} of {len(comparison['rows'])} figures {what} the baseline {comparison['baseline']['run id']}"
    return " ".join([f"{named}: {said}{more}.", *absent.sentences(lost, ())])


_WORDS = (verdict.REGRESSION, verdict.IMPROVEMENT, verdict.NO_CHANGE, verdict.INCONCLUSIVE)


def where(row: Row) -> str:
    """The point of a row, unlike that of any other: ``short-en (completions), gateway, N = 4 (ladder)``."""
    load = headline.tagged_load(headline.of_row(row))
    users = load if row["n"] is None else f"N = {load}"
    return f"{headline.case_of(row)}, {row['target']}, {users}"


def margins_words(limits: Mapping[str, float]) -> str:
    """``ttft_ms 10 % (and 20 ms), tpot_ms 5 %``, as far as they are known."""
    least = limits.get(margins.TTFT_LEAST)
    return ", ".join(
        f"{name} {100 * share:g} %" + (f" (and {least:g} ms)" if name == "ttft_ms" and least else "")
        for name, share in limits.items()
        if name != margins.TTFT_LEAST
    )


def _sentence(row: Row) -> str:
    change = f"{row['metric']} {_figure(row, 'baseline')} -> {_figure(row, 'candidate')}"
    interval = f", 95 % CI {_interval(row)}" if row["ci95"] else ""
    ratio = f" (x{row['ratio']:.3f}{interval})" if row["ratio"] is not None else ""
    rounds = f", {row['needed_rounds']} rounds a side would tell" if row["needed_rounds"] else ""
    return f"{where(row)}: {change}{ratio}{rounds}"


def _cells(row: Row) -> list[str]:
    return [
        headline.case_of(row),
        row["target"],
        headline.tagged_load(headline.of_row(row)),
        row["metric"],
        _figure(row, "baseline"),
        _figure(row, "candidate"),
        "-" if row["ratio"] is None else f"{row['ratio']:.3f}",
        _interval(row) or "-",
        row["verdict"],
        str(row["needed_rounds"] or "-" if row["verdict"] == verdict.INCONCLUSIVE else ""),
    ]


def _figure(row: Row, side: str) -> str:
    value = row[side]
    if value is None:
        return "n/a"
    return f"{value:.2%}" if row["metric"] == margins.ERRORS else f"{value:.4g}"


def _interval(row: Row) -> str:
    return "" if row["ci95"] is None else f"{row['ci95'][0]:.3f} to {row['ci95'][1]:.3f}"


def _known(value: Any) -> str:
    return "not known" if value is None else str(value)
