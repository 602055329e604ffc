# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The client measures a server of known truth, on the very host that it is to measure from. An edge: it makes load.

It does so once with the loop that measures and once with threads over `http.client`, which must agree (benchmark.md
5.1): 8 users with 2 requests each, so that there are enough gaps for a p99.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.ask import Ask, Limits
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.body import CHAT, body_of, path_of
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.played import play
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.self_figures import NOTHING, figures
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.target import Target
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.threads import play_threads
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.truth import GAP_S, Stamps, Truth

USERS, REQUESTS, TOKENS = 8, 16, 33
# Seconds after which the server is gone, and with it all that still waits for it. Some 1.5 s are usual.
MOST_S = 4.5
_LIMITS = Limits(connect_s=1.0, ttft_s=2.0, idle_s=1.0, total_s=3.0)
_LOAD = {"model": "closed", "n": USERS, "requests": REQUESTS, "min_s": 0.0}
_EPOLL, _THREADS = "epoll", "threads"


def self_test() -> dict[str, Any]:
    """Make the test, in 5 s at most.

    :returns: the keys of ``self_figures.NOTHING``: ``host``; ``streams``, ``gap_ms`` and ``tokens`` of what was
        measured; by how many percent of the truth ``ttft_err_pct``, ``itl_p99_err_pct`` and ``tpot_err_pct`` are off;
        ``threads_tpot_diff_pct``, by how many percent the two transports differ; whether the client held itself for
        ``valid``; the ``seconds`` that it took; and ``error``, why there is none of this. It raises nothing: a run is
        worth more than its self-test
    """
    began = time.perf_counter()
    known = {"host": socket.gethostname(), "streams": USERS, "gap_ms": 1000.0 * GAP_S}
    try:
        found = _measured(began)
    except Exception as fault:
        found = {"error": f"{type(fault).__name__}: {fault}"}
    return {**NOTHING, **known, **found, "seconds": round(time.perf_counter() - began, 2)}


def _measured(began: float) -> dict[str, Any]:
    with Truth(MOST_S) as truth:
        target = Target("self-test", truth.url)
        ours = play(target, _LOAD, _asks(_EPOLL), _LIMITS, over=lambda: time.perf_counter() - began > MOST_S)
        threads = play_threads(target, _LOAD, _asks(_THREADS), _LIMITS)
        sent = truth.stamps()
    valid, _reasons = ours.valid(1000.0 * GAP_S)
    found = figures(ours.records, _of(_EPOLL, sent), threads.records, _of(_THREADS, sent))
    return {**found, "valid": valid}


def _asks(way: str) -> Iterator[Ask]:
    for number in range(REQUESTS):
        body = body_of(
            CHAT,
            "self-test",
            messages=[{"role": "user", "content": "Say something."}],
            output={"mode": "fixed", "tokens": TOKENS},
            extra={"user": _name(way, number)},
        )
        yield Ask(number, path_of(CHAT), body, CHAT, True, TOKENS)


def _of(way: str, sent: Stamps) -> dict[int, dict[str, Any]]:
    """What was sent to one of the two, by the ids of its requests."""
    return {number: sent[_name(way, number)] for number in range(REQUESTS) if _name(way, number) in sent}


def _name(way: str, number: int) -> str:
    return f"{way}-{number}"
