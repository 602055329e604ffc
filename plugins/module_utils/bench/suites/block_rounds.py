# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rounds of all blocks as one run, so that one report compares the variants.

A target of a block becomes the variant's own (``tp1: gateway``), and so do its points and its deployment. Rounds of the
same point in several blocks of a variant are rounds of one point: that is what the statistics rest on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.judge import clocks
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.sampler import standing
from ansible_collections.dgxspark.serving.plugins.module_utils.faults import ConfigurationError, Fault

# Keys of an order that are made anew.
_MERGED = ("run", "targets", "cases", "rounds", "pairs")


@dataclass(frozen=True)
class Measured:
    """What a finished block has left.

    :ivar variant: its name
    :ivar order: the order that was played
    :ivar rounds: its rounds, in their sequence
    :ivar result: the block's own result
    """

    variant: str
    order: Mapping[str, Any]
    rounds: Sequence[Mapping[str, Any]]
    result: Mapping[str, Any]


def merged_rounds(blocks: Sequence[Measured], run: Mapping[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Make one order and one list of rounds of all blocks.

    :param run: ``run`` of the whole order
    :returns: the order, whose ``rounds`` are what was played, and the rounds with new ids in their sequence
    :raises ConfigurationError: two blocks have different cases of one name
    """
    targets: dict[str, dict[str, Any]] = {}
    rounds: list[dict[str, Any]] = []
    specs: list[dict[str, Any]] = []
    turns: dict[str, int] = {}
    sides = list(dict.fromkeys(block.variant for block in blocks))
    for block in blocks:
        names = _deployment_names(block)
        for target in block.order["targets"]:
            name = _named(block.variant, target["name"])
            # What the target is without its variant, so that like is compared with like.
            more = {"variant": block.variant, "like": target["name"]}
            deployment = names.get(target.get("deployment", ""), block.variant)
            targets.setdefault(name, {**target, **more, "name": name, "deployment": deployment})
        plain = {spec["id"]: spec for spec in block.order["rounds"]}
        for played in block.rounds:
            point = _named(block.variant, played["point"])
            new = {
                "id": f"{len(rounds) + 1:04d}",
                "point": point,
                "target": _named(block.variant, played["target"]),
                "round": turns.get(point, 0),
                "block": chr(ord("A") + sides.index(block.variant)),
                "deployment": targets[_named(block.variant, played["target"])]["deployment"],
            }
            turns[point] = turns.get(point, 0) + 1
            rounds.append({**played, **new})
            specs.append({**plain.get(played["id"], {}), **new})
    first = blocks[0].order if blocks else {}
    kept = {key: value for key, value in first.items() if key not in _MERGED}
    order = {**kept, "run": dict(run), "targets": list(targets.values()), "cases": _cases(blocks), "rounds": specs}
    return {**order, "pairs": _pairs(blocks, order["targets"], sides)}, rounds


def merged_deployments(blocks: Sequence[Measured]) -> list[dict[str, Any]]:
    """The deployments of all variants, each under its variant's name; that of a later block is the same again."""
    found: dict[str, dict[str, Any]] = {}
    for block in blocks:
        names = _deployment_names(block)
        for deployment in block.result.get("deployments") or ():
            name = names[deployment["id"]]
            found.setdefault(name, {**deployment, "id": name})
    return list(found.values())


def changed_deployments(blocks: Sequence[Measured]) -> list[str]:
    """Sentences on variants that were not the same in all of their blocks, whose rounds then are no rounds of one."""
    first: dict[str, Mapping[str, Any]] = {}
    words = []
    for block in blocks:
        names = _deployment_names(block)
        for deployment in block.result.get("deployments") or ():
            name = names[deployment["id"]]
            before = first.setdefault(name, deployment)
            keys = [key for key in ("image_digest", "version", "spec_digest") if before.get(key) != deployment.get(key)]
            words += [
                f"{name} was not the same in all blocks: {key} was {before.get(key)}, then {deployment.get(key)}."
                for key in keys
            ]
    return list(dict.fromkeys(words))


def merged_snapshots(blocks: Iterable[Measured]) -> dict[str, dict[str, Any]]:
    """The samples of all blocks, by host, in their sequence; the minutes of a deployment have none."""
    found: dict[str, dict[str, Any]] = {}
    blocks = list(blocks)
    for block in blocks:
        for host, seen in (block.result.get("snapshots") or {}).items():
            series = [seen.get("before"), *(seen.get("during") or ()), seen.get("after")]
            whole = found.setdefault(
                host,
                {
                    "host": host,
                    "interval_s": seen.get("interval_s", 1.0),
                    "samples": [],
                    "cost": {"cpu_s": 0.0, "seconds": 0.0},
                    "errors": [],
                },
            )
            whole["samples"] += [sample for sample in series if sample]
            whole["errors"] += [words for words in seen.get("errors") or () if words not in whole["errors"]]
            for key in whole["cost"]:
                whole["cost"][key] += (seen.get("cost") or {}).get(key) or 0.0
    for host, whole in found.items():
        parts = [(block.result.get("snapshots") or {}).get(host) or {} for block in blocks]
        whole.update({clocks.KEY: clocks.farthest(parts), **standing.joined(parts)})
    return found


def merged_hosts(blocks: Iterable[Measured]) -> dict[str, Any]:
    """What the hosts are, from the last block that says it."""
    return {host: env for block in blocks for host, env in (block.result.get("hosts") or {}).items()}


def first_self_test(blocks: Iterable[Measured]) -> dict[str, Any] | None:
    """The client's self-test of the first block that has one: all have the same client."""
    tests = (block.result.get("tool", {}).get("self_test") for block in blocks)
    return next((test for test in tests if test), None)


def _pairs(
    blocks: Iterable[Measured], targets: Sequence[Mapping[str, Any]], sides: Sequence[str]
) -> list[dict[str, str]]:
    """Each other variant against the first, like against like; and the pairs inside each variant.

    Names of replicas differ with the layout, and one replica needs no gateway. Where no name is the same, the first
    targets stand against each other: a suite names the entry that users have first.
    """
    found: list[dict[str, str]] = []
    of_first = _likes(targets, sides[0]) if sides else {}
    for side in sides[1:]:
        likes = _likes(targets, side)
        same = [(like, like) for like in likes if like in of_first]
        for mine, other in same or list(zip(likes, of_first, strict=False))[:1]:
            title = mine if mine == other else f"{mine} / {other}"
            found.append({"name": f"{side} / {sides[0]}: {title}", "a": likes[mine], "b": of_first[other]})
    for block in blocks:
        for pair in block.order.get("pairs") or ():
            renamed = {key: _named(block.variant, pair[key]) for key in ("name", "a", "b")}
            if renamed not in found:
                found.append(renamed)
    return found


def _likes(targets: Iterable[Mapping[str, Any]], side: str) -> dict[str, str]:
    """The targets of a variant in their sequence, by the name that they have in it."""
    return {target["like"]: target["name"] for target in targets if target["variant"] == side}


def _cases(blocks: Iterable[Measured]) -> list[Mapping[str, Any]]:
    found: dict[str, Mapping[str, Any]] = {}
    faults = []
    for block in blocks:
        for case in block.order["cases"]:
            key = f"{case['name']} ({case.get('language', '')})"
            before = found.setdefault(key, case)
            if before.get("digest") != case.get("digest"):
                words = f"{case.get('digest')} in a block of {block.variant}"
                remedy = "Begin a new run; blocks of different cases cannot be compared"
                faults.append(Fault(f"case {key}", words, f"{before.get('digest')} as before", remedy))
    if faults:
        raise ConfigurationError(faults)
    return list(found.values())


def _deployment_names(block: Measured) -> dict[str, str]:
    """For each deployment of a block the name that it has in the whole run."""
    ids = [deployment["id"] for deployment in block.result.get("deployments") or ()]
    return {name: block.variant if len(ids) == 1 else _named(block.variant, name) for name in ids}


def _named(variant: str, name: str) -> str:
    return f"{variant}: {name}"
