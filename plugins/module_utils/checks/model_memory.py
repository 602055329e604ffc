# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check that the model fits into the memory that its engine is given. Pure.

Whether the host has that memory to give is :mod:`memory`'s to say.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.checks.check import (
    Check,
    failed,
    passed,
    skipped,
    warned,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.checks.memory import SHARE_CEILING
from ansible_collections.dgxspark.serving.plugins.module_utils.models import memory_plan
from ansible_collections.dgxspark.serving.plugins.module_utils.models.memory_plan import Plan
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.memory import gib

NAME = "model.memory"
_OTHERS = ("gpu_memory_utilization", "kv_cache_dtype")
# A context under this is no remedy.
_USEFUL_CONTEXT = 4096


def check(facts: Mapping[str, Any], engine: Mapping[str, Any] | None, memory: Mapping[str, Any]) -> Check:
    """Whether weights and one sequence of the longest length fit, and what would if they do not.

    :param facts: of the model, empty when it is not there
    :param engine: what :func:`memory_flags.engine_memory` read; None when no engine is planned
    :param memory: ``total``, ``available``, ``free`` and ``cache`` of the host in bytes, as :func:`memory.facts` says
    """
    if not engine:
        return skipped(NAME, "no engine is planned here")
    if not memory.get("total"):
        return skipped(NAME, "the host's memory is not known")
    engine = _numbers(engine)
    found = _plan(facts, engine, memory) if facts else None
    if found is None:
        return skipped(NAME, "the size of the model's weights is not known")
    said = found.sentences()
    detail = "; ".join(said[1:])
    if found.kv_least is None:
        detail = "How much this model's attention keeps of a sequence is not known."
    wanted = f"at most {gib(found.engine_share)}: {engine['gpu_memory_utilization']:g} of {gib(found.total)}"
    if found.certain > found.engine_share:
        return failed(NAME, said[0], wanted, _remedy(found, facts, engine, memory), detail)
    if found.needed > found.engine_share:
        return warned(NAME, said[0], wanted, _remedy(found, facts, engine, memory), detail)
    return passed(NAME, said[0], detail)


def _numbers(engine: Mapping[str, Any]) -> dict[str, Any]:
    """The planned values as numbers: older Ansible hands them over as text."""
    share, dtype = float(engine["gpu_memory_utilization"]), engine["kv_cache_dtype"]
    whole = {name: None if value in (None, "") else int(value) for name, value in engine.items() if name not in _OTHERS}
    return {**whole, "gpu_memory_utilization": share, "kv_cache_dtype": dtype}


def _plan(facts: Mapping[str, Any], engine: Mapping[str, Any], memory: Mapping[str, Any]) -> Plan | None:
    sizes = {name: memory.get(name) or 0 for name in ("total", "available", "free", "cache")}
    return memory_plan.plan(facts, **engine, **sizes)


def _remedy(found: Plan, facts: Mapping[str, Any], engine: Mapping[str, Any], memory: Mapping[str, Any]) -> str:
    """What to set, the least change first."""
    ways = []
    if (found.largest_context or 0) >= _USEFUL_CONTEXT:
        flag = "in serving_engine_args max-model-len, or context-length for SGLang"
        ways.append(f"allow sequences of at most {found.largest_context} tokens ({flag})")
    if found.least_utilization <= SHARE_CEILING:
        ways.append(f"set serving_gpu_memory_utilization to {found.least_utilization:.2f}")
    hosts = _hosts_that_do(facts, engine, memory)
    if hosts:
        ways.append(f"serve it on {hosts} hosts (serving_tensor_parallel_size: {hosts})")
    if not ways:
        return "Choose a smaller model, or one whose weights take fewer bits"
    sentence = ", or ".join(ways)
    return sentence[0].upper() + sentence[1:]


def _hosts_that_do(facts: Mapping[str, Any], engine: Mapping[str, Any], memory: Mapping[str, Any]) -> int | None:
    """The least tensor-parallel size beyond the planned one with which the model fits."""
    size, heads = engine["tensor_parallel_size"] * 2, facts.get("attention_heads")
    while heads and size <= 8 and heads % size == 0:
        found = _plan(facts, {**engine, "tensor_parallel_size": size}, memory)
        if found is not None and found.needed <= found.engine_share:
            return size
        size *= 2
    return None
