# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rounds that were left out while a run went on: which, and why, as findings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result import headline

Round = Mapping[str, Any]

# A ladder's end is what it looks for; a target that no longer answers, or refuses a case, is a failure of the run.
FAILURES = ("dead", "refused")
_SEVERITIES = {"ladder": "info", "no_knee": "warning", **dict.fromkeys(FAILURES, "error")}


def findings(rounds: Iterable[Round]) -> list[dict[str, str]]:
    """One for each case, target and reason, with all the loads that it concerns."""
    found: dict[tuple[str, str, str, str], list[Round]] = {}
    for one in rounds:
        if one.get("skipped"):
            key = (one["case"], one["target"], one.get("skip_kind") or "", one["skipped"])
            found.setdefault(key, []).append(one)
    return [
        {
            "code": f"skipped_{kind or 'rounds'}",
            "severity": _SEVERITIES.get(kind, "warning"),
            "text": f"{case} on {target}: not measured with load {_loads(own)} ({_count(len(own))}). {why}",
        }
        for (case, target, kind, why), own in found.items()
    ]


def failure(rounds: Sequence[Round], again: str = "") -> str:
    """Why a pipeline should stop: targets that no longer answered, or refused a case; empty when all did.

    :param again: how the run goes on when they answer again, in words; empty when it cannot
    """
    dead = [one for one in rounds if one.get("skipped") and one.get("skip_kind") in FAILURES]
    if not dead:
        return ""
    why = " ".join(dict.fromkeys(one["skipped"] for one in dead))
    remedy = f" Mend it, and {again}" if again else ""
    return f"{_count(len(dead))} not measured. {why}{remedy}"


def _loads(rounds: Sequence[Round]) -> str:
    return ", ".join(dict.fromkeys(headline.load_of(one) for one in rounds))


def _count(number: int) -> str:
    return f"{number} round" + ("s" if number > 1 else "")
