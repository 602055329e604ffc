# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is printed when a run has ended: the headline, what to know of it, and where the report lies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result import facts_text, headline, verdicts
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result.headline import Cell
from ansible_collections.dgxspark.serving.plugins.module_utils.report.table import table

# The rest is in the report.
MOST_FINDINGS = 12


def lines(result: Mapping[str, Any], written: Sequence[str]) -> list[str]:
    """The lines.

    :param written: paths of the report's files
    """
    rows = [[_text(cell) for cell in row] for row in headline.rows(result["points"])]
    found = verdicts.findings(result)
    comparison = result["comparison"]
    said = [facts_text.run_line(result), "", *(table(headline.HEAD, rows) if rows else [])]
    said += ["", *facts_text.warnings(result)] if facts_text.warnings(result) else []
    said += ["", *[f"{one['severity']}: {one['text']}" for one in found[:MOST_FINDINGS]]] if found else []
    said += [f"{len(found) - MOST_FINDINGS} more findings are in the report."] if len(found) > MOST_FINDINGS else []
    said += ["", verdicts.comparison_line(comparison), *verdicts.only_on_one_side(comparison)] if comparison else []
    said += _fits(result["decision"])
    said += ["", *[f"written: {path}" for path in written]] if written else []
    return [*said, *_nothing_valid(result)]


def failure(result: Mapping[str, Any]) -> str:
    """Why a pipeline should stop, whatever the baseline says; empty when it should not."""
    points = result["points"]
    if not points:
        return "Nothing was measured: no round has ended."
    if any((point["summary"].get("e2el_ms") or {}).get("n") for point in points):
        return ""
    kinds: dict[str, int] = {}
    for point in points:
        for kind, count in point["errors"].items():
            kinds[kind] = kinds.get(kind, 0) + count
    said = ", ".join(f"{kind} {count}" for kind, count in sorted(kinds.items()))
    first = next((f" The first one said: {one['message']}" for point in points for one in point["error_samples"]), "")
    return f"Not one request succeeded ({said or 'none was sent'}).{first}"


def _nothing_valid(result: Mapping[str, Any]) -> list[str]:
    """The last words of a run that has figures and none to be believed; one that fails says why itself."""
    points = result["points"]
    if not points or any(point["valid"] for point in points) or failure(result):
        return []
    why = points[0]["invalid_reasons"]
    first = f" The first one: {' '.join(why)}" if why else ""
    return ["", f"NOT ONE POINT IS VALID: take no figure of this run for the engine's.{first}"]


def _text(cell: Cell) -> str:
    return f"{cell.text} ({cell.more})" if cell.more else cell.text


def _fits(decision: Mapping[str, Any] | None) -> list[str]:
    if not decision:
        return []
    return [
        "",
        *[f"{fit['use']}: {verdicts.choice(fit['choice'], decision)}. {fit['why']}" for fit in decision["fits"]],
    ]
