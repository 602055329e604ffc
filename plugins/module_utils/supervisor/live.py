# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files that a supervisor writes about itself: what must survive it, and what others read. Pure: text in and out.

Files hold Unix time, for they are read after a reboot and by people; the supervisor's own clock never jumps. ``offset``
is Unix time less that clock, in seconds.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from . import budget
from .memory import Memory
from .progress import Progress
from .spec import Spec
from .state import Heard, LastRestart, Run, State

# The place in the gateways' rotation of a rank that nobody asks.
NOWHERE: Mapping[str, Any] = {"ready": None, "not_ready": "", "draining": None, "door": ""}


def saved_text(spec: Spec, state: State, boot: str, offset: float) -> str:
    """The content of state.json."""
    return json.dumps(
        {
            "generation": spec.generation,
            "boot": boot,
            "offset": offset,
            "epoch": state.epoch,
            "order": state.order,
            "order_since": round(state.order_since + offset, 3),
            "phase": state.phase,
            "since": round(state.since + offset, 3),
            "reason": state.reason,
            "failed": state.failed,
            "run": _run(state.run),
            "proven": _run(state.proven),
            "failures": [round(at + offset, 3) for at in state.failures],
            "restarts": state.restarts,
            "last_restart": _last_restart(state, offset),
            "left": state.left,
        }
    )


def read_saved(text: str, spec: Spec, boot: str, offset: float) -> tuple[State | None, bool]:
    """The state in state.json, or None when it is not one, and whether the host was restarted since it was written.

    Of another generation only the epoch is of use: it must grow.
    """
    try:
        data = json.loads(text)
        restarted = data["boot"] != boot
        if data["generation"] != spec.generation:
            return State(epoch=int(data["epoch"]), left=True), restarted
        if not restarted:
            # The supervisor's clock is the same one, whatever was done to the date since.
            offset = float(data["offset"])
        last, run = data["last_restart"], data["run"]
        # Older supervisors did not prove anything.
        proven = data.get("proven")
        failures = tuple(float(at) - offset for at in data["failures"])
        state = State(
            epoch=int(data["epoch"]),
            order=str(data["order"]),
            order_since=float(data["order_since"]) - offset,
            phase=str(data["phase"]),
            since=float(data["since"]) - offset,
            reason=str(data["reason"]),
            failed=str(data["failed"]),
            run=Run(str(run["id"]), str(run["started_at"])) if run else None,
            start_asked=bool(run),
            failures=failures,
            not_before=failures[-1] + budget.delay(failures) if failures else 0.0,
            restarts=int(data["restarts"]),
            last_restart=LastRestart(float(last["at"]) - offset, last["reason"], last["evidence"]) if last else None,
            left=bool(data["left"]),
            proven=Run(str(proven["id"]), str(proven["started_at"])) if proven else None,
        )
    except (ValueError, TypeError, KeyError):
        return None, False
    return state, restarted


def live_state(
    spec: Spec,
    state: State,
    peers: Mapping[int, Heard],
    memory: Memory,
    progress: Progress,
    waiting: str,
    rotation: Mapping[str, Any],
    pid: int,
    offset: float,
    now: float,
) -> dict[str, Any]:
    """The content of the live state file.

    :param waiting: what is waited for, in words; added to the reason
    :param rotation: ``ready``, ``not_ready``, ``draining``, ``pressure`` and ``door``
    """
    return {
        "container": spec.container,
        "deployment": spec.deployment,
        "replica": spec.replica,
        "rank": spec.rank,
        "world_size": spec.world_size,
        "generation": spec.generation,
        "phase": state.phase,
        "epoch": state.epoch,
        "since": round(state.since + offset, 3),
        "reason": "; ".join(part for part in (state.failed or state.reason, waiting) if part),
        "restarts": state.restarts,
        "last_restart": _last_restart(state, offset),
        "peers": {
            str(rank): {"phase": heard.message.phase, "heard": round(heard.at + offset, 3)}
            for rank, heard in sorted(peers.items())
        },
        "tokens_per_second": round(progress.rate, 1) if progress.rate is not None else None,
        "requests_running": progress.sample.running if progress.sample else None,
        "requests_waiting": progress.sample.waiting if progress.sample else None,
        "memory_available": memory.available,
        **rotation,
        "pid": pid,
        "updated": round(now + offset, 3),
    }


def _run(run: Run | None) -> dict[str, str] | None:
    return {"id": run.id, "started_at": run.started_at} if run else None


def _last_restart(state: State, offset: float) -> dict[str, Any] | None:
    last = state.last_restart
    return {"at": round(last.at + offset, 3), "reason": last.reason, "evidence": last.evidence} if last else None
