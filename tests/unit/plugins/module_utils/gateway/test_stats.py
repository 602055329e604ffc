# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""HAProxy's statistics and journal; the rows are those of HAProxy 3.0."""

from __future__ import annotations

import json

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.gateway import stats

CHAT = [{"name": "chat", "replicas": ["chat-0", "chat-1"]}]
COLUMNS = (
    "pxname,svname,qcur,scur,stot,econ,eresp,status,weight,chkdown,lastchg,check_status,check_code,hrsp_5xx,check_desc"
)


def answer(*rows: str) -> str:
    return "\n".join([f"# {COLUMNS},", *(f"{row}," for row in rows), ""])


def server(status: str = "UP", weight: int = 1, code: str = "200", said: str = "Layer7 check passed") -> str:
    return f"chat,chat-0,1,3,40,1,2,{status},{weight},2,25,L7OK,{code},4,{said}"


def test_a_deployment_with_its_replicas() -> None:
    rows = [
        "gateway,FRONTEND,,9,9,,,OPEN,,,,,,,",
        server(),
        "chat,chat-1,0,0,0,0,0,DOWN,1,1,9,L4TOUT,,0,Layer4 timeout",
    ]
    backend = "chat,BACKEND,5,3,40,0,0,UP,1,1,25,,,0,"
    tracked = "only_chat-0,chat-0,0,0,0,0,0,UP,1,,25,,,0,"
    (found,) = stats.parse(answer(*rows, backend, tracked), CHAT)
    assert (found["name"], found["queue"]) == ("chat", 6)
    first, second = found["replicas"]
    assert first == {
        "name": "chat-0",
        "state": "up",
        "in_flight": 3,
        "queue": 1,
        "last_change_seconds": 25,
        "check": "Layer7 check passed",
        "downs": 2,
        "requests": 40,
        "errors": 7,
    }
    assert (second["state"], second["check"]) == ("down", "Layer4 timeout")


@pytest.mark.parametrize(
    ("status", "weight", "state"),
    [
        ("UP", 1, "up"),
        ("UP 1/2", 1, "up"),
        ("no check", 1, "up"),
        ("UP", 0, "pressure"),
        ("DRAIN (agent)", 1, "drain"),
        ("DOWN", 1, "down"),
        ("DOWN (agent)", 1, "down"),
        ("DOWN 1/2", 0, "down"),
        ("MAINT (resolution)", 1, "maintenance"),
    ],
)
def test_states(status: str, weight: int, state: str) -> None:
    (found,) = stats.parse(answer(server(status, weight), "chat,BACKEND,0,0,0,0,0,UP,1,0,0,,,0,"), CHAT)
    assert found["replicas"][0]["state"] == state


def test_the_status_code_of_a_check_that_failed() -> None:
    text = answer(server("DOWN", 1, "503", "Layer7 wrong status"), "chat,BACKEND,0,0,0,0,0,UP,1,0,0,,,0,")
    assert stats.parse(text, CHAT)[0]["replicas"][0]["check"] == "Layer7 wrong status 503"


def test_a_deployment_that_the_running_haproxy_does_not_know() -> None:
    assert stats.parse(answer(server()), [{"name": "other", "replicas": []}]) == []
    assert stats.parse("", CHAT) == []


def line(message: object, seconds: float) -> str:
    return json.dumps({"MESSAGE": message, "__REALTIME_TIMESTAMP": str(int(seconds * 1e6))})


DOWN = "Server chat/chat-1 is DOWN, reason: {}, check duration: 6ms. 1 active and 0 backup servers left."


def test_the_last_failover_counts() -> None:
    journal = [
        line(DOWN.format("Layer4 timeout"), 1000),
        line(DOWN.format('Layer7 wrong status, code: 503, info: "X"'), 1100),
        line("Server other/x-0 is DOWN, reason: Layer4 timeout, check duration: 1ms.", 1150),
        line("Server chat/chat-0 is DOWN, changed from server-state after a reload. 0 active", 1160),
        line([83, 101], 1170),
        "no json",
    ]
    found = stats.last_failover("\n".join(journal), CHAT, 1130.4)
    assert found == {"replica": "chat-1", "seconds_ago": 30, "why": "Layer7 wrong status, code: 503"}


def test_no_failover_is_known() -> None:
    assert stats.last_failover("", CHAT, 1) is None
