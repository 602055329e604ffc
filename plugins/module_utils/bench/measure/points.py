# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From finished rounds to points: all rounds of one case at one load against one target, read together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.measure import requests, summary, validity
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.measure.intervals import over_rounds
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.measure.rates import Part, part

Round = Mapping[str, Any]

# The statistics over rounds, and which figure of a round's summary each of them is over.
FIGURES = (
    ("ttft_ms", "p50"),
    ("tpot_ms", "mean"),
    ("itl_ms", "p50"),
    ("e2el_ms", "p50"),
    ("output_tps", "value"),
    ("output_tps_steady", "value"),
    # Of requests that came in one piece the speed has no bound, so that their mean says nothing.
    ("decode_tps", "p50"),
    ("request_rate", "value"),
    ("error_rate", "value"),
    ("prefill_tps", "value"),
    ("goodput_rate", "value"),
)


def points_of(rounds: Iterable[Round], order: Mapping[str, Any] | None = None) -> list[dict[str, Any]]:
    """The points, in the sequence in which they were begun.

    Warm-ups and rounds that were skipped are kept with the point and are in none of its figures. A point whose rounds
    were all skipped is left out, as nothing was measured.

    :param rounds: with their requests
    :param order: where targets, cases and limits of goodput are looked up
    """
    grouped: dict[tuple[str, str], list[Round]] = {}
    order = order or {}
    targets = {target["name"]: target for target in order.get("targets", ())}
    for one in sorted(rounds, key=lambda one: str(one["id"])):
        grouped.setdefault((_deployment(one, targets), one["point"]), []).append(one)
    return [
        _point(own, deployment, targets, order)
        for (deployment, _name), own in grouped.items()
        if any(is_measured(one) for one in own)
    ]


def is_measured(one: Round) -> bool:
    """Whether a round enters figures."""
    return not one["warmup"] and not one.get("skipped")


def _deployment(one: Round, targets: Mapping[str, Mapping[str, Any]]) -> str:
    """A round of a block knows its deployment; else the target does."""
    return str(one.get("deployment") or targets.get(one["target"], {}).get("deployment", ""))


def _point(
    rounds: Sequence[Round], deployment: str, targets: Mapping[str, Mapping[str, Any]], order: Mapping[str, Any]
) -> dict[str, Any]:
    measured = [one for one in rounds if is_measured(one)]
    spec = measured[0]
    case = next((case for case in order.get("cases", ()) if case["name"] == spec["case"]), None)
    parts = [part(one, one.get("requests") or [], one.get("steady"), one.get("server"), case) for one in measured]
    pooled = summary.summarised(parts, order.get("goodput"))
    why = validity.reasons(pooled["summary"], case, measured)
    via = str(targets.get(spec["target"], {}).get("via", ""))
    return {
        "id": spec["point"],
        "case": spec["case"],
        "target": spec["target"],
        "via": via,
        "deployment": deployment,
        "endpoint": spec["endpoint"],
        "stream": spec["stream"],
        "load": spec["load"],
        "rounds": [{key: value for key, value in one.items() if key != "requests"} for one in rounds],
        **pooled,
        "valid": not why,
        "invalid_reasons": why,
        "stats": {
            metric: over_rounds([_figure(one, metric, figure) for one in measured]) for metric, figure in FIGURES
        },
        "token_source": _token_source(parts),
        "itl_name": validity.itl_name(pooled["summary"]),
        "streaming": validity.streaming(pooled["summary"], via),
    }


def _figure(one: Round, metric: str, figure: str) -> float | None:
    value: float | None = ((one.get("summary") or {}).get(metric) or {}).get(figure)
    return value


def _token_source(parts: Sequence[Part]) -> str | None:
    """Who counted the tokens; ``mixed`` when not the same for all requests, None when none succeeded."""
    sources = {record["token_source"] for one in parts for record in one.records if requests.succeeded(record)}
    return sources.pop() if len(sources) == 1 else ("mixed" if sources else None)
