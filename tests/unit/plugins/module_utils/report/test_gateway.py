# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the status says of gateways."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.report.gateway import lines, rows

NOW = 1_000_000.0
DAY = 86400
WANTED = {"provider": "haproxy", "hosts": ["spark1"]}


def replica(**changes: Any) -> dict[str, Any]:
    return {
        "name": "chat-0",
        "state": "up",
        "in_flight": 3,
        "queue": 0,
        "last_change_seconds": 200000,
        "check": "L7OK 200",
        "downs": 0,
        "requests": 17,
        "errors": 0,
        **changes,
    }


def stats(*replicas: dict[str, Any], **changes: Any) -> dict[str, Any]:
    deployments = [{"name": "chat", "queue": 2, "replicas": list(replicas)}]
    return {"deployments": deployments, "last_failover": None, **changes}


def info(**changes: Any) -> dict[str, Any]:
    return {
        "present": True,
        "provider": "haproxy",
        "active": "active",
        "since": NOW - 200000,
        "certificate": None,
        "stats": stats(replica()),
        **changes,
    }


def rows_of(looked: dict[str, Any], wanted: dict[str, Any] | None, planned: bool, now: float) -> list[dict[str, Any]]:
    return rows(looked, {host: {"containers": []} for host in looked}, wanted, planned, now)


ABSENT = {"present": False, "provider": "", "active": "inactive", "since": None, "certificate": None, "stats": None}


@pytest.mark.parametrize(
    ("result", "state", "says"),
    [
        (info(), "up", ""),
        (
            info(active="failed", since=None, stats=None),
            "failed",
            "clients get no answer: journalctl -u dgxspark-gateway on spark1 says why",
        ),
        (ABSENT, "absent", "the inventory wants one: deploy"),
        ({"unreachable": True, "msg": "Connection\ntimed out"}, "unreachable", "Connection timed out"),
        ({"failed": True, "msg": "sudo: a password is required"}, "unknown", "sudo: a password is required"),
        (
            info(provider="nginx", stats=None),
            "up",
            "nginx does not say what it does with which replica; the inventory wants haproxy: deploy again",
        ),
        (info(certificate={"not_after": NOW + 90 * DAY}), "up", ""),
        (info(certificate={"not_after": NOW + 2 * DAY + 3 * 3600}), "up", "its certificate ends in 2d03h"),
        (
            info(certificate={"not_after": NOW - 3600}),
            "up",
            "its certificate ended 1h00m ago: deploy again with a new one",
        ),
    ],
)
def test_a_row_for_each_gateway(result: dict[str, Any], state: str, says: str) -> None:
    [row] = rows_of({"spark1": result}, WANTED, True, NOW)
    assert (row["host"], row["state"], row["says"]) == ("spark1", state, says)


@pytest.mark.parametrize(
    ("seen", "state", "says"),
    [
        ({"containers": []}, "absent", "the inventory wants one: deploy"),
        ({"unreachable": True, "msg": "no route"}, "unreachable", "no route"),
        ({"failed": True, "msg": "no sudo"}, "unknown", "no sudo"),
    ],
)
def test_where_nobody_looked_for_a_gateway_the_look_at_the_host_says_why(
    seen: dict[str, Any], state: str, says: str
) -> None:
    [row] = rows({"spark1": {"skipped": True}}, {"spark1": seen}, WANTED, True, NOW)
    assert (row["state"], row["says"]) == (state, says)


@pytest.mark.parametrize("result", [ABSENT, {"unreachable": True, "msg": "no"}, {}])
def test_hosts_that_have_none_and_need_none_have_no_row(result: dict[str, Any]) -> None:
    assert rows_of({"spark2": result}, WANTED, True, NOW) == []


@pytest.mark.parametrize(
    ("wanted", "planned", "says"),
    [
        (None, False, ""),
        (None, True, "the inventory does not want it"),
        ({"provider": "haproxy", "hosts": ["spark2"]}, True, "the inventory does not want it"),
        ({"provider": "nginx", "hosts": ["spark1"]}, True, "the inventory wants nginx: deploy again"),
        (WANTED, True, ""),
    ],
)
def test_drift(wanted: dict[str, Any] | None, planned: bool, says: str) -> None:
    [row] = rows_of({"spark1": info()}, wanted, planned, NOW)
    assert (row["says"], row["drift"]) == (says, bool(says))


@pytest.mark.parametrize(
    ("state", "rotation"),
    [
        ("up", "in"),
        ("drain", "draining"),
        ("down", "out: down"),
        ("pressure", "out: short of memory"),
        ("maintenance", "out: maintenance"),
    ],
)
def test_rotation_has_our_words(state: str, rotation: str) -> None:
    [row] = rows_of({"spark1": info(stats=stats(replica(state=state)))}, WANTED, True, NOW)
    assert row["deployments"][0]["replicas"][0]["rotation"] == rotation


def test_the_tables() -> None:
    second = replica(name="chat-1", state="down", in_flight=0, last_change_seconds=65, check="L4CON")
    failover = {"replica": "chat-1", "seconds_ago": 65, "why": "L4CON"}
    seen = {
        "spark1": info(stats=stats(replica(), second, last_failover=failover)),
        "spark2": {"unreachable": True, "msg": "no route"},
    }
    found = rows_of(seen, {"provider": "haproxy", "hosts": ["spark1", "spark2"]}, True, NOW)
    assert lines(found) == [
        "",
        "gateway spark1 (haproxy, up 2d07h): last failover 1m05s ago, from chat-1 (L4CON)",
        "deployment  replica  rotation   in flight  queue  for    last check",
        "----------  -------  ---------  ---------  -----  -----  ----------",
        "chat        all      -          3          2      -      -",
        "chat        chat-0   in         3          0      2d07h  L7OK 200",
        "chat        chat-1   out: down  0          0      1m05s  L4CON",
        "",
        "gateway spark2 (unreachable): no route",
    ]


def test_a_gateway_without_figures_is_one_line() -> None:
    found = rows_of(
        {"spark1": info(provider="nginx", stats=None)}, {"provider": "nginx", "hosts": ["spark1"]}, True, NOW
    )
    assert lines(found) == [
        "",
        "gateway spark1 (nginx, up 2d07h): nginx does not say what it does with which replica",
    ]
