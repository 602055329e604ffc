# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The order of a benchmark: all rounds in their sequence, their cases and targets, for the client host. Pure."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.cases.case import Case, with_sizes
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.lag import ALLOWED
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.second.choice import NONE, wanted_of
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.suites.choice import chosen_parts
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.suites.options import (
    client_lag_of,
    goodput_of,
    limits_of,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.suites.reach import LOCALHOST, Links
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.suites.sequence import (
    Rounds,
    letters_of,
    pairs_of,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.suites.suite import TARGETS, Part, Suite
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.suites.targets import (
    GATEWAY,
    Target,
    Targets,
    client_host,
    label_of,
    longest,
    targets_of,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.suites.variants import blocks_of
from ansible_collections.dgxspark.serving.plugins.module_utils.faults import ConfigurationError, Fault
from ansible_collections.dgxspark.serving.plugins.module_utils.variables import named_list, show

Order = dict[str, Any]
# What of an order is another one each time.
_OF_ONE_RUN = ("id", "nonce")


@dataclass(frozen=True)
class Surroundings:
    """What an order is made from besides the user's wishes.

    :ivar plan: what the action ``plan`` returned
    :ivar cases: all cases by name
    :ivar own_cases: names of those from the user's own files
    :ivar hosts: hosts of the inventory
    :ivar links: fabric links of each host
    :ivar extra: names that were given with ``-e``
    :ivar engine_args: ``serving_engine_args`` as the user wrote it
    :ivar now: Unix seconds
    :ivar nonce: what no other run has
    """

    plan: Mapping[str, Any]
    cases: Mapping[str, Case]
    own_cases: Sequence[str] = ()
    hosts: Sequence[str] = ()
    links: Links = field(default_factory=dict)
    extra: Sequence[str] = ()
    engine_args: Any = None
    now: float = 0.0
    nonce: str = ""


def make_order(values: Mapping[str, Any], suite: Suite, around: Surroundings) -> dict[str, Any]:
    """Make the order.

    :param values: what ``options.read_options`` gave
    :returns: ``order``, ``blocks``, ``client``, ``hosts`` to watch, what the ``second_source`` is asked, and ``notes``
        for the user
    :raises ConfigurationError: with every fault
    """
    plan = around.plan
    if not plan.get("replicas"):
        remedy = "Set serving_model and the hosts, and look at it with -e serving_explain=true"
        raise ConfigurationError([Fault("serving_deployments", "no replica", "at least one to measure", remedy)])
    faults = _needs(suite, plan)
    client, fault = client_host(values["client"], plan, around.hosts)
    faults += [fault] if fault else []
    targets = targets_of(plan, values, client, around.links)
    blocks, more = blocks_of(suite, values, around.engine_args, around.extra)
    faults += more
    parts, more = chosen_parts(suite.parts, values["cases"], values["languages"], around.cases, around.own_cases)
    faults += more + _target_faults(values, targets)
    placed = [(part, _chosen(part, values, targets)) for part in parts]
    faults += _reach_faults(placed, targets) if fault is None else []
    cases = _cases(parts, values, around.cases)
    faults += _length_faults(placed, cases, plan)
    rounds = Rounds(values, _turns(cases), once=bool(values["block"] or blocks))
    pairs = pairs_of(placed) if suite.pairs else []
    for part, chosen in placed:
        rounds.add(part, chosen, letters_of(pairs))
    faults += _ladder_faults(rounds, suite)
    # A suite without parts stands in for one that could not be read, so that all other faults are said.
    if not rounds.rounds and suite.parts and not faults:
        remedy = "Choose other targets with benchmark_targets, or another suite"
        faults.append(Fault("suite", f"{suite.name} with nothing to measure", "one round at least", remedy))
    if faults:
        raise ConfigurationError(faults)
    used = {spec["target"] for spec in rounds.rounds}
    order = {
        "run": _run(values, suite, around, client),
        "targets": [target for target in targets.all if target["name"] in used],
        "cases": [cases[name] for name in dict.fromkeys(spec["case"] for spec in rounds.rounds)],
        "rounds": rounds.rounds,
        "pairs": pairs,
        "limits": limits_of(values),
        "goodput": goodput_of(values),
        "client_lag": client_lag_of(values),
        "proxy": values["proxy"],
        "continuous_usage": values["continuous_usage"],
    }
    return {
        "order": order,
        "blocks": blocks,
        "client": client,
        "hosts": _hosts(order["targets"], plan, client),
        "second_source": _second_source(values, order, plan, bool(blocks)),
        "notes": [*targets.notes, *_lag_notes(order["client_lag"])],
    }


def digest_of(order: Order) -> str:
    """The digest of what is measured, the same for the same run begun again."""
    run = {key: value for key, value in order["run"].items() if key not in _OF_ONE_RUN}
    text = json.dumps({**order, "run": run}, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def run_id(now: float, suite: str, label: str) -> str:
    """A name that sorts by time.

    >>> run_id(1796033700.0, "standard", "main")
    '20261130T101500Z-standard-main'
    """
    return "-".join(filter(None, (time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(now)), suite, label)))


def _second_source(values: Mapping[str, Any], order: Order, plan: Mapping[str, Any], redeploys: bool) -> dict[str, Any]:
    """What it is asked; of a block, the run that it belongs to says that it is not."""
    return wanted_of(NONE if values["block"] else values["second_source"], order, plan, redeploys)


def _run(values: Mapping[str, Any], suite: Suite, around: Surroundings, client: str) -> dict[str, Any]:
    label = values["label"] or values["block"] or around.plan["replicas"][0]["deployment"]
    return {
        "id": run_id(around.now, suite.name, label),
        "label": values["label"],
        "suite": suite.name,
        "seed": values["seed"],
        "nonce": around.nonce,
        "client": client,
    }


def _lag_notes(given: Mapping[str, float]) -> list[str]:
    """That the client may be later than we think right: who reads the report must know."""
    wider = {key: value for key, value in given.items() if value > ALLOWED[key]}
    if not wider:
        return []
    limits = ", ".join(f"{key} {value:g} where {ALLOWED[key]:g} is usual" for key, value in wider.items())
    return [f"By benchmark_client_lag late stamps of the client count as good: {limits}."]


def _needs(suite: Suite, plan: Mapping[str, Any]) -> list[Fault]:
    faults = []
    if "gateway" in suite.needs and not plan.get("gateway"):
        remedy = "Set gateway_enabled: true and deploy, or choose the suite quick or standard"
        faults.append(Fault("suite", f"{suite.name}, and the plan has no gateway", "a gateway", remedy))
    if "replicas" in suite.needs and len(plan["replicas"]) < 2:
        found = f"{suite.name}, and the plan has 1 replica"
        faults.append(Fault("suite", found, "two replicas or more", "Serve another one, or choose the suite standard"))
    return faults


def _target_faults(values: Mapping[str, Any], targets: Targets) -> list[Fault]:
    """Wished targets that there are not."""
    words = [word for word in TARGETS if targets.chosen(word)]
    names = list(dict.fromkeys([*words, *(label_of(target) for target in targets.all)]))
    faults = []
    for number, word in enumerate(values["targets"]):
        place = f"benchmark_targets[{number}]"
        if not targets.chosen(word):
            found = f"{show(word)}, and the plan has none" if word in TARGETS else show(word)
            remedy = "Name one of these, or leave it out"
            faults.append(Fault(place, found, named_list(names), remedy))
    return faults


def _chosen(part: Part, values: Mapping[str, Any], targets: Targets) -> list[Target]:
    words = values["targets"] or [part.targets]
    names = {target["name"] for word in words for target in targets.chosen(word)}
    return [target for target in targets.all if target["name"] in names]


def _reach_faults(placed: Iterable[tuple[Part, Sequence[Target]]], targets: Targets) -> list[Fault]:
    names = dict.fromkeys(target["name"] for _part, chosen in placed for target in chosen)
    return [targets.faults[name] for name in names if name in targets.faults]


def _cases(parts: Iterable[Part], values: Mapping[str, Any], known: Mapping[str, Case]) -> dict[str, Case]:
    """The cases of some parts, in the sizes that the user wishes."""
    return {
        name: with_sizes(known[name], values["prompt_tokens"], values["output_tokens"])
        for part in parts
        for name in part.cases
        if name in known
    }


def _turns(cases: Mapping[str, Case]) -> dict[str, int]:
    """For each case the turns of its longest conversation."""
    return {
        name: max((len(turns) for turns in case.get("conversations", ())), default=1) for name, case in cases.items()
    }


def _length_faults(
    placed: Iterable[tuple[Part, Sequence[Target]]], cases: Mapping[str, Case], plan: Mapping[str, Any]
) -> list[Fault]:
    """Cases that are longer than the engine takes; a prompt whose length is not known counts as nothing."""
    faults: dict[str, Fault] = {}
    for part, chosen in placed:
        known = [length for target in chosen if (length := longest(plan, target)) is not None]
        for name in part.cases if known else ():
            case = cases.get(name)
            if case is None or name in faults:
                continue
            turns = _turns(cases)[name]
            prompt, answer = case["prompt_tokens"] or 0, case["output"]["tokens"] * turns
            if prompt + answer > min(known):
                found = f"{prompt} tokens of prompt and {answer} of answer" if prompt else f"{answer} tokens of answer"
                remedy = f"Set {_smaller(prompt, answer, turns, min(known))}, raise max-model-len in "
                remedy += "serving_engine_args, or choose other cases with benchmark_cases"
                wanted = f"{min(known)} at most, the engine's max-model-len"
                faults[name] = Fault(f"case {name}", found, wanted, remedy)
    return list(faults.values())


def _smaller(prompt: int, answer: int, turns: int, most: int) -> str:
    """The variable that makes a case fit: the prompt's where that is enough."""
    if prompt and answer < most:
        return f"benchmark_prompt_tokens to {most - answer} or less"
    return f"benchmark_output_tokens to less than {max(2, most // turns)}"


def _ladder_faults(rounds: Rounds, suite: Suite) -> list[Fault]:
    if not rounds.without_ladder:
        return []
    found = f"{suite.name}, with rates that are shares of the knee of {rounds.without_ladder[0]}, which has no ladder"
    return [Fault("suite", found, "a ladder before them", "Add a part with load: ladder for it to the suite")]


def _hosts(targets: Iterable[Target], plan: Mapping[str, Any], client: str) -> list[str]:
    """The hosts that are watched while it runs."""
    hosts = [host for target in targets for host in target["hosts"]]
    if plan.get("gateway") and any(target["via"] == GATEWAY for target in targets):
        hosts += plan["gateway"]["hosts"]
    return list(dict.fromkeys([*hosts, *([client] if client != LOCALHOST else [])]))
