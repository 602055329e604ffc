# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When a ladder of loads ends, where its knee is, and the rate of open loads that are a share of it. Pure.

A ladder is the rounds of one name against one target, with more users from step to step. It ends when a step brings too
little more tokens in all, or when its first tokens come too late: what lies beyond costs every user time and nobody
gains.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# A step that brings less than this share more tokens per second in all is the last one.
GAIN = 0.05

Round = Mapping[str, Any]


@dataclass(frozen=True)
class Step:
    """What the measured rounds of one number of users showed.

    :ivar users: how many users
    :ivar tokens: tokens per second in all; None when nothing worked
    :ivar rate: requests per second; None when nothing worked
    :ivar first: milliseconds to the first token, by the highest percentile that can be said
    :ivar by: that percentile; empty when none can
    """

    users: int
    tokens: float | None
    rate: float | None
    first: float | None
    by: str = ""


@dataclass(frozen=True)
class Ladder:
    """How far a ladder has come.

    :ivar end: why it goes no further, a sentence; empty while it goes on
    :ivar knee: the step with the most users that was worth its while; None when there is none
    """

    end: str
    knee: Step | None


def is_step(spec: Round) -> bool:
    """Whether a round is a step of a ladder."""
    return bool(spec["ladder"]) and spec["load"]["model"] == "closed"


def same_ladder(one: Round, other: Round) -> bool:
    """Whether two rounds belong to one ladder."""
    return all(one[key] == other[key] for key in ("ladder", "target", "case", "endpoint", "stream"))


def ladder_of(spec: Round, done: Iterable[Round], ttft_limit_ms: float | None) -> Ladder:
    """How far the ladder of a step has come with all steps that have fewer users.

    :param done: the finished rounds of the run
    :param ttft_limit_ms: milliseconds within which first tokens shall come
    """
    users = spec["load"]["n"]
    below = [one for one in done if is_step(one) and same_ladder(one, spec) and one["load"]["n"] < users]
    return read_ladder(steps_of(below), ttft_limit_ms)


def steps_of(rounds: Iterable[Round]) -> list[Step]:
    """The steps that have been measured, with the fewest users first."""
    by_users: dict[int, list[Round]] = {}
    for one in rounds:
        if not one["warmup"] and not one.get("skipped"):
            by_users.setdefault(one["load"]["n"], []).append(one)
    return [_step(users, by_users[users]) for users in sorted(by_users)]


def _step(users: int, rounds: Sequence[Round]) -> Step:
    tokens = [_tokens(one) for one in rounds]
    return Step(
        users,
        _median(tokens),
        _median([_scalar(one, "request_rate") for one in rounds]),
        *_first(rounds),
    )


def read_ladder(steps: Sequence[Step], ttft_limit_ms: float | None) -> Ladder:
    """Go up the steps until one is not worth its while."""
    knee: Step | None = None
    for step in steps:
        if not step.tokens:
            return Ladder(f"No request of the ladder succeeded with {step.users} users at once.", knee)
        if ttft_limit_ms is not None and step.first is not None and step.first > ttft_limit_ms:
            late = f"{step.first:.0f} ms ({step.by}), later than the {ttft_limit_ms:g} ms that are wanted"
            return Ladder(f"With {step.users} users at once the first token came after {late}.", knee)
        if knee is not None and knee.tokens and step.tokens / knee.tokens - 1 < GAIN:
            change = f"from {knee.tokens:.1f} to {step.tokens:.1f} tok/s"
            words = f"{knee.users} to {step.users} users at once changed the total {change}"
            return Ladder(f"The ladder is at its end: {words}, a gain below {GAIN:.0%}.", knee)
        knee = step
    return Ladder("", knee)


def open_rate(spec: Round, done: Iterable[Round], ttft_limit_ms: float | None) -> tuple[float | None, str]:
    """Requests per second of an open load, and why there is none.

    :param spec: a round of an open load, with its ``rate`` or its ``share`` of the rate at the knee
    :param done: the finished rounds of the run, where the ladder is looked for
    """
    load = spec["load"]
    if load.get("rate"):
        return float(load["rate"]), ""
    steps = [one for one in done if is_step(one) and _feeds(one, spec)]
    near = [one for one in steps if one["endpoint"] == spec["endpoint"]] or steps
    knee = read_ladder(steps_of(near), ttft_limit_ms).knee
    if knee is None or not knee.rate:
        return None, "Its rate is a share of the rate at the knee, and no ladder of its case and target found one."
    return load["share"] * knee.rate, ""


def _feeds(step: Round, spec: Round) -> bool:
    """Whether a step tells the knee of an open load: another case has another knee."""
    named = not spec["ladder"] or step["ladder"] == spec["ladder"]
    return named and step["target"] == spec["target"] and step["case"] == spec["case"]


def _tokens(one: Round) -> float | None:
    steady = _scalar(one, "output_tps_steady")
    return _scalar(one, "output_tps") if steady is None else steady


def _first(rounds: Sequence[Round]) -> tuple[float | None, str]:
    """The median over rounds of the highest percentile that each round with a first token has, and its name.

    The limit is one of p95 (benchmark.md 5.2). A short round does not know it: p90 or p50 is not later than that.
    """
    seen = [times for one in rounds if (times := one["summary"].get("ttft_ms") or {}).get("p50") is not None]
    for name in ("p95", "p90", "p50"):
        values = [times.get(name) for times in seen]
        if values and None not in values:
            return _median(values), name
    return None, ""


def _scalar(one: Round, name: str) -> float | None:
    value: float | None = (one["summary"].get(name) or {}).get("value")
    return value


def _median(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None
