# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Clocks of hosts that differ: rounds have the client's time, samples that of the host they were taken on. Pure.

A clock is compared with the controller's by asking for the time and taking it for that of the middle of the question,
as NTP does (RFC 5905, section 8): it is wrong by half of what the question took at most.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.judge.finding import WARNING, Finding, finding
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.judge.watched import entries, number
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.suites.reach import LOCALHOST

# Seconds. Samples come once a second, so that what is nearer than this shifts no window that matters.
APART = 1.0
KEY = "clock_offset_s"
_TIME = re.compile(r"\d{9,11}\.\d+")
Clock = Mapping[str, float]
_CONTROLLER: Clock = {"offset_s": 0.0, "error_s": 0.0}


def offset(asked: Iterable[tuple[float, str, float]]) -> dict[str, float] | None:
    """By how many seconds a host's clock is ahead of ours.

    :param asked: our Unix time before a question, the host's answer, and our time after it; of each question
    :returns: ``offset_s`` and ``error_s``, by which it may be wrong, of the quickest question; None when no answer is a
        time
    """
    found = [
        {"offset_s": round(float(said) - (before + after) / 2, 3), "error_s": round((after - before) / 2, 3)}
        for before, said, after in asked
        if _TIME.fullmatch(said) and after >= before
    ]
    return min(found, key=lambda one: one["error_s"]) if found else None


def aligned(
    snapshots: Mapping[str, Mapping[str, Any]], clocks: Mapping[str, Clock], client: str
) -> dict[str, dict[str, Any]]:
    """Samples in the client's time.

    :param snapshots: of each host, as its sampler returns them
    :param clocks: of each host as :func:`offset` gives it
    :param client: the host that asked; ``localhost`` is the controller itself unless it has a clock here
    :returns: the same with ``clock_offset_s``, by how much the host's clock is ahead of the client's: None where that
        is not known, 0 where it is less than it can be wrong. Samples are moved by it if it is above :data:`APART`
    """
    return {host: _aligned(seen, _ahead(clocks, host, client)) for host, seen in snapshots.items()}


def farthest(parts: Iterable[Mapping[str, Any]]) -> float | None:
    """The largest of what several parts of a run say that a clock was off; None when none says it."""
    return max((ahead for part in parts if (ahead := number(part, KEY)) is not None), key=abs, default=None)


def findings(snapshots: Mapping[str, Any], client: str) -> list[Finding]:
    """That clocks of hosts were off.

    :param client: name of the host that asked; empty when it is not known
    """
    known = ((host, number(seen, KEY)) for host, seen in sorted(snapshots.items()))
    return [_skew(host, ahead, client) for host, ahead in known if ahead is not None and abs(ahead) > APART]


def _skew(host: str, ahead: float, client: str) -> Finding:
    whose = f"that of the client {client}" if client else "that of the client"
    way = "ahead of" if ahead > 0 else "behind"
    return finding(
        "clock_skew",
        WARNING,
        host,
        f"a clock {abs(ahead):.1f} s {way} {whose}",
        f"the same time on both to {APART:g} s",
        "Its samples were moved by that; set up time synchronisation on both (timedatectl set-ntp true).",
    )


def _ahead(clocks: Mapping[str, Clock], host: str, client: str) -> float | None:
    """Seconds; 0 where the difference is within what it can be wrong."""
    if host == client:
        return 0.0
    ours, theirs = clocks.get(client) or (_CONTROLLER if client == LOCALHOST else None), clocks.get(host)
    if not ours or not theirs:
        return None
    ahead = theirs["offset_s"] - ours["offset_s"]
    return round(ahead, 3) if abs(ahead) > theirs["error_s"] + ours["error_s"] else 0.0


def _aligned(seen: Mapping[str, Any], ahead: float | None) -> dict[str, Any]:
    if ahead is None or abs(ahead) <= APART:
        return {**seen, KEY: ahead}
    samples = [{**sample, "t": round(sample["t"] - ahead, 3)} for sample in entries(seen, "samples")]
    return {**seen, KEY: ahead, "samples": samples}
