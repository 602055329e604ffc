# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files that a supervisor writes about itself."""

from __future__ import annotations

import json

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.live import (
    NOWHERE,
    live_state,
    read_saved,
    saved_text,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.memory import Memory
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.messages import Message
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.progress import Progress, Sample
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.state import Heard, LastRestart, Run, State
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.supervisor.pretended_group import make_spec

OFFSET = 1_700_000_000.0
STATE = State(
    epoch=7,
    order="serve",
    order_since=90.0,
    phase="serving",
    since=95.0,
    run=Run("id", "2026-11-29T12:00:00Z"),
    start_asked=True,
    failures=(50.0, 80.0),
    restarts=2,
    last_restart=LastRestart(80.0, "hung", "/var/lib/x"),
    not_before=85.0,
    proven=Run("id", "2026-11-29T12:00:00Z"),
)


def test_what_is_saved_is_read_again() -> None:
    text = saved_text(make_spec(0), STATE, "boot-1", OFFSET)
    assert read_saved(text, make_spec(0), "boot-1", OFFSET) == (STATE, False)


def test_a_date_that_was_set_moves_no_time() -> None:
    text = saved_text(make_spec(0), STATE, "boot-1", OFFSET)
    assert read_saved(text, make_spec(0), "boot-1", OFFSET + 3600) == (STATE, False)


def test_times_are_of_the_new_clock_after_a_reboot() -> None:
    """The new clock began 1000 s after the old one."""
    text = saved_text(make_spec(0), STATE, "boot-1", OFFSET)
    saved, restarted = read_saved(text, make_spec(0), "boot-2", OFFSET + 1000)
    assert restarted
    assert saved is not None
    assert saved.failures == (-950.0, -920.0)


def test_of_another_generation_only_the_epoch_counts() -> None:
    other = make_spec(0, generation="ba9876543210")
    text = saved_text(make_spec(0), STATE, "boot-1", OFFSET)
    assert read_saved(text, other, "boot-1", OFFSET) == (State(epoch=7, left=True), False)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"generation": "0123456789ab"}'])
def test_no_state(text: str) -> None:
    assert read_saved(text, make_spec(0), "boot-1", OFFSET) == (None, False)


def test_live_state_has_the_agreed_keys() -> None:
    content = live_state(
        make_spec(0),
        STATE,
        {1: Heard(Message("big-0", "0123456789ab", 1, 7, "serving"), 99.5)},
        Memory(100, 60),
        Progress(Sample(2, 1, 500.0, 400.0), 99.0, None, 31.25),
        "",
        {"ready": True, "draining": None, "door": "", "pressure": False},
        4711,
        OFFSET,
        100.0,
    )
    assert json.loads(json.dumps(content)) == {
        "container": "dgxspark-big-0-r0",
        "deployment": "big",
        "replica": "big-0",
        "rank": 0,
        "world_size": 2,
        "generation": "0123456789ab",
        "phase": "serving",
        "epoch": 7,
        "since": OFFSET + 95,
        "reason": "",
        "restarts": 2,
        "last_restart": {"at": OFFSET + 80, "reason": "hung", "evidence": "/var/lib/x"},
        "peers": {"1": {"phase": "serving", "heard": OFFSET + 99.5}},
        "tokens_per_second": 31.2,
        "requests_running": 2,
        "requests_waiting": 1,
        "memory_available": 60,
        "ready": True,
        "draining": None,
        "pressure": False,
        "door": "",
        "pid": 4711,
        "updated": OFFSET + 100,
    }


def test_live_state_of_a_rank_that_waits() -> None:
    state = State(phase="waiting-for-peers", failed="the engine ended with exit code 0")
    content = live_state(
        make_spec(1), state, {}, Memory(1, 1), Progress(), "waits for rank 0", NOWHERE, 1, OFFSET, 100.0
    )
    assert content["reason"] == "the engine ended with exit code 0; waits for rank 0"
    assert (content["last_restart"], content["tokens_per_second"], content["ready"]) == (None, None, None)


def test_a_state_of_an_older_supervisor_has_proven_nothing() -> None:
    data = json.loads(saved_text(make_spec(0), STATE, "boot-1", OFFSET))
    del data["proven"]
    saved, _restarted = read_saved(json.dumps(data), make_spec(0), "boot-1", OFFSET)
    assert saved is not None
    assert (saved.run, saved.proven) == (STATE.run, None)
