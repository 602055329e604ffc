# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An interrupted run that is taken up again: it must be the same run. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.suites.order import Order, digest_of
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.suites.targets import API_KEY, CA
from ansible_collections.dgxspark.serving.plugins.module_utils.faults import Fault

# More differences than these are counted, not named.
_MOST = 5
_PLACE = "benchmark_resume"
# How all requests of a run are sent and judged.
_SETTINGS = ("limits", "goodput", "client_lag", "proxy", "continuous_usage")
_AGAIN = "Give the variables of that run again, or begin a new one without benchmark_resume"


def resumed(old: Any, new: Order, folder: str) -> tuple[Order, list[Fault]]:
    """The order to go on with.

    :param old: the order that the folder holds
    :param new: what would be ordered now
    :returns: the old order, for its nonce and its id go on; or the new one with what differs
    """
    keys = ("run", "targets", "cases", "rounds")
    if not isinstance(old, Mapping) or not all(key in old for key in keys):
        remedy = "Name the folder of an interrupted run, results/RUN"
        return new, [Fault(_PLACE, f"{folder} without the order of a run", "a folder of a run", remedy)]
    before: Order = dict(old)
    if digest_of(before) == digest_of(new):
        return before, []
    found = _differences(before, new)
    more = f" and {len(found) - _MOST} more" if len(found) > _MOST else ""
    words = f"{folder}, whose run differs from what is asked for now: {'; '.join(found[:_MOST])}{more}"
    return new, [Fault(_PLACE, words, "the same run", _AGAIN)]


def blocks_fault(old: Any, new: Mapping[str, Any], folder: str) -> Fault | None:
    """What differs between the deployments of a run and those that it would go on with.

    :param old: the blocks that the folder holds
    """
    if (old or {}) == new:
        return None
    then, now = _named(old), _named(new)
    words = f"deploys {then} then, {now} now" if then != now else f"deploys {now} with other values or another number"
    return Fault(_PLACE, f"{folder}, whose run {words}", "the same run", _AGAIN)


def _named(blocks: Any) -> str:
    variants = blocks.get("variants", ()) if isinstance(blocks, Mapping) else ()
    return ", ".join(str(variant["name"]) for variant in variants) or "nothing"


def with_files(order: Order, api_key_file: str, ca_file: str) -> Order:
    """The order with the paths on the client host where the role has laid the user's files."""
    paths = {API_KEY: api_key_file, CA: ca_file}

    def laid(entry: Mapping[str, Any]) -> dict[str, Any]:
        files = {key: paths.get(entry[key], entry[key]) for key in ("key_file", "ca_file") if key in entry}
        return {**entry, **files}

    targets = [
        {**laid(target), "engines": [laid(engine) for engine in target["engines"]]} for target in order["targets"]
    ]
    return {**order, "targets": targets}


def _differences(old: Order, new: Order) -> list[str]:
    """What differs, in words."""
    found = []
    for key in ("suite", "seed", "label", "client"):
        if old["run"].get(key) != new["run"].get(key):
            found.append(f"{key} {old['run'].get(key)!r} then, {new['run'].get(key)!r} now")
    for kind, word in (("targets", "target"), ("cases", "case")):
        before = {entry["name"]: entry for entry in old[kind]}
        now = {entry["name"]: entry for entry in new[kind]}
        found += [f"{word} {name} was there and is not" for name in before if name not in now]
        found += [f"{word} {name} is new" for name in now if name not in before]
        for name in before.keys() & now.keys():
            keys = _keys(before[name], now[name])
            found += [f"{word} {name} has other {', '.join(keys)}"] if keys else []
    if len(old["rounds"]) != len(new["rounds"]):
        found.append(f"{len(old['rounds'])} rounds then, {len(new['rounds'])} now")
    else:
        found += _other_round(old["rounds"], new["rounds"])
    return sorted(found) + [f"other {key}" for key in _SETTINGS if old.get(key) != new.get(key)]


def _keys(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    return sorted(key for key in {*old, *new} if old.get(key) != new.get(key))


def _other_round(old: Sequence[Mapping[str, Any]], new: Sequence[Mapping[str, Any]]) -> list[str]:
    """The first round that is another one."""
    for before, now in zip(old, new, strict=True):
        if before != now:
            return [f"round {before['id']} has other {', '.join(_keys(before, now))}"]
    return []
