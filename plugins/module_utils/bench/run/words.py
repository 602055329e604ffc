# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How far a run is, in words. Pure."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

Round = Mapping[str, Any]


def load_words(load: Mapping[str, Any]) -> str:
    """A load in short: ``N=4``, ``2.5 requests/s``, ``one after the other``.

    >>> load_words({"model": "closed", "n": 4, "requests": 12})
    'N=4'
    """
    if load["model"] == "closed":
        return f"N={load['n']}"
    if load["model"] == "open":
        return f"{load['rate']:.3g} requests/s" if load.get("rate") else f"{load['share']:.0%} of the knee"
    return "one after the other"


def round_words(place: int, total: int, spec: Round) -> str:
    """Which round it is: ``round 7 of 42, short N=4 gateway``."""
    tail = " (warm-up)" if spec["warmup"] else ""
    return f"round {place} of {total}, {spec['case']} {load_words(spec['load'])} {spec['target']}{tail}"


def under_way(spec: Round, done: int, failed: int, tokens: int | None, seconds: float) -> str:
    """How far a round is: ``9 of 12 requests, 0 failed, 41 tok/s so far, 14 s``."""
    wanted = spec["load"]["requests"]
    # A closed load goes on after its last wanted request until its least time is over.
    words = [f"{done} of {wanted} requests" if done <= wanted else f"{done} requests", f"{failed} failed"]
    if tokens and seconds > 0:
        words.append(f"{tokens / seconds:.0f} tok/s so far")
    return ", ".join([*words, f"{seconds:.0f} s"])


def ended(one: Round) -> str:
    """What a finished round showed, for its line on the screen."""
    if one["skipped"]:
        return f"skipped. {one['skipped']}"
    failed = sum(one["errors"].values())
    words = [f"{len(one['requests'])} requests, {failed} failed"]
    shown = (("output_tps", "value", "{:.1f} tok/s"), ("ttft_ms", "p50", "first token {:.0f} ms"))
    for metric, key, form in shown:
        value = (one["summary"].get(metric) or {}).get(key)
        words += [form.format(value)] if value is not None else []
    if failed:
        words.append(" ".join(f"{kind}: {number}" for kind, number in sorted(one["errors"].items())))
    return ", ".join(words) + ("" if one["valid"] else f"; not valid: {' '.join(one['invalid_reasons'])}")


def time_left(rest: Sequence[Round], done: Sequence[Round]) -> float | None:
    """Seconds that the rest will take, by rounds of the same points, else by all; None when nothing is known yet."""
    played = [one for one in done if not one.get("skipped") and one.get("seconds")]
    if not played:
        return None
    by_point: dict[str, list[float]] = {}
    for one in played:
        by_point.setdefault(one["point"], []).append(one["seconds"])
    usual = statistics.fmean(one["seconds"] for one in played)
    return sum(statistics.fmean(by_point[spec["point"]]) if spec["point"] in by_point else usual for spec in rest)


def left_words(seconds: float | None) -> str:
    """The time left in round words; empty when nobody knows.

    >>> left_words(350.0)
    'about 6 min left'
    """
    if seconds is None:
        return ""
    if seconds < 90:
        return f"about {max(5, round(seconds / 5) * 5):.0f} s left"
    if seconds < 5400:
        return f"about {seconds / 60:.0f} min left"
    return f"about {seconds / 3600:.1f} h left"
