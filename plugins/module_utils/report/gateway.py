# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the status says of gateways: whether they run, and what each gives to which replica. As data, and as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.gateway import stats
from ansible_collections.dgxspark.serving.plugins.module_utils.report.table import span, table

HEADER = ("deployment", "replica", "rotation", "in flight", "queue", "for", "last check")
DAY = 86400
# Days before its end at which a certificate is spoken of.
NEAR_END = 30


def rows(
    looked: Mapping[str, Mapping[str, Any]],
    seen: Mapping[str, Mapping[str, Any]],
    wanted: Mapping[str, Any] | None,
    planned: bool,
    now: float,
) -> list[dict[str, Any]]:
    """One row for each host that has a gateway, or is to have one.

    :param looked: for each host what ``gateway_info`` returned there; Ansible's own result where it did not run
    :param seen: for each host what ``replica_info`` returned there, which says whether there is a gateway to look at
    :param wanted: the plan's description of the gateway; None when it wants none
    :param planned: whether there is a sound plan
    :param now: Unix time, in seconds
    """
    hosts = list(wanted["hosts"]) if wanted else []
    found = []
    for host, result in looked.items():
        if result.get("skipped"):
            result = {"present": False} if "containers" in seen[host] else seen[host]
        if "present" not in result:
            if host in hosts:
                word = "unreachable" if result.get("unreachable") else "unknown"
                found.append(_row(host, word, " ".join(str(result.get("msg", "")).split())))
        elif result["present"]:
            found.append(_gateway(host, result, wanted, planned, now))
        elif host in hosts:
            found.append(_row(host, "absent", "the inventory wants one: deploy", drift=True))
    return found


def _row(host: str, state: str, says: str, **more: Any) -> dict[str, Any]:
    empty = dict.fromkeys(("provider", "seconds", "certificate", "last_failover"))
    return {"host": host, "state": state, "says": says, "drift": False, **empty, "deployments": [], **more}


def _gateway(
    host: str, result: Mapping[str, Any], wanted: Mapping[str, Any] | None, planned: bool, now: float
) -> dict[str, Any]:
    figures = result.get("stats") or {}
    up = result["active"] == "active"
    drift = _drift(host, result["provider"], wanted) if planned else ""
    words = "" if up else f"clients get no answer: journalctl -u dgxspark-gateway on {host} says why"
    silent = f"{result['provider']} does not say what it does with which replica" if up and not figures else ""
    certificate = result.get("certificate")
    return _row(
        host,
        "up" if up else result["active"],
        "; ".join(filter(None, (words, silent, _ending(certificate, now), drift))),
        drift=bool(drift),
        provider=result["provider"],
        seconds=round(now - result["since"]) if up and result.get("since") else None,
        certificate=certificate,
        last_failover=figures.get("last_failover"),
        deployments=[_deployment(deployment) for deployment in figures.get("deployments", ())],
    )


def _drift(host: str, provider: str, wanted: Mapping[str, Any] | None) -> str:
    if wanted is None or host not in wanted["hosts"]:
        return "the inventory does not want it"
    if wanted["provider"] != provider:
        return f"the inventory wants {wanted['provider']}: deploy again"
    return ""


def _ending(certificate: Mapping[str, Any] | None, now: float) -> str:
    if not certificate:
        return ""
    left = certificate["not_after"] - now
    if left <= 0:
        return f"its certificate ended {span(round(-left))} ago: deploy again with a new one"
    return f"its certificate ends in {span(round(left))}" if left < NEAR_END * DAY else ""


def _deployment(deployment: Mapping[str, Any]) -> dict[str, Any]:
    replicas = [{**replica, "rotation": _rotation(replica)} for replica in deployment["replicas"]]
    return {**deployment, "replicas": replicas}


def _rotation(replica: Mapping[str, Any]) -> str:
    words = {stats.UP: "in", stats.DRAIN: "draining", stats.PRESSURE: "out: short of memory"}
    return words.get(replica["state"], f"out: {replica['state']}")


def lines(found: Sequence[Mapping[str, Any]]) -> list[str]:
    """A heading for each gateway, and a table where it tells of its replicas."""
    shown = []
    for row in found:
        shown += ["", _heading(row)]
        if row["deployments"]:
            shown += table(HEADER, [line for deployment in row["deployments"] for line in _table_rows(deployment)])
    return shown


def _heading(row: Mapping[str, Any]) -> str:
    state = row["state"] if row["seconds"] is None else f"{row['state']} {span(row['seconds'])}"
    failover = row["last_failover"]
    last = ""
    if failover:
        why = f" ({failover['why']})" if failover["why"] else ""
        last = f"last failover {span(failover['seconds_ago'])} ago, from {failover['replica']}{why}"
    head = f"gateway {row['host']} ({', '.join(filter(None, (row['provider'], state)))})"
    words = "; ".join(filter(None, (row["says"], last)))
    return f"{head}: {words}" if words else head


def _table_rows(deployment: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """The deployment's queue, then its replicas."""
    flying = sum(replica["in_flight"] for replica in deployment["replicas"])
    rows = [(deployment["name"], "all", "-", str(flying), str(deployment["queue"]), "-", "-")]
    for replica in deployment["replicas"]:
        rows.append(
            (
                deployment["name"],
                replica["name"],
                replica["rotation"],
                str(replica["in_flight"]),
                str(replica["queue"]),
                span(replica["last_change_seconds"]),
                replica["check"] or "-",
            )
        )
    return rows
