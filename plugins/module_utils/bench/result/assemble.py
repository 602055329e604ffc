# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Puts a result together: all that a run has found, in one document."""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result import no_secrets, schema, split, unmeasured
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.suites.reach import LOCALHOST

TOOL = "dgxspark.serving"
REQUESTS_FILE = "requests.jsonl.gz"


@dataclass(frozen=True)
class Found:
    """What a run has found.

    :ivar order: what was to be measured, as the module ``benchmark`` was given it
    :ivar rounds: the rounds that ended
    :ivar points: what was made of them
    :ivar envs: by host, what kind of machine it is
    :ivar snapshots: by host, what the sampler saw
    :ivar judged: ``pairs``, ``findings``, ``decision``, ``comparison`` and ``second_source`` so far as there are any
    :ivar self_test: what ``client.self_test`` found, if it was tried
    """

    order: Mapping[str, Any]
    rounds: Sequence[Mapping[str, Any]]
    points: Sequence[Mapping[str, Any]]
    envs: Mapping[str, Any] = field(default_factory=dict)
    deployments: Sequence[Mapping[str, Any]] = ()
    snapshots: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    judged: Mapping[str, Any] = field(default_factory=dict)
    self_test: Mapping[str, Any] | None = None


def result(found: Found, version: str) -> dict[str, Any]:
    """The document ``spark_bench/1``; it holds no secret.

    :param version: of this collection
    """
    measured = split.measured_time(found.rounds)
    document = {
        "schema": schema.NAME,
        "tool": {"name": TOOL, "version": version, "transport": "epoll", "self_test": found.self_test},
        "run": _run(found),
        "hosts": dict(found.envs),
        "targets": [dict(target) for target in found.order.get("targets") or []],
        "deployments": list(found.deployments),
        "cases": list(found.order.get("cases") or []),
        "points": list(found.points),
        "not_measured": unmeasured.points(
            found.order.get("rounds") or [], found.rounds, [point["id"] for point in found.points]
        ),
        "pairs": list(found.judged.get("pairs") or []),
        "snapshots": {host: split.snapshots(seen, measured) for host, seen in sorted(found.snapshots.items())},
        "findings": list(found.judged.get("findings") or []),
        "decision": found.judged.get("decision"),
        "comparison": found.judged.get("comparison"),
        "second_source": found.judged.get("second_source"),
        "requests_file": REQUESTS_FILE,
    }
    return dict(no_secrets.without(document))


def _run(found: Found) -> dict[str, Any]:
    order = found.order
    run = order.get("run") or {}
    times = [(one["began"], one["began"] + one["seconds"]) for one in found.rounds if one.get("began") is not None]
    wanted = {spec["id"] for spec in order.get("rounds") or []}
    return {
        "id": run.get("id", ""),
        "label": run.get("label", ""),
        "suite": run.get("suite", ""),
        "started": _utc(min(begun for begun, _end in times)) if times else None,
        "ended": _utc(max(end for _begun, end in times)) if times else None,
        "seed": run.get("seed"),
        "proxy": order.get("proxy") or "",
        "argv_digest": _digest(order),
        "interrupted": not wanted <= {one["id"] for one in found.rounds},
        "client": _client(run, found.rounds),
        "limits": _asked(order, "limits"),
        "goodput": _asked(order, "goodput"),
        "client_lag": _asked(order, "client_lag"),
    }


def _client(run: Mapping[str, Any], rounds: Sequence[Mapping[str, Any]]) -> str | None:
    """The host that asked, as the inventory names it; as it calls itself where that is ``localhost`` or not known."""
    if run.get("client") not in (None, "", LOCALHOST):
        return str(run["client"])
    named = [(one.get("client") or {}).get("host") for one in rounds]
    return ", ".join(dict.fromkeys(str(name) for name in named if name)) or None


def _asked(order: Mapping[str, Any], key: str) -> dict[str, Any] | None:
    found = order.get(key)
    return dict(found) if found else None


def _utc(seconds: float) -> str:
    return datetime.datetime.fromtimestamp(round(seconds), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def _digest(order: Mapping[str, Any]) -> str:
    """Of what was asked for: two runs with the same digest measured the same thing, with other nonces."""
    asked = {key: value for key, value in order.items() if key != "run"}
    canonical = json.dumps(no_secrets.without(asked), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return "sha256:" + hashlib.sha256(canonical.encode("utf-8")).hexdigest()
