# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One round: its requests, what the engines counted meanwhile, and what comes of both. An edge: it makes load."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.ask import limits_from
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.played import Played, play
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.measure.summary import round_summary
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.run import engine_counts, metrics_text
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.run.asks import Asks, Talks
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.run.doors import Door
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.run.fit import Fit
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.run.tokens import fill_in

# Told how far it is: requests done, in flight, failed, seconds since the start.
Told = Callable[[int, int, int, float], None]
# Told what it is at when the load is over.
Tell = Callable[[str], None]


def play_round(
    order: Mapping[str, Any],
    spec: Mapping[str, Any],
    case: Mapping[str, Any],
    door: Door,
    fit: Fit,
    told: Told,
    tell: Tell,
) -> dict[str, Any]:
    """Play a round and measure it.

    :param spec: the round; an open load has its rate
    :param fit: filler words of its prompts, and what the server puts before them
    :returns: a ROUND
    """
    usage = bool(order.get("continuous_usage"))
    asks = Asks(spec, case, door.model, order["run"], fit.words, continuous_usage=usage)
    watched = door.counting if spec["warmup"] else ()
    before = engine_counts.read(door.counting)
    with engine_counts.Watch(watched) as watch:
        played = _play(order, spec, asks, door, told)
    after = engine_counts.read(door.counting)
    fill_in(door, played.records, tell)
    counted = metrics_text.server(list(zip(before, after, strict=True)), watch.seen)
    if counted is not None:
        foreign = metrics_text.foreign_tokens(counted["generation_tokens"], played.records)
        counted = {**counted, "head_tokens": fit.head, "foreign_tokens": foreign}
    return finished(order, spec, played, counted)


def _play(order: Mapping[str, Any], spec: Mapping[str, Any], asks: Asks, door: Door, told: Told) -> Played:
    limits = limits_from(order["limits"])
    keep_text = bool(door.engines)
    if asks.is_talk:
        talks = Talks(asks)
        return play(
            door.target, spec["load"], talks.next, limits, on_progress=told, keep_text=keep_text, on_answer=talks.heard
        )
    rate = spec["load"]["rate"] if spec["load"]["model"] == "open" else None
    return play(door.target, spec["load"], asks.singles(rate), limits, on_progress=told, keep_text=keep_text)


def finished(
    order: Mapping[str, Any], spec: Mapping[str, Any], played: Played, counted: Mapping[str, Any] | None
) -> dict[str, Any]:
    """The round made of what was played."""
    records = played.records
    for record in records:
        record.pop("text", None)
    case = next((case for case in order["cases"] if case["name"] == spec["case"]), None)
    found = round_summary(spec, records, played.steady, order["goodput"], counted, case)
    median_itl = (found["summary"].get("itl_ms") or {}).get("p50")
    valid, reasons = played.valid(median_itl, order.get("client_lag"))
    return {
        **_plain(spec),
        "began": played.began,
        "seconds": round(played.seconds, 3),
        "steady": played.steady,
        "nonce": order["run"]["nonce"],
        "requests": records,
        **found,
        "concurrency": played.concurrency,
        "server": counted,
        "client": {**played.client, "host": socket.gethostname()},
        "valid": valid,
        "invalid_reasons": list(reasons),
    }


def skipped(spec: Mapping[str, Any], why: str, kind: str) -> dict[str, Any]:
    """A round that is not played.

    :param why: a sentence
    """
    return {**_empty(spec, time.time()), "skipped": why, "skip_kind": kind}


def _empty(spec: Mapping[str, Any], began: float) -> dict[str, Any]:
    nothing: Sequence[Any] = []
    found = round_summary(spec, nothing, None, None, None)
    return {
        **_plain(spec),
        "began": began,
        "seconds": 0.0,
        "steady": None,
        "requests": [],
        **found,
        "concurrency": {"mean": None, "peak": 0},
        "server": None,
        "client": None,
        "valid": True,
        "invalid_reasons": [],
    }


def _plain(spec: Mapping[str, Any]) -> dict[str, Any]:
    return {**spec, "skipped": "", "skip_kind": ""}
