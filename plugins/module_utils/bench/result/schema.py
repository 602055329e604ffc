# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a ``result.json`` of the benchmark holds, as a JSON Schema: ``spark_bench/1``.

The keys named here are there; others may be added without a new number. A number of its own is for a key that is
taken away or that changes its meaning.
"""

from __future__ import annotations

from typing import Any

NAME = "spark_bench/1"
FAMILY = "spark_bench/"

ERROR_KINDS = (
    "connect",
    "tls",
    "dns",
    "timeout_connect",
    "timeout_ttft",
    "timeout_idle",
    "timeout_total",
    "http_4xx",
    "http_429",
    "http_5xx",
    "stream_error",
    "truncated",
    "short_output",
    "empty_output",
    "bad_json",
    "aborted",
)
# Of the successful requests of a point, with percentiles.
DISTRIBUTIONS = (
    "ttft_ms",
    "ttfo_ms",
    "ttfr_ms",
    "tpot_ms",
    "itl_ms",
    "e2el_ms",
    "close_ms",
    "connect_ms",
    "decode_tps",
    "prompt_tokens",
    "completion_tokens",
    "tokens_per_chunk",
)
# One number for a point.
SCALARS = (
    "output_tps",
    "output_tps_steady",
    "total_tps",
    "request_rate",
    "goodput_rate",
    "goodput_share",
    "prefill_tps",
    "error_rate",
    "stall_share",
    "merged_share",
    "cache_hit_rate",
    "dispatch_lag_p99_ms",
)
DISTRIBUTION_PARTS = ("n", "mean", "p50", "p90", "p95", "p99", "max")
STATISTIC_PARTS = ("median", "lo", "hi", "mean", "cv")


def schema() -> dict[str, Any]:
    """The JSON Schema; only the words that :mod:`check` knows are used."""
    found: dict[str, Any] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "https://github.com/dgxspark/serving/blob/main/docs/spark_bench_1.schema.json",
        "title": f"Result of the benchmark of dgxspark.serving, {NAME}",
        **_object(
            schema={"const": NAME},
            tool=_object(name=_TEXT, version=_TEXT, transport=_TEXT, self_test=_self_test()),
            run=_run(),
            hosts={"type": "object", "additionalProperties": {"type": "object"}},
            targets=_list(_object(name=_TEXT, via={"enum": ["direct", "gateway"]})),
            deployments=_list(_object(id=_TEXT)),
            cases=_list(_object(name=_TEXT, digest=_TEXT)),
            points=_list(_point()),
            pairs=_list(_pair()),
            snapshots={"type": "object", "additionalProperties": _snapshots()},
            findings=_list(_object(code=_TEXT, severity={"enum": ["info", "warning", "error"]}, text=_TEXT)),
            decision={"type": ["object", "null"], "properties": _decision()},
            comparison={"type": ["object", "null"], "properties": _comparison()},
            requests_file=_TEXT,
        ),
    }
    # Results of an earlier day do not have it.
    found["properties"]["second_source"] = {"type": ["object", "null"], "properties": _second_source()}
    found["properties"]["not_measured"] = _list(_place(id=_TEXT, kind=_TEXT, why=_TEXT))
    return found


def _place(**more: Any) -> dict[str, Any]:
    kinds = {"stream": {"type": "boolean"}, "load": {"type": "object"}}
    return _object(**more, case=_TEXT, target=_TEXT, endpoint=_TEXT, **kinds)


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "required": list(properties), "properties": properties}


def _list(item: Any) -> dict[str, Any]:
    return {"type": "array", "items": item}


def _with_more(found: dict[str, Any], **properties: Any) -> dict[str, Any]:
    """An object with keys that results of an earlier day do not have."""
    return {**found, "properties": {**found["properties"], **properties}}


def _run() -> dict[str, Any]:
    found = _object(
        id=_TEXT,
        label=_TEXT,
        suite=_TEXT,
        started=_WHEN,
        ended=_WHEN,
        seed=_OPTIONAL_COUNT,
        argv_digest=_TEXT,
        interrupted={"type": "boolean"},
    )
    limits = {"type": ["object", "null"], "additionalProperties": _NUMBER}
    client = {"type": ["string", "null"]}
    return _with_more(found, client=client, limits=limits, goodput=limits, client_lag=limits)


def _pair() -> dict[str, Any]:
    found = _object(name=_TEXT, metric=_TEXT, ratio=_NUMBER, ci95=_RANGE, verdict=_TEXT)
    return _with_more(found, **_OF_A_POINT, note=_TEXT, unlike=_TEXT)


def _snapshots() -> dict[str, Any]:
    found = _object(during=_list(_sample()))
    process = _object(pid=_COUNT, name=_TEXT, memory_mib=_NUMBER)
    disk = _object(free=_OPTIONAL_COUNT, total=_OPTIONAL_COUNT)
    # Results of an earlier day do not have them.
    more = {
        "clock_offset_s": _NUMBER,
        "gpu_processes": _times({"type": ["array", "null"], "items": process}),
        "disk": _times({"type": ["object", "null"], "additionalProperties": disk}),
    }
    return {**found, "properties": {**found["properties"], **more}}


def _sample() -> dict[str, Any]:
    gpu = {"throttle": {"type": ["array", "null"], "items": _TEXT}}
    return {"type": "object", "properties": {"gpu": {"type": ["object", "null"], "properties": gpu}}}


def _times(value: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": {"before": value, "after": value}}


def _self_test() -> dict[str, Any]:
    # In percent of what a server of known truth sent; null where there is nothing, as with an error.
    figures = ("ttft_err_pct", "itl_p99_err_pct", "tpot_err_pct", "threads_tpot_diff_pct")
    found = _object(
        host=_TEXT,
        streams=_COUNT,
        gap_ms=_NUMBER,
        tokens=_OPTIONAL_COUNT,
        **_parts(figures),
        valid={"type": ["boolean", "null"]},
        seconds=_NUMBER,
        error={"type": ["string", "null"]},
    )
    return {**found, "type": ["object", "null"]}


def _point() -> dict[str, Any]:
    return _object(
        id=_TEXT,
        case=_TEXT,
        target=_TEXT,
        via=_TEXT,
        deployment=_TEXT,
        endpoint=_TEXT,
        stream={"type": "boolean"},
        load=_object(model={"enum": ["closed", "open", "series"]}),
        rounds=_list(_round()),
        summary={
            "type": "object",
            "properties": {
                **{name: {"type": "object", "properties": _parts(DISTRIBUTION_PARTS)} for name in DISTRIBUTIONS},
                **{name: _object(value=_NUMBER) for name in SCALARS},
            },
        },
        errors={"type": "object", "additionalProperties": _COUNT, "propertyNames": {"enum": list(ERROR_KINDS)}},
        error_samples=_list(_object(kind=_TEXT, message=_TEXT)),
        valid={"type": "boolean"},
        invalid_reasons=_list(_TEXT),
        stats={
            "type": "object",
            "additionalProperties": {
                "type": "object",
                "properties": {**_parts(STATISTIC_PARTS), "ci95": _RANGE, "rounds": _list(_NUMBER)},
            },
        },
    )


def _round() -> dict[str, Any]:
    # What another tool measured has no counters of a server.
    counts = {"head_tokens": _OPTIONAL_COUNT, "foreign_tokens": _OPTIONAL_COUNT}
    server = {"type": ["object", "null"], "properties": counts}
    found = _object(id=_TEXT, valid={"type": "boolean"})
    return {**found, "properties": {**found["properties"], "server": server}}


def _parts(names: tuple[str, ...]) -> dict[str, Any]:
    return dict.fromkeys(names, _NUMBER)


def _decision() -> dict[str, Any]:
    choice = {"enum": ["tp1x2", "tp2", "no difference", "not known"]}
    row = _object(aspect=_TEXT, tp1x2=_VALUE, tp2=_VALUE, unit=_TEXT, better=choice)
    return {
        "names": {"type": "object", "properties": {"tp1x2": _TEXT, "tp2": _TEXT}},
        "rule": _list(_TEXT),
        "rows": _list(_with_more(row, ratio=_NUMBER, ci95=_RANGE, note=_TEXT)),
        "fits": _list(_object(use=_TEXT, choice=_TEXT, why=_TEXT)),
    }


def _comparison() -> dict[str, Any]:
    verdict = {"enum": ["regression", "improvement", "no change", "inconclusive"]}
    row = _object(
        case=_TEXT,
        target=_TEXT,
        n=_NUMBER,
        metric=_TEXT,
        baseline=_NUMBER,
        candidate=_NUMBER,
        ratio=_NUMBER,
        ci95=_RANGE,
        verdict=verdict,
        needed_rounds=_OPTIONAL_COUNT,
    )
    return {
        "baseline": {"type": "object"},
        "margins": {"type": "object"},
        "rows": _list(_with_more(row, **_OF_A_POINT, note=_TEXT)),
        "notes": _list(_TEXT),
        "only_in_baseline": _list(_place(point=_TEXT, asked={"type": "boolean"}, why=_TEXT)),
        "only_now": _list(_place(point=_TEXT)),
        "guard": _object(differences=_list({"type": "object"}), overridden={"type": "boolean"}),
        "exit_code": {"enum": [0, 1, 3]},
    }


def _second_source() -> dict[str, Any]:
    metric = _object(ours=_NUMBER, lo=_NUMBER, hi=_NUMBER, second=_NUMBER, ratio=_NUMBER)
    row = _object(
        point=_TEXT,
        case=_TEXT,
        target=_TEXT,
        n=_COUNT,
        requests=_COUNT,
        failed=_COUNT,
        prompt_tokens=_object(ours=_NUMBER, second=_NUMBER),
        metrics={"type": "object", "additionalProperties": metric},
        agrees={"type": ["boolean", "null"]},
    )
    return {
        "engine": {"enum": ["vllm_rs"]},
        "host": _TEXT,
        "program": _TEXT,
        "version": _TEXT,
        "rows": _list(row),
        "notes": _list(_TEXT),
    }


_TEXT = {"type": "string"}
_NUMBER = {"type": ["number", "null"]}
_VALUE = {"type": ["number", "string", "null"]}
_COUNT = {"type": "integer", "minimum": 0}
_OPTIONAL_COUNT = {"type": ["integer", "null"]}
_WHEN = {"type": ["string", "null"]}
_RANGE = {"type": ["array", "null"], "items": _NUMBER}
# What tells a row from that of another point; ``point`` is its id.
_OF_A_POINT = {"point": _TEXT, "endpoint": _TEXT, "stream": {"type": "boolean"}, "load": {"type": "object"}}
