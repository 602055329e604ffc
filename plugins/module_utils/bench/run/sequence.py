# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which rounds are still to be played, and why one is not. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client import failures
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.run import ladder

# So many rounds in a row without one success, and later ones of the same target, or of the same case, are not tried.
DEAD_AFTER = 3
# How requests to a target fail that is not there or hangs, when not even the first event of an answer came. All other
# failures are an answer to what was asked: a prompt that is too long, an option that is refused, a rate that is limited
# (429), a long stream that somebody cuts. Another case may well succeed.
DEADLY = frozenset(
    {
        failures.CONNECT,
        failures.DNS,
        failures.TLS,
        failures.TIMEOUT_CONNECT,
        failures.TIMEOUT_TTFT,
        failures.TIMEOUT_IDLE,
        failures.TIMEOUT_TOTAL,
        failures.HTTP_5XX,
        failures.TRUNCATED,
    }
)
# What a round is skipped for.
LADDER, DEAD, REFUSED, NO_KNEE = "ladder", "dead", "refused", "no_knee"
# These are played again when a run is resumed: what failed may be mended by then.
AGAIN = (DEAD, REFUSED)
# What is needed of a round to go on after it.
_KNOWN = ("id", "point", "case", "target", "endpoint", "stream", "load", "round", "warmup", "block", "ladder",
          "seconds", "errors", "skipped", "skip_kind", "valid")  # fmt: skip
_SCALARS = ("output_tps", "output_tps_steady", "request_rate")

Round = Mapping[str, Any]


def known_of(one: Round) -> dict[str, Any]:
    """The small part of a finished round by which the rest of a run is steered."""
    summary = one.get("summary") or {}
    kept = {name: summary[name] for name in (*_SCALARS, "ttft_ms") if name in summary}
    succeeded = one.get("succeeded", sum(request["error"] is None for request in one.get("requests", [])))
    return {**{key: one[key] for key in _KNOWN if key in one}, "summary": kept, "succeeded": succeeded}


def held(rounds: Iterable[Round]) -> list[Round]:
    """The rounds of an interrupted run that need not be played again."""
    return [one for one in rounds if one.get("skip_kind") not in AGAIN]


class DeadTargets:
    """Counts how many rounds in a row had no success: of each target, and of each case and endpoint at it."""

    def __init__(self) -> None:
        self._failures: dict[tuple[str, ...], int] = {}
        self._words: dict[tuple[str, ...], str] = {}

    def saw(self, one: Round) -> None:
        """Take account of a round that was played."""
        target, case = (one["target"],), _case_of(one)
        samples = one.get("error_samples") or []
        words = str(samples[0]["message"]) if samples else "no request was made"
        began = any(request.get("ttfr_ms") is not None for request in one.get("requests", ()))
        deadly = not one["succeeded"] and not began and DEADLY.issuperset(one["errors"])
        self._count(target, deadly, words)
        # What a target that is away makes fail says nothing about a case.
        if not deadly:
            self._count(case, not one["succeeded"], words)

    def _count(self, key: tuple[str, ...], failed: bool, words: str) -> None:
        self._failures[key] = self._failures.get(key, 0) + 1 if failed else 0
        self._words[key] = words.rstrip(".")

    def why(self, spec: Round) -> tuple[str, str]:
        """Why a round is not tried any more, a sentence, and of which kind that is; both empty when it is."""
        target, case = (spec["target"],), _case_of(spec)
        if self._failures.get(target, 0) >= DEAD_AFTER:
            last = self._words[target]
            return f"{spec['target']} answered no request of {DEAD_AFTER} rounds in a row (the last: {last}).", DEAD
        if self._failures.get(case, 0) >= DEAD_AFTER:
            what = f"{spec['case']} by {spec['endpoint']} at {spec['target']}"
            last = self._words[case]
            return f"No request of {DEAD_AFTER} rounds of {what} succeeded in a row (the last: {last}).", REFUSED
        return "", ""


def skip(spec: Round, done: Sequence[Round], dead: DeadTargets, ttft_limit_ms: float | None) -> tuple[str, str]:
    """Why a round is not played and of which kind that is; both empty when it is.

    :param done: what :func:`known_of` gave of the finished rounds
    """
    why, kind = dead.why(spec)
    if why:
        return why, kind
    if ladder.is_step(spec):
        end = ladder.ladder_of(spec, done, ttft_limit_ms).end
        return (end, LADDER) if end else ("", "")
    if spec["load"]["model"] == "open":
        _rate, why = ladder.open_rate(spec, done, ttft_limit_ms)
        return (why, NO_KNEE) if why else ("", "")
    return "", ""


def _case_of(one: Round) -> tuple[str, ...]:
    return one["target"], one["case"], one["endpoint"]


def rest(rounds: Sequence[Round], have: Iterable[str]) -> list[Round]:
    """The rounds that are still to be played, in their sequence."""
    known = set(have)
    return [spec for spec in rounds if spec["id"] not in known]
