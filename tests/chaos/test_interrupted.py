# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A deployment that is interrupted or meets another one: what served comes back, and no half of a new one stays."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.chaos.pair import Pair
from tests.chaos.record import Outcome

Record = Callable[[Outcome], None]

#: Another version of the replica, which takes long to load (the double only; real vLLM does so by itself).
NEW: dict[str, Any] = {"serving_env": {"MARK": "new", "DOUBLE_LOAD_SECONDS": "20"}}

#: Where in a run Ctrl-C is pressed: a line of its output.
POINTS = {
    "in the plan": r"^TASK \[Plan the deployment",
    "while looking at the model": r"^TASK \[dgxspark\.serving\.model :",
    "while the old one is put aside": r"^TASK \[dgxspark\.serving\.replica : .*Put aside",
    "while the new one is made": r"^TASK \[dgxspark\.serving\.replica : .*Make the rank's container",
    "while waiting for the new one": r"^spark1: dgxspark-\S+: \d+ s",
}


def test_a_second_run_at_the_same_time(any_pair: Pair, record: Record) -> None:
    first = any_pair.start(any_pair.command("deploy-tp2.yml", NEW))

    def locked() -> bool:
        assert first.poll() is None, "the first run ended without the lock"
        return any_pair.ask("spark1", "test", "-e", "/run/dgxspark-serving/lock.json") is not None

    try:
        any_pair.wait(locked, "the first run has the lock")
        second = any_pair.play("deploy-tp2.yml", {"serving_env": {"MARK": "another"}})
    finally:
        output, _none = first.communicate()
    assert second.code != 0
    assert "another run of dgxspark.serving by" in second.text, second.text
    assert "Traceback" not in second.text
    assert first.returncode == 0, output
    any_pair.wait_generating()
    record(Outcome("a second run at the same time", "refused: another run is changing this host; the first goes on"))


@pytest.mark.parametrize("point", POINTS)
def test_interrupted(point: str, pair: Pair, record: Record) -> None:
    old = pair.live("spark1")["generation"]
    at = time.time()
    ended = pair.interrupt("deploy-tp2.yml", NEW, POINTS[point])
    assert ended.code != 0
    if point == list(POINTS)[-1]:
        # Nobody does anything: the hosts take the change back when the run gives no sign any more.
        back = pair.wait(lambda: pair.live("spark1").get("generation") == old and pair.serving(), "the old one serves")
        made = pair.wait_generating()
        assert back
        pair.is_own()
        record(Outcome(f"Ctrl-C {point}", "the hosts take the change back", made.at - at, pair.engine_start()))
        return
    again = pair.play("deploy-tp2.yml")
    assert again.code == 0, again.text
    assert pair.live("spark1")["generation"] == old
    pair.wait_generating()
    record(Outcome(f"Ctrl-C {point}, then run again", "the next run puts it right"))
