# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A result as Markdown, short enough to be pasted into an issue."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result import (
    around_table,
    drift,
    facts_text,
    headline,
    second_table,
    verdicts,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result.headline import Cell
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.second import comparison as with_second

# An engine's message may be a page of a gateway's HTML.
MOST_OF_A_MESSAGE = 160
LEGEND = (
    "TTFT: first token of any kind after the request was written. TPOT: time per token after the first. "
    "Medians and 95 % confidence intervals are over rounds, percentiles over requests; n/a: not known, or too few "
    "requests."
)
# An underscore within a word is one.
_MARKS = re.compile(r"([\\|`*<>\[\]]|(?<!\w)_|_(?!\w))")


def text(result: Mapping[str, Any]) -> str:
    """The whole document."""
    lines = [
        f"# Benchmark {_plain(result['run']['id'])}",
        "",
        _plain(facts_text.run_line(result)),
        *_warnings(result),
        "",
        *headline_table(result),
        *_section("Not valid, and why", _invalid(result)),
        *_section("Failures", _failures(result)),
        *_section("Findings", _findings(result)),
        *_comparison(result),
        *_pairs(result),
        *_drift(result),
        *_second_source(result),
        *_decision(result),
        *_around(result),
        *_section("What was measured", _measured(result)),
        "",
        LEGEND,
    ]
    return "\n".join(lines) + "\n"


def headline_table(result: Mapping[str, Any]) -> list[str]:
    """One line for each point."""
    rows = headline.rows(result["points"])
    return _table(headline.HEAD, rows) if rows else ["Nothing was measured."]


def _warnings(result: Mapping[str, Any]) -> list[str]:
    return [line for said in facts_text.warnings(result) for line in ("", f"**{_plain(said)}**")]


def _table(head: Sequence[str], rows: Sequence[Sequence[Cell]]) -> list[str]:
    numbers = [all(row[column].is_number for row in rows) for column in range(len(head))]
    return [
        _line(head),
        _line(["--:" if number else "---" for number in numbers]),
        *[_line([_shown(cell) for cell in row]) for row in rows],
    ]


def _shown(cell: Cell) -> str:
    return _plain(f"{cell.text} ({cell.more})" if cell.more else cell.text)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _section(title: str, lines: Sequence[str]) -> list[str]:
    return ["", f"## {title}", "", *lines] if lines else []


def _invalid(result: Mapping[str, Any]) -> list[str]:
    return [
        f"- {_plain(point['id'])}: {_plain(' '.join(point['invalid_reasons']))}"
        for point in result["points"]
        if not point["valid"]
    ]


def _failures(result: Mapping[str, Any]) -> list[str]:
    lines = []
    for point in result["points"]:
        for kind, count in sorted(point["errors"].items()):
            said = next((one["message"] for one in point["error_samples"] if one["kind"] == kind), "")
            lines.append(f"- {_plain(point['id'])}: {count} x {_plain(kind)}" + (f": {_brief(said)}" if said else ""))
    return lines


def _findings(result: Mapping[str, Any]) -> list[str]:
    return [f"- {finding['severity']}: {_plain(finding['text'])}" for finding in verdicts.findings(result)]


def _comparison(result: Mapping[str, Any]) -> list[str]:
    comparison = result["comparison"]
    if not comparison:
        return []
    lines = [_plain(verdicts.comparison_line(comparison))]
    lines += [f"- {_plain(said)}" for said in verdicts.differences(comparison)]
    rows = verdicts.comparison_rows(comparison)
    lines += ["", *_table(verdicts.COMPARISON_HEAD, rows)] if rows else []
    lines += _notes(verdicts.comparison_notes(comparison))
    return _section("Against the baseline", lines)


def _pairs(result: Mapping[str, Any]) -> list[str]:
    rows = verdicts.pair_rows(result["pairs"])
    if not rows:
        return []
    notes = _notes(verdicts.pair_notes(result["pairs"]))
    return _section("Pairs within this run", [*_table(verdicts.PAIR_HEAD, rows), *notes])


def _around(result: Mapping[str, Any]) -> list[str]:
    rows = around_table.rows(result["points"])
    return _section(around_table.TITLE, _table(around_table.HEAD, rows)) if rows else []


def _drift(result: Mapping[str, Any]) -> list[str]:
    said, rows = drift.line(result), drift.rows(result)
    table = ["", *_table(drift.HEAD, rows)] if rows else []
    return _section(drift.TITLE, [_plain(said), *table]) if said else []


def _notes(said: Sequence[str]) -> list[str]:
    """What stands below a table."""
    return ["", *[f"- {_plain(note)}" for note in said]] if said else []


def _second_source(result: Mapping[str, Any]) -> list[str]:
    section = result.get("second_source")
    if not section:
        return []
    rows, said = second_table.rows(section), with_second.sentence(section)
    lines = [*([_plain(said), "", *_table(second_table.HEAD, rows)] if rows else [])]
    lines += [*([""] if rows and section["notes"] else []), *(f"- {_plain(note)}" for note in section["notes"])]
    return _section(second_table.TITLE, lines)


def _decision(result: Mapping[str, Any]) -> list[str]:
    decision = result["decision"]
    if not decision:
        return []
    rows = verdicts.decision_rows(decision)
    lines = [
        f"- {_plain(fit['use'])}: **{_plain(verdicts.choice(fit['choice'], decision))}**. {_plain(fit['why'])}"
        for fit in decision["fits"]
    ]
    lines += ["", *_table(verdicts.decision_head(decision), rows)] if rows else []
    lines += _notes(verdicts.decision_notes(decision))
    lines += ["", "The rule:", *_notes(decision["rule"])] if decision["rule"] else []
    return _section(verdicts.decision_title(decision), lines)


def _measured(result: Mapping[str, Any]) -> list[str]:
    lines = [
        f"- deployment {_plain(one['id'])}: {_plain(facts_text.deployment_line(one))}" for one in result["deployments"]
    ]
    lines += [
        f"- host {_plain(host)}: {_plain(facts_text.host_line(env))}" for host, env in sorted(result["hosts"].items())
    ]
    lines += [
        f"- target {_plain(one['name'])}: {_plain(facts_text.target_line(one, result['run']))}"
        for one in result["targets"]
    ]
    lines += [f"- case {_plain(case['name'])}: {_plain(facts_text.case_line(case))}" for case in result["cases"]]
    self_test = facts_text.self_test_line(result["tool"])
    return [*lines, f"- {_plain(self_test)}"] if self_test else lines


def _brief(said: str) -> str:
    one_line = " ".join(said.split())
    short = one_line if len(one_line) <= MOST_OF_A_MESSAGE else one_line[: MOST_OF_A_MESSAGE - 3] + "..."
    return _plain(short)


def _plain(said: Any) -> str:
    """Text in which nothing is Markdown or HTML by chance."""
    return _MARKS.sub(r"\\\1", " ".join(str(said).split()))
