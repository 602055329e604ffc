# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the replicas are, as HAProxy sees them: its statistics and its journal. Pure."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

UP, DOWN, DRAIN, PRESSURE, MAINTENANCE = "up", "down", "drain", "pressure", "maintenance"
COMMAND = "show stat\n"
# Lines of the journal in which a failover is looked for, and their lowest level: access lines are below it.
LINES, LEVEL = 100, "err"

# A state that a reload takes over has no reason.
_DOWN_LINE = re.compile(
    r"Server (\S+)/(\S+) is DOWN, reason: (.*?)(?:, code: 0)?(?:, info: .*?)?(?:, check duration|\. |$)"
)


def parse(text: str, deployments: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Read the answer to ``show stat``.

    :param deployments: ``name`` and ``replicas`` (names) of each; other backends are HAProxy's own affair
    :returns: ``name``, ``queue`` and ``replicas`` of each deployment that the answer has
    """
    rows = csv.DictReader(text.removeprefix("# ").splitlines())
    found = {(row["pxname"], row["svname"]): row for row in rows if row.get("svname")}
    return [
        {
            "name": one["name"],
            "queue": sum(
                _number(found[one["name"], row], "qcur")
                for row in ("BACKEND", *one["replicas"])
                if (one["name"], row) in found
            ),
            "replicas": [
                _replica(name, found[one["name"], name]) for name in one["replicas"] if (one["name"], name) in found
            ],
        }
        for one in deployments
        if (one["name"], "BACKEND") in found
    ]


def _replica(name: str, row: Mapping[str, str]) -> dict[str, Any]:
    return {
        "name": name,
        "state": _state(row),
        "in_flight": _number(row, "scur"),
        "queue": _number(row, "qcur"),
        "last_change_seconds": _number(row, "lastchg"),
        "check": _check(row),
        "downs": _number(row, "chkdown"),
        "requests": _number(row, "stot"),
        "errors": sum(_number(row, key) for key in ("econ", "eresp", "hrsp_5xx")),
    }


def _state(row: Mapping[str, str]) -> str:
    """One word for HAProxy's several, such as ``UP 1/2`` or ``DRAIN (agent)``."""
    word = row["status"].partition(" ")[0]
    if word == "UP" and _number(row, "weight") == 0:
        return PRESSURE
    return {"UP": UP, "no": UP, "DRAIN": DRAIN, "NOLB": DRAIN, "MAINT": MAINTENANCE}.get(word, DOWN)


def _check(row: Mapping[str, str]) -> str:
    said = row.get("check_desc") or row.get("check_status") or ""
    code = row.get("check_code") or ""
    return f"{said} {code}" if code not in ("", "0", "200") else said


def _number(row: Mapping[str, str], key: str) -> int:
    text = row.get(key) or ""
    return int(text) if text.isdigit() else 0


def last_failover(journal: str, deployments: Sequence[Mapping[str, Any]], now: float) -> dict[str, str | int] | None:
    """The last time that a replica left the rotation because its check failed.

    :param journal: lines of ``journalctl --output json``, in the order of time
    :param now: Unix seconds
    """
    known = {(one["name"], replica) for one in deployments for replica in one["replicas"]}
    for message, at in reversed(list(_entries(journal.splitlines()))):
        found = _DOWN_LINE.search(message)
        if found and (found[1], found[2]) in known:
            return {"replica": found[2], "seconds_ago": max(0, round(now - at)), "why": found[3]}
    return None


def _entries(lines: Iterable[str]) -> Iterable[tuple[str, float]]:
    """Message and Unix seconds of each line that has both."""
    for line in lines:
        try:
            entry = json.loads(line)
            yield entry["MESSAGE"] + "", int(entry["__REALTIME_TIMESTAMP"]) / 1e6
        except (ValueError, KeyError, TypeError):
            continue
