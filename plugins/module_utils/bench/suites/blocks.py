# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Experiments that deploy: in which order variants are deployed and measured, and what must be so before the first.

Measurements of two deployments cannot alternate by the round, for to change the deployment takes minutes. So they
alternate by the block: each block deploys one variant and measures every point once, and blocks follow one another as
A B B A, so that a drift (temperature, neighbours) hits both sides alike. The sampling unit is the block's round.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.faults import ConfigurationError, Fault
from ansible_collections.dgxspark.serving.plugins.module_utils.variables import BY_NAME, BY_SHORT

# The playbooks that deploy; an empty name of a variant's stands for the one that has deployed what runs now.
DEPLOYING = ("deploy", "deploy_tp1", "deploy_tp2")
STOP = "stop"
# Names that deployments have when nobody has named them, and the playbook that gives them.
PLAYBOOK_OF = {"tp1": "deploy_tp1", "tp2": "deploy_tp2"}
# What the measuring playbook alone reads: a deployment is not told.
MEASURING_PREFIX = "benchmark_"
MEASURING_NAMES = ("suite", "baseline")
# The plan of a sweep has laid the swept flag over those that the user gave.
_MERGED = "serving_engine_args"
# Set for a block's measurement, so that it measures and does not deploy.
BLOCK_VARIABLE = "benchmark_block"
# What would end or bend a block's measurement: the whole run is compared and resumed, never a block of it.
_OF_THE_WHOLE = ("baseline", "benchmark_baseline", "benchmark_resume")


@dataclass(frozen=True)
class Variant:
    """One side of the experiment.

    :ivar playbook: the playbook that deploys it, one of ``DEPLOYING``; empty for the one of what runs now
    :ivar extra_vars: what differs from the present variables
    """

    name: str
    playbook: str
    extra_vars: Mapping[str, Any]


@dataclass(frozen=True)
class Block:
    """One deployment and its measurement; ``number`` counts from 1."""

    number: int
    variant: Variant

    @property
    def folder(self) -> str:
        """Name of its folder below ``blocks``; names sort in the order of the run."""
        return f"{self.number:02d}"


def sequence(variants: Sequence[Variant], rounds: int) -> list[Block]:
    """Order the blocks, ``rounds`` of each variant: forwards, backwards, forwards and so on.

    >>> [block.variant.name for block in sequence([Variant("a", "", {}), Variant("b", "", {})], 2)]
    ['a', 'b', 'b', 'a']
    """
    order = [variant for turn in range(rounds) for variant in (variants if turn % 2 == 0 else variants[::-1])]
    return [Block(number, variant) for number, variant in enumerate(order, 1)]


def read_variants(blocks: Mapping[str, Any]) -> tuple[list[Variant], int]:
    """Read what ``benchmark_plan`` returned as ``blocks``.

    :raises ConfigurationError: it has faults; all of them
    """
    faults = []
    variants = []
    for place, entry in enumerate(blocks.get("variants") or ()):
        where = f"blocks.variants[{place}]"
        variant = Variant(str(entry.get("name") or ""), entry.get("playbook") or "", entry.get("extra_vars") or {})
        if not variant.name:
            faults.append(Fault(f"{where}.name", "nothing", "a name for the report", "Give the variant a name"))
        if variant.playbook not in ("", *DEPLOYING):
            wanted = " or ".join(DEPLOYING)
            faults.append(Fault(f"{where}.playbook", repr(variant.playbook), wanted, "Name a playbook that deploys"))
        variants.append(variant)
    names = [variant.name for variant in variants if variant.name]
    for name in sorted({name for name in names if names.count(name) > 1}):
        faults.append(Fault("blocks.variants", f"{name} twice", "a name of its own for each", "Rename one of them"))
    if len(variants) < 2:
        remedy = "Name at least two variants, or measure with another suite"
        faults.append(Fault("blocks.variants", str(len(variants)), "two or more to compare", remedy))
    rounds = blocks.get("rounds")
    if not isinstance(rounds, int) or isinstance(rounds, bool) or not 1 <= rounds <= 50:
        faults.append(Fault("blocks.rounds", repr(rounds), "1 to 50 blocks of each variant", "Give such a number"))
    if faults:
        raise ConfigurationError(faults)
    return variants, int(blocks["rounds"])


def clashes(variants: Iterable[Variant], given: Collection[str]) -> list[Fault]:
    """What both a variant and the user's ``-e`` set: what the user gave would win or lose in silence."""
    faults = []
    for variant in variants:
        for name in sorted({*variant.extra_vars} - {_MERGED}):
            for other in sorted(given):
                if _full(name) == _full(other):
                    found = f"also given as -e {other}"
                    remedy = (
                        f"Write {_full(other)} into group_vars in place of -e {other}, or leave it out and say "
                        "-e benchmark_restore=false"
                    )
                    faults.append(Fault(f"{name} of the variant {variant.name}", found, "set once", remedy))
    return faults


def even_hosts(variants: Iterable[Variant], hosts: Sequence[str], said: bool) -> list[Fault]:
    """What a variant of pairs needs.

    :param said: whether ``serving_deployments`` says which hosts are pairs; then the plan checks it
    """
    pairs = [variant.name for variant in variants if variant.playbook == "deploy_tp2"]
    if not pairs or said or (len(hosts) >= 2 and len(hosts) % 2 == 0):
        return []
    found = f"{len(hosts)} ({', '.join(hosts)})" if hosts else "none"
    remedy = "Choose a pair of hosts with --limit, or name the pairs in serving_deployments"
    return [Fault("hosts", found, f"an even number of two or more for {', '.join(pairs)}", remedy)]


def look_faults(looks: Mapping[str, Mapping[str, Any]]) -> list[Fault]:
    """Hosts that did not say what runs there: it could not be restored."""
    return [
        Fault(
            "what runs",
            str(look.get("msg") or "no answer").splitlines()[0],
            "an answer from each host, so that what runs now can be restored",
            "Mend the host, leave it out with --limit, or say -e benchmark_restore=false",
            host,
        )
        for host, look in looks.items()
        if "containers" not in look
    ]


def restoring_playbook(looks: Mapping[str, Mapping[str, Any]]) -> str:
    """The playbook that brings back what runs now: the one whose deployments have its names, or ``stop``.

    :param looks: what ``replica_info`` returned on each host
    """
    running = {
        container["deployment"]
        for look in looks.values()
        for container in look.get("containers") or ()
        if container["status"] == "running"
    }
    if not running:
        return STOP
    return PLAYBOOK_OF.get(next(iter(running)), "deploy") if len(running) == 1 else "deploy"


def deploying_variables(extra: Mapping[str, Any]) -> dict[str, Any]:
    """Of what the user gave with ``-e``, that which a deployment reads."""
    return {
        name: value
        for name, value in extra.items()
        if not name.startswith(MEASURING_PREFIX) and name not in MEASURING_NAMES
    }


def measuring_variables(extra: Mapping[str, Any], block: Block, results: str, resume: str) -> dict[str, Any]:
    """The variables of a block's measurement: the user's, those of its variant, and where it writes.

    :param resume: folder of a measurement of this block that was interrupted; empty to begin
    """
    kept = {name: value for name, value in extra.items() if name not in _OF_THE_WHOLE}
    more = {BLOCK_VARIABLE: block.variant.name, "benchmark_results": results}
    return {**kept, **block.variant.extra_vars, **more, **({"benchmark_resume": resume} if resume else {})}


def _full(name: str) -> str:
    """The variable's own name, whether it is said in full or in short."""
    return BY_SHORT[name].name if name in BY_SHORT else BY_NAME[name].name if name in BY_NAME else name
