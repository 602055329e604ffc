# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a benchmark deploys in turn: the layouts of a suite, or the values of one setting. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.suites.suite import Suite
from ansible_collections.dgxspark.serving.plugins.module_utils.faults import Fault
from ansible_collections.dgxspark.serving.plugins.module_utils.variable import Variable
from ansible_collections.dgxspark.serving.plugins.module_utils.variables import (
    BY_KEY,
    BY_SHORT,
    Unreadable,
    misspelt_key,
    named_list,
    read,
    show,
)

ENGINE_ARGS = "serving_engine_args"
MOST_VALUES = 20
# Blocks of each value, where nobody says.
BLOCKS = 3
# Flags of the engines that a deployment is tuned by. Others can be swept when serving_engine_args has them already.
FLAGS = (
    "async-scheduling",
    "attention-backend",
    "block-size",
    "chunked-prefill-size",
    "context-length",
    "cpu-offload-gb",
    "cuda-graph-max-bs",
    "dtype",
    "enable-chunked-prefill",
    "enable-prefix-caching",
    "enforce-eager",
    "kv-cache-dtype",
    "load-format",
    "long-prefill-token-threshold",
    "max-model-len",
    "max-num-batched-tokens",
    "max-num-partial-prefills",
    "max-num-seqs",
    "max-prefill-tokens",
    "max-running-requests",
    "quantization",
    "schedule-conservativeness",
    "schedule-policy",
    "scheduling-policy",
    "speculative-config",
    "stream-interval",
)

Blocks = dict[str, Any]


def present_args(of_host: Any, deployments: Any) -> Any:
    """The flags of the engine that one setting is changed among.

    :param of_host: ``serving_engine_args``
    :param deployments: ``serving_deployments``, whose entries may have flags of their own, which ``-e`` replaces
    """
    entries = [entry for entry in deployments or () if isinstance(entry, Mapping)] if _is_list(deployments) else []
    own = [entry["engine_args"] for entry in entries if entry.get("engine_args")]
    if not own:
        return of_host
    return own[0] if len(entries) == 1 else "flags of their own in serving_deployments"


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def blocks_of(
    suite: Suite, values: Mapping[str, Any], engine_args: Any, extra: Sequence[str]
) -> tuple[Blocks, list[Fault]]:
    """The variants that are deployed in turn and how often; empty when nothing is deployed.

    :param engine_args: ``serving_engine_args`` as the user wrote it
    :param extra: names that were given with ``-e``
    """
    if values["block"]:
        return {}, []  # a block of a run that deploys; this one only measures
    if values["sweep_setting"] or values["sweep_values"]:
        if suite.blocks:
            found = f"{show(values['sweep_setting'])} with suite {suite.name}, which deploys layouts"
            remedy = "Choose another suite for the sweep, such as quick"
            return {}, [Fault("benchmark_sweep_setting", found, "one experiment at a time", remedy)]
        return _swept(values, engine_args, extra)
    if not suite.blocks:
        if values["layouts"]:
            found, wanted = f"{', '.join(values['layouts'])} with suite {suite.name}", "a suite that deploys layouts"
            return {}, [Fault("benchmark_layouts", found, wanted, "Choose it with -e suite=layout")]
        return {}, []
    return _layouts(suite, values)


def _layouts(suite: Suite, values: Mapping[str, Any]) -> tuple[Blocks, list[Fault]]:
    known = {variant["name"]: variant for variant in suite.blocks["variants"]}
    chosen = values["layouts"] or suite.blocks["chosen"]
    wanted = named_list(known)
    faults = [
        Fault(f"benchmark_layouts[{number}]", show(name), wanted, "Name one of these")
        for number, name in enumerate(chosen)
        if name not in known
    ]
    if len(chosen) < 2 and not faults:
        remedy = "Name one more, or measure what runs with -e suite=standard"
        faults.append(Fault("benchmark_layouts", named_list(chosen), f"two or more of {wanted}", remedy))
    if faults:
        return {}, faults
    variants = [known[name] for name in chosen]
    return {"variants": variants, "rounds": values["rounds"] or suite.blocks["rounds"]}, []


def _swept(values: Mapping[str, Any], engine_args: Any, extra: Sequence[str]) -> tuple[Blocks, list[Fault]]:
    setting, wished = values["sweep_setting"], values["sweep_values"]
    if not setting:
        remedy = "Name the setting, such as gpu_memory_utilization or max_num_seqs"
        return {}, [Fault("benchmark_sweep_setting", "nothing, with benchmark_sweep_values", "a setting", remedy)]
    faults = []
    if not 2 <= len(wished) <= MOST_VALUES:
        wanted = f"a list of 2 to {MOST_VALUES} values"
        found = f"{len(wished)} value{'' if len(wished) == 1 else 's'}"
        faults.append(Fault("benchmark_sweep_values", found, wanted, "Write them as [0.6, 0.7]"))
    if len({str(value) for value in wished}) != len(wished):
        faults.append(Fault("benchmark_sweep_values", show(wished), "each value once", "Remove the ones that repeat"))
    variable = _variable(setting)
    name = variable.name if variable else ENGINE_ARGS
    given = [other for other in extra if other == name or (variable and other == variable.short)]
    for other in given if variable else []:
        remedy = f"Leave out -e {other}"
        faults.append(Fault("benchmark_sweep_setting", f"{show(setting)}, and -e {other}", "one of them", remedy))
    if variable is None:
        faults += _flag_faults(setting, engine_args)
    variants = []
    for number, value in enumerate(wished):
        read_value, fault = _read(variable, value, f"benchmark_sweep_values[{number}]")
        faults += [fault] if fault else []
        changed = read_value if variable else {**_mapping(engine_args), _own_spelling(setting, engine_args): read_value}
        variants.append({"name": _variant_name(setting, value), "playbook": "", "extra_vars": {name: changed}})
    return ({}, faults) if faults else ({"variants": variants, "rounds": values["rounds"] or BLOCKS}, [])


def _variable(setting: str) -> Variable | None:
    """The variable that a setting is, by its key, its short name or its full one."""
    return BY_KEY.get(setting) or BY_SHORT.get(setting) or BY_KEY.get(setting.removeprefix("serving_"))


def _flag_faults(setting: str, engine_args: Any) -> list[Fault]:
    if isinstance(engine_args, Unreadable) or (engine_args and not isinstance(engine_args, Mapping)):
        return [
            Fault(
                ENGINE_ARGS,
                show(engine_args),
                "one mapping for all deployments",
                "Write it so: the sweep changes one flag of it",
            )
        ]
    known = {*FLAGS, *(_dashed(str(flag)) for flag in _mapping(engine_args))}
    if _dashed(setting) in known:
        return []
    names = sorted({*BY_KEY, *(flag.replace("-", "_") for flag in known)})
    near = misspelt_key("benchmark_sweep_setting", setting, names)
    wanted = near.wanted if near.wanted in names else "a deployment's variable, or a flag of the engine"
    remedy = (
        f"Write {wanted}" if wanted in names else "Look it up in docs/variables.md, or set it in serving_engine_args"
    )
    return [Fault("benchmark_sweep_setting", show(setting), wanted, remedy)]


def _read(variable: Variable | None, value: Any, place: str) -> tuple[Any, Fault | None]:
    if variable is not None:
        return read(variable, value, place)
    return _scalar(value), None


def _scalar(value: Any) -> Any:
    """A value of a flag that came as text with ``-e``."""
    if not isinstance(value, str):
        return value
    if value.lower() in ("true", "false"):
        return value.lower() == "true"
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            continue
    return value


def _mapping(value: Any) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) else {}


def _own_spelling(setting: str, engine_args: Any) -> str:
    """The flag as the user has spelt it, so that it is not given twice."""
    for flag in _mapping(engine_args):
        if _dashed(str(flag)) == _dashed(setting):
            return str(flag)
    return _dashed(setting)


def _dashed(flag: str) -> str:
    return flag.lstrip("-").replace("_", "-")


def _variant_name(setting: str, value: Any) -> str:
    """A name for the report and for folders."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", f"{setting}-{value}").strip("-")[:60]
