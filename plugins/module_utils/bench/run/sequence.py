# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which rounds are still to be played, and why one is not. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.run import ladder

# So many rounds of a target in a row without one success, and its later ones are not tried.
DEAD_AFTER = 3
# What a round is skipped for. Rounds of a dead target are played again when a run is resumed.
LADDER, DEAD, NO_KNEE = "ladder", "dead", "no_knee"
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
    return [one for one in rounds if one.get("skip_kind") != DEAD]


class DeadTargets:
    """Counts how many rounds of each target in a row had no success."""

    def __init__(self) -> None:
        self._failures: dict[str, int] = {}
        self._words: dict[str, str] = {}

    def saw(self, one: Round) -> None:
        """Take account of a round that was played."""
        if one["succeeded"]:
            self._failures[one["target"]] = 0
            return
        self._failures[one["target"]] = self._failures.get(one["target"], 0) + 1
        samples = one.get("error_samples") or []
        self._words[one["target"]] = samples[0]["message"] if samples else "no request was made"

    def why(self, target: str) -> str:
        """Why its rounds are not tried any more, a sentence; empty while they are."""
        if self._failures.get(target, 0) < DEAD_AFTER:
            return ""
        words = self._words[target].rstrip(".")
        return f"{target} answered no request of {DEAD_AFTER} rounds in a row (the last: {words})."


def skip(spec: Round, done: Sequence[Round], dead: DeadTargets, ttft_limit_ms: float | None) -> tuple[str, str]:
    """Why a round is not played and of which kind that is; both empty when it is.

    :param done: what :func:`known_of` gave of the finished rounds
    """
    why = dead.why(spec["target"])
    if why:
        return why, DEAD
    if ladder.is_step(spec):
        end = ladder.ladder_of(spec, done, ttft_limit_ms).end
        return (end, LADDER) if end else ("", "")
    if spec["load"]["model"] == "open":
        _rate, why = ladder.open_rate(spec, done, ttft_limit_ms)
        return (why, NO_KNEE) if why else ("", "")
    return "", ""


def rest(rounds: Sequence[Round], have: Iterable[str]) -> list[Round]:
    """The rounds that are still to be played, in their sequence."""
    known = set(have)
    return [spec for spec in rounds if spec["id"] not in known]
