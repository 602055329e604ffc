# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What runs on which host: as data, and as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.report.table import span, table

HEADER = (
    *("host", "replica", "rank", "state", "for", "restarts", "tok/s", "free GiB", "generation", "image"),
    "what it says",
)
GIB = 1 << 30
# Characters of an image's id that Docker itself shows.
SHORT = 12


def rows(
    seen: Mapping[str, Mapping[str, Any]], planned: Mapping[str, Mapping[str, Any]] | None, now: float
) -> list[dict[str, Any]]:
    """One row per rank, at least one per host.

    :param seen: for each host what ``replica_info`` returned there, or Ansible's result of a host that did not answer
    :param planned: for each host the rank that the inventory asks for; None when there is no sound plan
    :param now: Unix time, in seconds
    """
    found = []
    for host, result in seen.items():
        wanted = (planned or {}).get(host)
        if "containers" not in result:
            word = "unreachable" if result.get("unreachable") else "unknown"
            found.append(_row(host, word, " ".join(str(result.get("msg", "")).split())))
            continue
        for rank in result["containers"]:
            found.append(_rank(host, rank, result.get("live", {}).get(rank["name"]) or {}, wanted, planned, now))
        if not result["containers"]:
            words = "no engine of dgxspark.serving is on this host"
            drift = wanted is not None
            found.append(_row(host, "absent", words + (", the inventory wants one" if drift else ""), drift=drift))
    return found


def _row(host: str, state: str, says: str, **more: Any) -> dict[str, Any]:
    empty = ("replica", "rank", "seconds", "restarts", "tokens_per_second", "memory_available", "generation", "image")
    return {"host": host, **dict.fromkeys(empty), "state": state, "says": says, "drift": False, **more}


def _rank(
    host: str,
    rank: Mapping[str, Any],
    live: Mapping[str, Any],
    wanted: Mapping[str, Any] | None,
    planned: Mapping[str, Any] | None,
    now: float,
) -> dict[str, Any]:
    drift = ""
    if planned is not None:
        if wanted is None or wanted["container"]["name"] != rank["name"]:
            drift = "the inventory does not want it"
        elif wanted["supervision"]["generation"] != rank["generation"]:
            drift = "the inventory wants another version: deploy again"
    return _row(
        host,
        live.get("phase") or rank["status"],
        "; ".join(filter(None, (_words(rank, live), *_admission(live, now), drift))),
        drift=bool(drift),
        replica=rank["replica"],
        rank=rank["rank"],
        container=rank["name"],
        seconds=round(now - live["since"]) if live.get("since") else None,
        restarts=live.get("restarts"),
        last_restart=live.get("last_restart"),
        tokens_per_second=live.get("tokens_per_second"),
        requests_running=live.get("requests_running"),
        requests_waiting=live.get("requests_waiting"),
        ready=live.get("ready"),
        draining=live.get("draining"),
        pressure=live.get("pressure"),
        memory_available=live.get("memory_available"),
        generation=rank["generation"],
        image=rank["image_id"],
        api=rank["api"],
        health=rank["health"],
        served=rank["served"],
    )


def _words(rank: Mapping[str, Any], live: Mapping[str, Any]) -> str:
    if live.get("phase") not in (None, "", "serving") and live.get("reason"):
        return str(live["reason"])
    if rank["status"] != "running":
        killed = ", killed for lack of memory" if rank["oom_killed"] else ""
        return f"exit code {rank['exit_code']}{killed}" if rank["status"] in ("exited", "dead") else ""
    restart = live.get("last_restart") or {}
    past = f"; last restart: {restart['reason']}" if restart else ""
    return _answer(rank) + past


def _admission(live: Mapping[str, Any], now: float) -> list[str]:
    """Why gateways give the replica nothing new, though it serves."""
    words = []
    if live.get("phase") == "serving" and live.get("ready") is False:
        words.append(f"not ready for gateways: {live.get('reason') or 'no reason is known'}")
    elif live.get("door"):
        words.append(str(live["door"]))
    if draining := live.get("draining"):
        since = f" for {span(round(now - draining['at']))}" if draining["at"] else ""
        who = f" by {draining['by']}" if draining["by"] else ""
        reason = f": {draining['reason']}" if draining["reason"] else ""
        words.append(f"draining{since}{who}{reason}")
    if live.get("pressure"):
        words.append("short of memory, takes nothing new")
    return words


def _answer(rank: Mapping[str, Any]) -> str:
    if not rank["api"]:
        return "works for rank 0"
    if rank["health"] is None:
        return f"{rank['api']} does not answer: still loading, or hung"
    if rank["health"] != 200:
        return f"/health answers {rank['health']}"
    if rank.get("refusal"):
        return f"/health answers 200, {rank['refusal']}"
    if rank["served"] is None:
        return "/health answers 200, /v1/models does not"
    return f"/health answers 200, serves {', '.join(rank['served'])}"


def lines(found: Sequence[Mapping[str, Any]]) -> list[str]:
    """The rows as a table."""
    return table(
        HEADER,
        [
            (
                row["host"],
                row["replica"] or "-",
                _text(row["rank"]),
                row["state"],
                span(row["seconds"]),
                _text(row["restarts"]),
                "-" if row["tokens_per_second"] is None else f"{row['tokens_per_second']:.1f}",
                "-" if row["memory_available"] is None else f"{row['memory_available'] / GIB:.1f}",
                row["generation"] or "-",
                (row["image"] or "-").removeprefix("sha256:")[:SHORT],
                row["says"],
            )
            for row in found
        ],
    )


def _text(value: Any) -> str:
    return "-" if value is None else str(value)
