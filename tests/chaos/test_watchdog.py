# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What only the watchdog sees: an engine that hangs while all its processes are there, and one that never stays up."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

from tests.chaos.pair import Pair
from tests.chaos.record import Outcome

Record = Callable[[Outcome], None]

HUNG_AFTER = 15  # seconds


def give(pair: Pair, limits: dict[str, Any]) -> None:
    """Give the supervisors other limits, which leaves the engine alone."""
    before = pair.runs()
    ended = pair.play("deploy-tp2.yml", limits)
    assert ended.code == 0, ended.text
    assert pair.runs() == before, "new limits leave the engine alone"


def test_n01_a_rank_that_hangs_under_load(pair: Pair, record: Record) -> None:
    give(pair, {"replica_hung_after": HUNG_AFTER})
    with pair.load():
        at = time.time()
        pair.lab.freeze_engine("spark2")
        recovery = pair.recovered(at)
    assert re.search(r"no token|hung", recovery.noticed), recovery
    name = f"rank 1 frozen during a request, replica_hung_after {HUNG_AFTER} s"
    record(Outcome(name, recovery.noticed, recovery.seconds, recovery.engine))


def test_a_spent_budget_stays_down_until_the_next_deployment(any_pair: Pair, record: Record) -> None:
    give(any_pair, {"replica_restart_limit": 2, "replica_restart_window": 3600})
    # What other tests have used up of the budget may count, too.
    for _number in range(3):
        if any_pair.live("spark1").get("phase") == "down":
            break
        at = time.time()
        any_pair.lab.kill_engine("spark2")

        def settled(at: float = at) -> bool:
            state = any_pair.live("spark1")
            return state.get("phase") in ("down", "serving") and state["since"] > at

        any_pair.wait(settled, "rank 0 starts again or gives up")
    state = any_pair.live("spark1")
    assert state["phase"] == "down", state
    reason = state["reason"]
    assert "the engine ended with exit code 137" in reason
    assert "use up the budget of 2 restarts" in reason
    assert all(not any_pair.container(host)["State"]["Running"] for host in ("spark1", "spark2"))
    ended = any_pair.play("deploy-tp2.yml")
    assert ended.code == 0, ended.text
    any_pair.wait_generating()
    record(Outcome("rank 1 killed once more than replica_restart_limit", reason))
