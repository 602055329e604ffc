# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A result as one page that needs nothing else: no network, no script, no file beside it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result import (
    around_table,
    case_table,
    drift,
    facts_text,
    headline,
    host_table,
    html_parts,
    html_verdicts,
    second_table,
    verdicts,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result.definitions import DEFINITIONS
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result.html_parts import (
    Picture,
    safe,
    section,
    slug,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result.html_style import STYLE

NO_PICTURES = (
    "This report has no pictures, as matplotlib is not installed on the controller: pip install matplotlib there, with "
    "the Python of ansible-playbook."
)

Result = Mapping[str, Any]


def page(result: Result, pictures: Sequence[Picture], no_pictures: str = NO_PICTURES) -> str:
    """The whole page.

    :param pictures: as ``bench_pictures`` drew them
    :param no_pictures: why there are none; empty when there is nothing to draw
    """
    title = f"Benchmark {result['run']['id']}"
    sections = (
        ("headline", "Headline", _headline(result)),
        ("findings", "Findings", html_verdicts.findings(result)),
        ("decision", verdicts.decision_title(result["decision"]), html_verdicts.decision(result)),
        ("comparison", "Against the baseline", html_verdicts.comparison(result, pictures)),
        ("pairs", "Pairs within this run", html_verdicts.pairs(result, pictures)),
        ("drift", drift.TITLE, html_verdicts.drifted(result)),
        ("second-source", second_table.TITLE, html_verdicts.second_source(result)),
        ("cases", "Cases", _cases(result, pictures, no_pictures)),
        ("around", around_table.TITLE, _around(result)),
        ("hosts", "Hosts", _hosts(result, pictures)),
        ("failures", "Failures by kind", _failures(result)),
        ("provenance", "Provenance", _provenance(result)),
        ("definitions", "What the figures mean", _definitions()),
    )
    lines = [
        "<!doctype html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{safe(title)}</title>",
        f"<style>{STYLE}</style>",
        "</head>",
        "<body>",
        "<header>",
        f"<h1>{safe(title)}</h1>",
        f"<p>{safe(facts_text.run_line(result))}</p>",
        *_warnings(result),
        '<nav aria-label="Sections"><ul>',
        *[f'<li><a href="#{identity}">{safe(name)}</a></li>' for identity, name, body in sections if body],
        "</ul></nav>",
        "</header>",
        "<main>",
    ]
    for identity, name, body in sections:
        lines += section(identity, name, body)
    return "\n".join([*lines, "</main>", "</body>", "</html>"]) + "\n"


def _warnings(result: Result) -> list[str]:
    said = [f"<p>{safe(line)}</p>" for line in facts_text.warnings(result)]
    return ['<div class="warnings" id="warnings">', *said, "</div>"] if said else []


def _headline(result: Result) -> list[str]:
    lines = html_parts.table("Headline figures", headline.HEAD, headline.rows(result["points"]))
    invalid = [point for point in result["points"] if not point["valid"]]
    reasons = [f"<b>{safe(point['id'])}</b>: {safe(' '.join(point['invalid_reasons']))}" for point in invalid]
    why = ["<h3>Not valid, and why</h3>", *html_parts.items(reasons)] if reasons else []
    return [*(lines or ["<p>Nothing was measured.</p>"]), *why]


def _cases(result: Result, pictures: Sequence[Picture], no_pictures: str) -> list[str]:
    points = result["points"]
    lines = (
        []
        if pictures or not points or not no_pictures
        else [f'<p class="faint" id="no-pictures">{safe(no_pictures)}</p>']
    )
    described = {case["name"]: case for case in result["cases"]}
    for name in case_table.names(points):
        own = [point for point in points if headline.case_of(point) == name]
        case = described.get(own[0]["case"])
        body = [f'<p class="faint">{safe(facts_text.case_line(case))}</p>'] if case else []
        body += html_parts.table(f"Figures of {name}", case_table.HEAD, case_table.rows(own, points))
        body += html_parts.pictures(pictures, name)
        lines += section(f"case-{slug(name)}", name, body, level=3)
    return lines


def _around(result: Result) -> list[str]:
    return html_parts.table(around_table.TITLE, around_table.HEAD, around_table.rows(result["points"]))


def _hosts(result: Result, pictures: Sequence[Picture]) -> list[str]:
    lines = html_parts.table("Hosts", host_table.HEAD, host_table.rows(result["snapshots"]))
    for host, seen in sorted(result["snapshots"].items()):
        said = [f"{safe(host)}: {safe(sentence)}" for sentence in seen.get("errors") or []]
        lines += html_parts.items(said)
    return [*lines, *html_parts.pictures(pictures, *sorted(result["snapshots"]))]


def _failures(result: Result) -> list[str]:
    lines = []
    for point in result["points"]:
        for kind, count in sorted(point["errors"].items()):
            said = next((one["message"] for one in point["error_samples"] if one["kind"] == kind), "")
            ids = next((one.get("ids") or [] for one in point["error_samples"] if one["kind"] == kind), [])
            requests = f" (requests {safe(', '.join(str(one) for one in ids))})" if ids else ""
            message = f"<pre>{safe(said)}</pre>" if said else ""
            lines.append(f"<b>{safe(point['id'])}</b>: {count} \u00d7 {html_parts.badge(kind)}{requests}{message}")
    return html_parts.items(lines) or (["<p>No request failed.</p>"] if result["points"] else [])


def _provenance(result: Result) -> list[str]:
    lines = html_parts.items(
        [
            f"deployment <b>{safe(one['id'])}</b>: {safe(facts_text.deployment_line(one))}"
            for one in result["deployments"]
        ]
        + [
            f"host <b>{safe(host)}</b>: {safe(facts_text.host_line(env))}"
            for host, env in sorted(result["hosts"].items())
        ]
        + [
            f"target <b>{safe(one['name'])}</b>: {safe(facts_text.target_line(one, result['run']))}"
            for one in result["targets"]
        ]
    )
    run, tool = result["run"], result["tool"]
    facts = {
        "seed": run["seed"],
        "digest of what was asked for": run["argv_digest"],
        "client": tool["transport"],
        **facts_text.asked(run),
    }
    self_test = facts_text.self_test_line(tool)
    lines += html_parts.items(
        [f"{safe(key)}: <code>{safe(value)}</code>" for key, value in facts.items() if value is not None]
        + ([safe(self_test)] if self_test else [])
    )
    for one in result["deployments"]:
        whole = json.dumps(one, indent=2, sort_keys=True, ensure_ascii=False)
        lines += [f"<details><summary>All of {safe(one['id'])}</summary>", f"<pre>{safe(whole)}</pre>", "</details>"]
    return lines


def _definitions() -> list[str]:
    return ["<dl>", *[f"<dt>{safe(name)}</dt><dd>{safe(meaning)}</dd>" for name, meaning in DEFINITIONS], "</dl>"]
