# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sections of the page that judge: findings, comparison, pairs, and the choice of a layout."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result import (
    drift,
    html_parts,
    second_table,
    verdicts,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result.html_parts import Picture, badge, safe
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.second import comparison as with_second

Result = Mapping[str, Any]


def findings(result: Result) -> list[str]:
    """The worst first."""
    return html_parts.items([f"{badge(one['severity'])}: {safe(one['text'])}" for one in verdicts.findings(result)])


def comparison(result: Result, pictures: Sequence[Picture]) -> list[str]:
    """The verdict, what differs otherwise, the table and the forest plot; nothing without a baseline."""
    found = result["comparison"]
    if not found:
        return []
    differences = html_parts.items([safe(said) for said in verdicts.differences(found)])
    return [
        f"<p>{safe(verdicts.comparison_line(found))}</p>",
        *(["<p>To know of the two runs:</p>", *differences] if differences else []),
        *html_parts.table("Comparison", verdicts.COMPARISON_HEAD, verdicts.comparison_rows(found)),
        *html_parts.items([safe(note) for note in verdicts.comparison_notes(found)]),
        *html_parts.pictures(pictures, "comparison"),
    ]


def pairs(result: Result, pictures: Sequence[Picture]) -> list[str]:
    """Targets that were measured in turns."""
    table = html_parts.table("Pairs", verdicts.PAIR_HEAD, verdicts.pair_rows(result["pairs"]))
    notes = html_parts.items([safe(note) for note in verdicts.pair_notes(result["pairs"])])
    return [*table, *notes, *html_parts.pictures(pictures, "pairs")]


def drifted(result: Result) -> list[str]:
    """The first and the last third of a soak."""
    said = drift.line(result)
    if not said:
        return []
    return [f"<p>{safe(said)}</p>", *html_parts.table(drift.TITLE, drift.HEAD, drift.rows(result))]


def second_source(result: Result) -> list[str]:
    """What another client has measured at the same engine, and what it was not asked."""
    found = result.get("second_source")
    if not found:
        return []
    said = with_second.sentence(found)
    return [
        *([f"<p>{safe(said)}</p>"] if said else []),
        *html_parts.table(second_table.TITLE, second_table.HEAD, second_table.rows(found)),
        *html_parts.items([safe(note) for note in found["notes"]]),
    ]


def decision(result: Result) -> list[str]:
    """Which layout fits which use, and the rule by which that was said."""
    found = result["decision"]
    if not found:
        return []
    fits = [
        f"{safe(fit['use'])}: <b>{safe(verdicts.choice(fit['choice'], found))}</b>. {safe(fit['why'])}"
        for fit in found["fits"]
    ]
    rule = html_parts.items([safe(sentence) for sentence in found["rule"]])
    return [
        *html_parts.items(fits),
        *html_parts.table("Layouts", verdicts.decision_head(found), verdicts.decision_rows(found)),
        *html_parts.items([safe(note) for note in verdicts.decision_notes(found)]),
        *(["<h3>The rule</h3>", *rule] if rule else []),
    ]
