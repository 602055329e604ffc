# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What gateways are told of a replica."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.admission import Standing, agent_line, answer
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.drained import Drained

READY = Standing("chat-0", "serving", proven=True, running=3, waiting=1)
FLAG = Drained("chat-0", "ann@desk", 1_700_000_000.0, "new driver")
SHORT = "memory available 7.0 GiB, the floor is 4.0 GiB"
TOLD = {"drain": [], "waiting": [], "listening": 60.0}


@pytest.mark.parametrize(
    ("standing", "health", "flag", "ready", "new", "reason"),
    [
        ({}, "", None, 200, 200, ""),
        ({"phase": "loading", "proven": False}, "", None, 503, 503, "the replica is in phase loading"),
        ({"phase": "", "proven": False}, "", None, 503, 503, "the replica is in phase unknown"),
        ({"phase": "stopping", "reason": "hung: 2 requests"}, "", None, 503, 503, "hung: 2 requests"),
        ({"proven": False}, "", None, 503, 503, "the first generation is under way"),
        ({"proven": False, "failure": "HTTP 500"}, "", None, 503, 503, "HTTP 500"),
        ({}, "no answer", None, 503, 503, "no answer"),
        # Streams that run are not cut, so the plain question is answered as before.
        ({}, "", FLAG, 200, 503, "draining: new driver"),
        ({}, "", replace(FLAG, reason=""), 200, 503, "draining"),
        ({"pressure": SHORT}, "", None, 200, 503, f"short of memory: {SHORT}"),
        ({"pressure": SHORT}, "no answer", FLAG, 503, 503, "no answer"),
    ],
)
def test_ready(standing: dict[str, Any], health: str, flag: Drained | None, ready: int, new: int, reason: str) -> None:
    found = replace(READY, **standing)
    status, content = answer(found, health, flag, TOLD, new=False)
    assert (status, content["ready"]) == (ready, ready == 200)
    assert content["reason"] == (reason if ready == 503 else "")
    status, content = answer(found, health, flag, TOLD, new=True)
    assert (status, content["reason"], content["ready"]) == (new, reason, ready == 200)


def test_the_whole_answer() -> None:
    assert answer(READY, "", FLAG, TOLD, new=False) == (
        200,
        {
            "replica": "chat-0",
            "ready": True,
            "phase": "serving",
            "reason": "",
            "draining": {
                "replica": "chat-0",
                "by": "ann@desk",
                "at": 1_700_000_000.0,
                "reason": "new driver",
                "expires": 0.0,
            },
            "pressure": False,
            "requests_running": 3,
            "requests_waiting": 1,
            "told": TOLD,
        },
    )


@pytest.mark.parametrize(
    ("pressure", "flag", "line"),
    [
        ("", None, "ready up 100%"),
        (SHORT, None, "ready up 0%"),
        ("", FLAG, "drain"),
        (SHORT, FLAG, "drain"),
    ],
)
@pytest.mark.parametrize("phase", ["serving", "loading"])
def test_agent_line(phase: str, pressure: str, flag: Drained | None, line: str) -> None:
    """Whether the replica is ready is told by the other check alone."""
    assert agent_line(replace(READY, phase=phase, pressure=pressure), flag) == line
