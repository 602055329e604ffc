# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What must be the same in two runs before their figures may be compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.judge import matching
from ansible_collections.dgxspark.serving.plugins.module_utils.faults import Fault

Result = Mapping[str, Any]
Point = Mapping[str, Any]
Difference = dict[str, Any]

_OF_A_DEPLOYMENT = (
    "engine",
    "model",
    "revision",
    "quant",
    "max_model_len",
    "tensor_parallel_size",
    "pipeline_parallel_size",
    "nnodes",
)
KEYS = (*_OF_A_DEPLOYMENT, "engine_version", "replicas", "case_digest", "token_source", "power_mode", "client")
ALL = "all"
# What a result says of how it was asked, and what hangs on it.
_ASKED = {
    "proxy": ("Asked by the proxy", "the way to the server is part of TTFT and E2EL"),
    "limits": ("Patience with a request", "another one fails other requests"),
    "goodput": ("Limits for goodput", "goodput is not of the same thing"),
    "client_lag": ("Lag of the client that counts as good", "other points are valid"),
}


def allowed_keys(allow: Sequence[str] | bool) -> tuple[frozenset[str], list[Fault]]:
    """The keys that may differ, and the faults of what was given.

    :param allow: names of :data:`KEYS`; ``all`` or True for all of them
    """
    if isinstance(allow, bool):
        return frozenset(KEYS if allow else ()), []
    faults = [
        Fault("allow_differences", name, f"{ALL}, or some of {', '.join(KEYS)}", "Correct it")
        for name in allow
        if name not in (*KEYS, ALL)
    ]
    return frozenset(KEYS if ALL in allow else allow), faults


def differences(candidate: Result, baseline: Result, common: Iterable[tuple[Point, Point]]) -> list[Difference]:
    """Each thing that differs, once: ``key``, ``where``, ``baseline``, ``candidate``; None where not known.

    What one run knows and the other does not is a difference, as nobody can say that it is the same.

    :param common: points of both runs, the candidate's first
    """
    found: list[Difference] = []
    for ours, theirs in common:
        found += _of_deployments(_named(candidate, ours), _named(baseline, theirs))
        found += _of_cases(candidate, baseline, ours["case"])
        found += _of_targets(candidate, baseline, ours, theirs)
        found += _of_tokens(ours, theirs)
    found += _difference("power_mode", "", _power_modes(baseline), _power_modes(candidate))
    # The way from the client to the server is in every time.
    found += _difference("client", "", baseline["run"].get("client"), candidate["run"].get("client"))
    return [one for place, one in enumerate(found) if one not in found[:place]]


def notes(candidate: Result, baseline: Result) -> list[str]:
    """Sentences on what was asked otherwise: it keeps nobody from comparing, and a reader must know it.

    What only one of the two says is no difference: results of an earlier day do not say it.
    """
    ours, theirs = candidate["run"], baseline["run"]
    found = []
    for key, (words, why) in _ASKED.items():
        before, now = theirs.get(key), ours.get(key)
        if before is not None and now is not None and before != now:
            found.append(f"{words} {_named_value(before)} before, {_named_value(now)} now: {why}.")
    return found


def _named_value(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {one:g}" for key, one in value.items() if one is not None) or "none"
    return str(value) or "none"


def refusals(found: Iterable[Difference], allowed: frozenset[str]) -> list[Fault]:
    """A fault for each difference that nobody allowed."""
    return [
        Fault(
            f"{one['key']} of {one['where']}" if one["where"] else one["key"],
            _shown(one["candidate"]),
            f"{_shown(one['baseline'])} as in the baseline",
            f"Measure both alike, or compare all the same with {one['key']} in allow_differences",
        )
        for one in found
        if one["key"] not in allowed
    ]


def _difference(key: str, where: str, baseline: Any, candidate: Any) -> list[Difference]:
    if baseline == candidate:
        return []
    return [{"key": key, "where": where, "baseline": baseline, "candidate": candidate}]


def _named(result: Result, point: Point) -> Mapping[str, Any]:
    return next((one for one in result["deployments"] if one["id"] == point["deployment"]), {})


def _of_deployments(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> list[Difference]:
    where = str(ours.get("id", ""))
    found = [one for key in _OF_A_DEPLOYMENT for one in _difference(key, where, theirs.get(key), ours.get(key))]
    versions = [_version_class(one.get("version")) for one in (theirs, ours)]
    return found + _difference("engine_version", where, *versions)


def _of_targets(candidate: Result, baseline: Result, ours: Point, theirs: Point) -> list[Difference]:
    """A gateway before two replicas has twice as much behind it."""
    return _difference("replicas", ours["target"], _replicas(baseline, theirs), _replicas(candidate, ours))


def _replicas(result: Result, point: Point) -> int | None:
    """How many engines answer at the target of a point; None when the result does not say where they run."""
    target = next((one for one in result["targets"] if one["name"] == point["target"]), {})
    hosts = len(target.get("hosts") or ())
    # A gateway's hosts are those of all its replicas.
    return hosts // (_named(result, point).get("nnodes") or 1) or None


def _of_tokens(ours: Point, theirs: Point) -> list[Difference]:
    """Only of points that each counted in one way: those that did not have no verdict on tokens anyway."""
    sources = (theirs.get("token_source"), ours.get("token_source"))
    if any(source is None or source in matching.NOT_COUNTED for source in sources):
        return []
    return _difference("token_source", ours["case"], *sources)


def _version_class(version: Any) -> str | None:
    """Major and minor, between which engines change their speed.

    >>> _version_class("0.11.2+cu130")
    '0.11'
    """
    return ".".join(str(version).lstrip("v").split(".")[:2]) if version else None


def _of_cases(candidate: Result, baseline: Result, name: str) -> list[Difference]:
    digests = [
        next((case.get("digest") for case in result["cases"] if case["name"] == name), None)
        for result in (baseline, candidate)
    ]
    return _difference("case_digest", name, *digests)


def _power_modes(result: Result) -> str | None:
    """Of all hosts together, as another run may have other hosts."""
    modes = {str(env["power_mode"]) for env in result["hosts"].values() if env.get("power_mode") is not None}
    return ", ".join(sorted(modes)) or None


def _shown(value: Any) -> str:
    return "not known" if value is None else str(value)
