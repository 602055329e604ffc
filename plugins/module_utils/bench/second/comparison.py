# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Our figures beside those of a second source. Pure.

They agree when the second source's TPOT is within 2 % and its TTFT within 5 ms of ours. A server differs from round to
round by itself, so that "ours" is the range of our rounds: what lies within it, widened by these, agrees.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.imports import vllm
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.imports.foreign import About
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.judge.finding import WARNING, Finding, finding
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.measure.intervals import over_rounds
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.measure.points import is_measured
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result.numbers import figure

ENGINE = "vllm_rs"
TPOT_SHARE = 0.02
TTFT_MS = 5.0
# Metrics that are compared, and which figure of a summary stands for each: medians, as a server stalls now and then.
METRICS = {"ttft_ms": "p50", "tpot_ms": "p50", "e2el_ms": "p50", "output_tps": "value"}


def figures_of(document: Mapping[str, Any]) -> dict[str, Any]:
    """What the JSON of ``vllm-rs bench serve --save-detailed`` says, in our way.

    :returns: the metrics, each a number or None, ``requests`` that succeeded, ``failed`` ones with the ``message`` of
        the first, and ``prompt_tokens`` as the program counts them
    :raises ValueError: when it is no such document
    """
    try:
        summary = vllm.piece(document, About(), None).summary
        lengths = [length for length in document.get("input_lens") or () if length]
        return {
            **{metric: (summary.get(metric) or {}).get(name) for metric, name in METRICS.items()},
            "requests": int(document["completed"]),
            "failed": int(document.get("failed") or 0),
            "prompt_tokens": sum(lengths) / len(lengths) if lengths else None,
            "message": next((" ".join(str(said).split())[:200] for said in document.get("errors") or () if said), ""),
        }
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ValueError(f"{type(error).__name__}: {error}") from error


def compared(asked: Mapping[str, Any] | None, points: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """The section of a result; None when there is nothing to say of a second source.

    :param asked: what the action ``benchmark_second_source`` returned, or what was wanted of it
    :param points: of the run
    """
    asked = asked or {}
    if not asked.get("asked") and not asked.get("notes"):
        return None
    by_id = {point["id"]: point for point in points}
    both = [one for one in asked.get("asked") or () if one["point"] in by_id]
    rows = [_row(by_id[one["point"]], one["figures"]) for one in both]
    head = {key: asked.get(key) or "" for key in ("host", "program", "version")}
    notes = [*(asked.get("notes") or ()), *(_failures(one) for one in both if one["figures"]["failed"])]
    return {"engine": ENGINE, **head, "rows": rows, "notes": notes}


def findings_of(section: Mapping[str, Any] | None) -> list[Finding]:
    """A warning for each point at which the two disagree."""
    return [
        finding(
            "second_source",
            WARNING,
            row["point"],
            _beside(row),
            f"TPOT within {100 * TPOT_SHARE:g} % and TTFT within {TTFT_MS:g} ms of our rounds",
            "Measure again with nobody else on the server; when it stays, report it with result.json.",
        )
        for row in (section or {}).get("rows", ())
        if row["agrees"] is False
    ]


def sentence(section: Mapping[str, Any]) -> str:
    """What the table says, in words; empty without rows."""
    rows = section["rows"]
    if not rows:
        return ""
    agreed = sum(row["agrees"] is True for row in rows)
    open_ = sum(row["agrees"] is None for row in rows)
    unknown = f" {open_} could not be judged." if open_ else ""
    limits = f"TPOT within {100 * TPOT_SHARE:g} %, TTFT within {TTFT_MS:g} ms"
    return (
        f"vllm-rs bench serve {section['version']}, run in the engine's container on {section['host']} after our "
        f"rounds, agrees at {agreed} of {len(rows)} points: {limits} of the range of our rounds.{unknown}"
    )


def _failures(one: Mapping[str, Any]) -> str:
    found = one["figures"]
    said = f" ({found['message']})" if found["message"] else ""
    whole = found["failed"] + found["requests"]
    return f"{one['point']}: {found['failed']} of {whole} requests of vllm-rs failed{said}."


def _beside(row: Mapping[str, Any]) -> str:
    words = []
    for metric, name in (("tpot_ms", "TPOT"), ("ttft_ms", "TTFT")):
        one = row["metrics"][metric]
        words.append(f"{name} {figure(one['ours'])} ms by ours and {figure(one['second'])} ms by vllm-rs")
    return ", ".join(words)


def _row(point: Mapping[str, Any], found: Mapping[str, Any]) -> dict[str, Any]:
    metrics = {metric: _metric(_ours(point, metric), found[metric]) for metric in METRICS}
    return {
        "point": point["id"],
        "case": point["case"],
        "target": point["target"],
        "n": point["load"]["n"],
        "requests": found["requests"],
        "failed": found["failed"],
        "prompt_tokens": {
            "ours": (point["summary"].get("prompt_tokens") or {}).get("p50"),
            "second": found["prompt_tokens"],
        },
        "metrics": metrics,
        "agrees": _agrees(metrics),
    }


def _ours(point: Mapping[str, Any], metric: str) -> dict[str, Any]:
    """Our rounds, those whose stamps are true where there are any."""
    measured = [one for one in point["rounds"] if is_measured(one)]
    rounds = [one for one in measured if one["valid"]] or measured
    return over_rounds([((one.get("summary") or {}).get(metric) or {}).get(METRICS[metric]) for one in rounds])


def _metric(stats: Mapping[str, Any], second: float | None) -> dict[str, Any]:
    ours = stats.get("median")
    known = ours is not None and second
    return {
        "ours": ours,
        "lo": stats.get("lo"),
        "hi": stats.get("hi"),
        "second": second,
        "ratio": round(ours / second, 4) if known else None,
    }


def _agrees(metrics: Mapping[str, Mapping[str, Any]]) -> bool | None:
    """None where one of the two has no figure."""
    tpot, ttft = metrics["tpot_ms"], metrics["ttft_ms"]
    if None in (tpot["ours"], tpot["second"], ttft["ours"], ttft["second"]):
        return None
    return bool(
        tpot["lo"] * (1 - TPOT_SHARE) <= tpot["second"] <= tpot["hi"] * (1 + TPOT_SHARE)
        and ttft["lo"] - TTFT_MS <= ttft["second"] <= ttft["hi"] + TTFT_MS
    )
