# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What really happened: the mock's own times, and the errors of what a tool made of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any

from benchmarks.client.contenders import Figures
from benchmarks.client.percentiles import TAIL, percentile
from benchmarks.gateway.stage import ask


@dataclass(frozen=True)
class Truth:
    """The figures by the mock's own stamps; times of the process clock that all share."""

    ttft_ms: float | None
    decode_ms: float | None
    output_tps: float | None
    itl_p99_ms: float | None
    tokens: int
    ok: int
    first_arrival: float
    last_send: float
    requests: int


def set_mock(port: int, **settings: Any) -> None:
    """Set the mock, and have it forget."""
    ask(port, "/settings", "PUT", settings)


def of_generations(generations: Sequence[Mapping[str, Any]], requests: int, *, good: bool = True) -> Truth:
    """What the last requests were (a tool's own warm-up comes before them).

    :param good: whether a whole answer of this kind is a success
    """
    everything = sorted((each for each in generations if each["sends"]), key=lambda each: each["arrived"])
    if not everything:
        return Truth(None, None, None, None, 0, 0, 0.0, 0.0, len(generations))
    last = everything[-requests:]
    whole = [each for each in last if each["whole"]] if good else []
    spans = [
        1000 * (each["sends"][-1] - each["sends"][0]) / (each["tokens"] - each["first"])
        for each in whole
        if each["tokens"] > each["first"]
    ]
    gaps = [1000 * (b - a) for each in whole for a, b in zip(each["sends"], each["sends"][1:], strict=False)]
    tokens = sum(each["tokens"] for each in whole)
    began, ended = last[0]["arrived"], max(each["sends"][-1] for each in last)
    return Truth(
        ttft_ms=1000 * mean(each["sends"][0] - each["arrived"] for each in whole) if whole else None,
        decode_ms=mean(spans) if spans else None,
        output_tps=tokens / (ended - began) if tokens and ended > began else None,
        itl_p99_ms=percentile(gaps, TAIL),
        tokens=sum(each["tokens"] for each in everything),
        ok=len(whole),
        first_arrival=everything[0]["arrived"],
        last_send=ended,
        requests=len(generations),
    )


def ask_mock(port: int, requests: int, *, good: bool = True) -> Truth:
    """Ask the mock what it sent."""
    answer = json.loads(ask(port, "/truth", timeout=60.0)[1])
    return of_generations(answer["generations"], requests, good=good)


def error(found: float | None, true: float | None) -> float | None:
    """By how much a figure is wrong, in percent; None where either does not exist."""
    return None if found is None or not true else 100 * (found / true - 1)


def errors(figures: Figures, truth: Truth) -> dict[str, float | None]:
    """The error of each figure."""
    names = ("ttft_ms", "decode_ms", "output_tps", "itl_p99_ms")
    return {name: error(getattr(figures, name), getattr(truth, name)) for name in names}
