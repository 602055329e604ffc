# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What stands around the times of a point: the load that was reached, the engines' own account, the client's cost.

A load that was not reached measures another one (benchmark.md, fault 21); the client's TTFT less the engine's is what
network and gateway add; and a client that costs too much is late.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Round = Mapping[str, Any]

# Each figure with its unit and with what it is of the rounds, in the sequence of a report.
FIGURES = (
    ("concurrency", "requests", "mean"),
    ("concurrency", "requests", "peak"),
    ("server_ttft_ms", "ms", "mean"),
    ("server_queue_ms", "ms", "mean"),
    ("client_minus_server_ttft_ms", "ms", "mean"),
    ("server_kv_usage", "1", "max"),
    ("server_waiting", "requests", "max"),
    ("server_preemptions", "1", "sum"),
    ("server_generation_tokens", "tokens", "sum"),
    ("client_cpu_s_per_1000_tokens", "s", "mean"),
    ("client_rss_mb", "MB", "max"),
    ("client_lag_ms", "ms", "p50"),
    ("client_lag_ms", "ms", "p99"),
    ("client_lag_ms", "ms", "max"),
)


def figures(point: Mapping[str, Any]) -> dict[tuple[str, str], float | None]:
    """Each of :data:`FIGURES` by its name and statistic; None where it is not known of every measured round.

    Gauges of the engines are read in the warm-up alone, so as not to disturb what is measured.
    """
    every = point.get("rounds") or []
    rounds = [one for one in every if not one.get("warmup") and not one.get("skipped")]
    client = [one.get("client") or {} for one in rounds]
    lags = [one.get("lag_ms") or {} for one in client]
    server = [one.get("server") or {} for one in rounds]
    gauges = [one.get("server") or {} for one in every if one.get("warmup")]
    return {
        ("concurrency", "mean"): _mean(rounds, _in_flight, lambda one: one.get("seconds")),
        ("concurrency", "peak"): _of([(one.get("concurrency") or {}).get("peak") for one in rounds], max),
        ("server_ttft_ms", "mean"): _mean(rounds, _server_ttft, _requests),
        ("server_queue_ms", "mean"): _mean(rounds, _queue, _requests),
        ("client_minus_server_ttft_ms", "mean"): _mean(rounds, _way, _requests),
        ("server_kv_usage", "max"): _of([one.get("kv_usage_max") for one in gauges], max),
        ("server_waiting", "max"): _of([one.get("waiting_max") for one in gauges], max),
        ("server_preemptions", "sum"): _of([one.get("preemptions") for one in server], math.fsum),
        ("server_generation_tokens", "sum"): _of([one.get("generation_tokens") for one in server], math.fsum),
        ("client_cpu_s_per_1000_tokens", "mean"): _cost(rounds),
        ("client_rss_mb", "max"): _of([one.get("rss_mb") for one in client], max),
        **{("client_lag_ms", stat): _of([one.get(stat) for one in lags], max) for stat in ("p50", "p99", "max")},
    }


def addresses(point: Mapping[str, Any]) -> list[str]:
    """The addresses that were connected to, each once."""
    found = [(one.get("client") or {}).get("address") for one in point["rounds"]]
    return list(dict.fromkeys(str(address) for address in found if address))


def _of(values: Sequence[float | None], made: Callable[[Sequence[float]], float]) -> float | None:
    known = [value for value in values if value is not None]
    return made(known) if known and len(known) == len(values) else None


def _mean(
    rounds: Sequence[Round], figure: Callable[[Round], float | None], weight: Callable[[Round], float | None]
) -> float | None:
    """Over all rounds together: a round counts by its seconds or by its requests."""
    pairs = [(figure(one), weight(one) or 0) for one in rounds]
    # A round in which nothing succeeded has no time, and no weight.
    counted = [(value, share) for value, share in pairs if share > 0]
    if not counted or any(value is None for value, _share in counted):
        return None
    total = math.fsum(share for _value, share in counted)
    return math.fsum((value or 0.0) * share for value, share in counted) / total


def _requests(one: Round) -> float | None:
    count: float | None = ((one.get("summary") or {}).get("e2el_ms") or {}).get("n")
    return count


def _in_flight(one: Round) -> float | None:
    mean: float | None = (one.get("concurrency") or {}).get("mean")
    return mean


def _server_ttft(one: Round) -> float | None:
    mean: float | None = (one.get("server") or {}).get("ttft_ms_mean")
    return mean


def _queue(one: Round) -> float | None:
    mean: float | None = (one.get("server") or {}).get("queue_ms_mean")
    return mean


def _way(one: Round) -> float | None:
    """What lies between client and engine; nobody knows where requests of others are in the engine's mean."""
    ours, theirs = ((one.get("summary") or {}).get("ttft_ms") or {}).get("mean"), _server_ttft(one)
    if ours is None or theirs is None or (one.get("server") or {}).get("foreign_tokens"):
        return None
    return float(ours - theirs)


def _cost(rounds: Sequence[Round]) -> float | None:
    seconds = _of([(one.get("client") or {}).get("cpu_s") for one in rounds], math.fsum)
    counts = [(one.get("summary") or {}).get("completion_tokens") or {} for one in rounds]
    tokens = math.fsum((one.get("n") or 0) * (one.get("mean") or 0.0) for one in counts)
    return seconds / tokens * 1000 if seconds is not None and tokens else None
