# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The requests of a result of ``vllm bench serve --save-detailed``, as our own records."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.measure.percentiles import scalar
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.measure.summary import round_summary

LISTS = ("output_lens", "ttfts", "itls", "errors", "start_times")
# A gap that no engine makes: the chunk without a token comes with the one before it.
_AT_ONCE_S = 0.001
UNKNOWN = "unknown"
_STATUS = re.compile(r"\bHTTP ([45]\d\d)\b")
# By words of vLLM's message, the first that fits: reason phrases of HTTP, and names of exceptions of its client.
_KINDS = (
    ("Too Many Requests", "http_429"),
    ("Internal Server Error", "http_5xx"),
    ("Bad Gateway", "http_5xx"),
    ("Service Unavailable", "http_5xx"),
    ("Gateway Timeout", "http_5xx"),
    ("Bad Request", "http_4xx"),
    ("Unauthorized", "http_4xx"),
    ("Forbidden", "http_4xx"),
    ("Not Found", "http_4xx"),
    ("Unprocessable", "http_4xx"),
    ("Never received a valid chunk", "empty_output"),
    ("ClientPayloadError", "truncated"),
    ("TransferEncodingError", "truncated"),
    ("JSONDecodeError", "bad_json"),
    ("ClientConnectorDNSError", "dns"),
    ("ClientConnectorCertificateError", "tls"),
    ("ClientConnectorError", "connect"),
    ("TimeoutError", "timeout_total"),
)


def records(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A record for each request; none when the file has not all that they need."""
    lists = [document.get(name) for name in LISTS]
    if not all(isinstance(one, list) for one in lists) or len({len(one) for one in lists if one is not None}) != 1:
        return []
    columns = list(zip(*(document[name] for name in LISTS), strict=True))
    if not columns:
        return []
    start = min(row[4] for row in columns)
    whole = document.get("latencies")
    latencies = whole if isinstance(whole, list) and len(whole) == len(columns) else [None] * len(columns)
    return [_record(number, row, latencies[number], start) for number, row in enumerate(columns)]


def summarised(found: Sequence[Mapping[str, Any]], load: Mapping[str, Any]) -> dict[str, Any]:
    """Summary and failures in our way; what the file cannot tell is null with a reason that says so."""
    made = round_summary({"stream": True, "load": load}, found, None, None)
    why = "not in the JSON of vllm bench serve"
    summary = dict(made["summary"])
    for name in ("ttfo_ms", "ttfr_ms", "close_ms", "connect_ms"):
        summary[name] = {**summary[name], "null_reason": why}
    whose = "whether the server or the client counted the tokens of the prompts, the file does not say"
    summary["prompt_tokens"] = {**summary["prompt_tokens"], "null_reason": whose}
    for name in ("total_tps", "prefill_tps"):
        summary[name] = scalar(None, whose)
    for name in ("cache_hit_rate", "output_tps_steady", "goodput_share"):
        summary[name] = scalar(None, why)
    lag = "from the schedule of an open load the file has no times"
    summary["dispatch_lag_p99_ms"] = scalar(None, lag if load["model"] == "open" else "the load has no schedule")
    return {"summary": summary, "errors": made["errors"], "error_samples": made["error_samples"]}


def mean_concurrency(found: Sequence[Mapping[str, Any]]) -> float | None:
    """How many requests were under way, on average over the time from the first to the last."""
    if not found:
        return None
    span = max(record["t_end"] for record in found) - min(record["t_write"] for record in found)
    return math.fsum(record["t_end"] - record["t_write"] for record in found) / span if span > 0 else None


def _record(number: int, row: Sequence[Any], latency: float | None, start: float) -> dict[str, Any]:
    tokens, ttft, gaps, message, began = row
    write = began - start
    took = ttft + math.fsum(gaps) if latency is None else latency
    failed = bool(message) or not tokens
    # Without streaming there is no first token by itself, and vLLM writes 0.
    streamed = ttft > 0 and not failed
    timed = streamed and tokens > 1
    kept = _gaps(gaps, tokens)
    error = {"kind": _kind(message), "status": None, "message": _last_line(message)} if failed else None
    return {
        "id": number,
        "user": None,
        "measured": True,
        "t_sched": None,
        "t_write": write,
        "t_first": write + ttft if streamed else None,
        "t_last": write + took if streamed else None,
        "t_end": write + took,
        "connect_ms": None,
        "ttfr_ms": None,
        "ttft_ms": ttft * 1000 if streamed else None,
        "ttfo_ms": None,
        "tpot_ms": (took - ttft) * 1000 / (tokens - 1) if timed else None,
        "e2el_ms": None if failed else took * 1000,
        "close_ms": None,
        "chunks": len(kept) + 1 if streamed else 0,
        "gaps_ms": [gap * 1000 for gap in kept] if streamed else [],
        "tokens": {"prompt": None, "completion": None if failed else tokens, "reasoning": None, "cached": None},
        "first_chunk_tokens": 1,
        "token_source": UNKNOWN,
        "error": error,
    }


def _gaps(gaps: Sequence[float], tokens: int) -> Sequence[float]:
    """Without the gap of the chunk that has no token: the role before the first token, or the end after the last."""
    if len(gaps) < tokens or not gaps:
        return gaps
    if gaps[-1] < _AT_ONCE_S:
        return gaps[:-1]
    return gaps[1:] if gaps[0] < _AT_ONCE_S else gaps


def failures(document: Mapping[str, Any]) -> dict[str, int]:
    """Failures by kind, of a result without its requests: the Rust program lists those that failed all the same."""
    found: dict[str, int] = {}
    for one in document.get("failed_requests") or ():
        kind = _kind(str(one.get("error") or ""))
        found[kind] = found.get(kind, 0) + 1
    return found


def _kind(message: str) -> str:
    status = _STATUS.search(message)
    if status:
        return "http_429" if status[1] == "429" else f"http_{status[1][0]}xx"
    return next((kind for words, kind in _KINDS if words in message), UNKNOWN)


def _last_line(message: str) -> str:
    """Of a traceback only its last line says what happened."""
    lines = [line for line in message.splitlines() if line.strip()]
    return lines[-1].strip()[:200] if lines else "vLLM gives no reason"
