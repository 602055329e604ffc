# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Requests and rounds with times that can be reckoned in the head, for the tests of their summaries."""

from __future__ import annotations

from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.measure.summary import round_summary

CLOSED = {"model": "closed", "n": 4, "requests": 12, "min_s": 0.0}


def record(number: int = 0, **more: Any) -> dict[str, Any]:
    """A request that is sent at 0 s, has 11 tokens at 0.1, 0.12, ..., 0.3 s and ends there."""
    tokens = {"prompt": 100, "completion": 11, "reasoning": None, "cached": None, **more.pop("tokens", {})}
    return {
        "id": number,
        "user": 0,
        "measured": True,
        "t_sched": None,
        "t_write": 0.0,
        "t_first": 0.1,
        "t_last": 0.3,
        "t_end": 0.301,
        "connect_ms": None,
        "ttfr_ms": 90.0,
        "ttft_ms": 100.0,
        "ttfo_ms": 100.0,
        "tpot_ms": 20.0,
        "e2el_ms": 300.0,
        "close_ms": 1.0,
        "chunks": 11,
        "gaps_ms": [20.0] * 10,
        "first_chunk_tokens": 1,
        "token_source": "usage",
        "requested_tokens": 11,
        "finish": "length",
        "status": 200,
        "error": None,
        "text_chars": 40,
        "sample": "",
        **more,
        "tokens": tokens,
    }


def failed(number: int = 0, kind: str = "http_5xx", message: str = "HTTP 500", **more: Any) -> dict[str, Any]:
    """A request that failed at once, with times that must be seen nowhere."""
    error = {"kind": kind, "status": None, "message": message}
    nothing = {"prompt": None, "completion": None, "reasoning": None, "cached": None}
    times = {"t_first": None, "t_last": None, "t_end": 0.002, "ttft_ms": 0.5, "tpot_ms": 0.5, "e2el_ms": 1.0}
    return record(number, error=error, gaps_ms=[], chunks=0, **{"tokens": nothing, **times, **more})


def spec(round_id: str = "0001", number: int = 1, **more: Any) -> dict[str, Any]:
    """A round as it is ordered."""
    return {
        "id": round_id,
        "point": "short-en/chat/gateway/n4",
        "case": "short-en",
        "target": "gateway",
        "endpoint": "chat",
        "stream": True,
        "load": CLOSED,
        "round": number,
        "warmup": False,
        "block": "",
        "ladder": "",
        **more,
    }


def played(ordered: dict[str, Any], records: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    """A finished round."""
    steady = more.get("steady")
    found = round_summary(ordered, records, steady, more.pop("goodput", None), more.get("server"))
    return {
        **ordered,
        "began": 1000.0,
        "seconds": 1.0,
        "steady": steady,
        "requests": records,
        **found,
        "concurrency": {"mean": 4.0, "peak": 4},
        "server": None,
        "client": {},
        "valid": True,
        "invalid_reasons": [],
        "skipped": "",
        **more,
    }
