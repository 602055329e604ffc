# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a plan is made from, and which of several values of a variable counts.

From weak to strong: our default, the recipe, the variable of the replica's first host, the entry in
``serving_deployments``, ``-e``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils import recipe as recipes
from ansible_collections.dgxspark.serving.plugins.module_utils.faults import ConfigurationError, Fault
from ansible_collections.dgxspark.serving.plugins.module_utils.layout import Entry
from ansible_collections.dgxspark.serving.plugins.module_utils.ranks import ENGINES
from ansible_collections.dgxspark.serving.plugins.module_utils.variables import BY_KEY, Variable, read, show

DEFAULT_IMAGES = {"vllm": "nvcr.io/nvidia/vllm:26.05-py3", "sglang": "lmsysorg/sglang:latest-cu130"}


def no_recipe(name: str) -> Mapping[str, Any]:
    """Stand in for a loader of recipes where there is none."""
    raise LookupError(f"no recipe {name}")


@dataclass(frozen=True)
class Request:
    """What a plan is made from.

    :ivar group: name of the inventory group of the hosts
    :ivar hosts: its members, in inventory order
    :ivar variables: for each of them all its variables by name; one that cannot be templated is ``Unreadable``
    :ivar extra: what was given with ``-e``, by its name, short or full
    :ivar role_variables: names of the public variables of the roles
    :ivar deployment_name: name of the one deployment where ``serving_deployments`` spells out none
    :ivar world_size: hosts of each replica that the playbook serves; 0 when it serves any
    :ivar limit: the hosts that this run may touch
    :ivar load_recipe: gives the document of a recipe by its name or path; raises LookupError or ValueError with words
    """

    group: str
    hosts: Sequence[str]
    variables: Mapping[str, Mapping[str, Any]]
    extra: Mapping[str, Any] = field(default_factory=dict)
    role_variables: Sequence[str] = ()
    deployment_name: str = "tp1"
    world_size: int = 1
    limit: Sequence[str] | None = None
    load_recipe: Callable[[str], Mapping[str, Any]] = no_recipe


def where(request: Request, entry: Entry, host: str, variable: Variable) -> tuple[Any, str, str]:
    """Find the value that counts among what the user wrote.

    :returns: the value as written, the name of its place, and the host if it is one host's
    """
    for name in filter(None, (variable.short, variable.name)):
        if name in request.extra:
            return request.extra[name], f"-e {name}", ""
    if variable.key in entry.values:
        return entry.values[variable.key], f"{entry.place}.{variable.key}", ""
    return request.variables[host].get(variable.name), variable.name, host


@dataclass(frozen=True)
class Settings:
    """All values of a deployment for one leading host.

    :ivar values: by the keys of ``variables.BY_KEY``, of the right types
    :ivar recipe: the recipe that they rest on
    """

    values: dict[str, Any]
    recipe: recipes.Recipe | None


def settings(request: Request, entry: Entry, host: str) -> tuple[Settings, list[Fault]]:
    """Read all values of a deployment as they count for a replica whose first host is ``host``."""
    given = {key: where(request, entry, host, variable) for key, variable in BY_KEY.items()}
    found, faults = _recipe(request, given)
    values: dict[str, Any] = {}
    for key, variable in BY_KEY.items():
        value, place, owner = given[key]
        if _absent(value) and found is not None and key in found.settings:
            value, place, owner = found.settings[key], f"{key} of recipe {found.name}", ""
        values[key], fault = read(variable, value, place, owner)
        faults += [fault] if fault else []
    if found is not None:
        values["model"] = values["model"] or found.model
        values["image"] = values["image"] or found.image
        for key, below in (("engine", found.engine), ("backend", found.backend)):
            if _absent(given[key][0]) and below:
                values[key] = below
        dashed = ENGINES[values["engine"]].dashed
        mine = {dashed(flag) for flag in values["engine_args"]}
        kept = {flag: value for flag, value in found.engine_args.items() if dashed(flag) not in mine}
        values["engine_args"] = {**kept, **values["engine_args"]}
        values["env"] = {**found.env, **values["env"]}
    values["image"] = values["image"] or DEFAULT_IMAGES[values["engine"]]
    _size(request, values)
    return Settings(values, found), faults


def _absent(value: Any) -> bool:
    return value is None or value == ""


def _size(request: Request, values: dict[str, Any]) -> None:
    """Let the playbook say the size where nobody else does."""
    if values["tensor_parallel_size"] is None:
        hosts = request.world_size or 1
        pipeline = values["pipeline_parallel_size"]
        values["tensor_parallel_size"] = hosts // pipeline if hosts % pipeline == 0 else 1


def _recipe(request: Request, given: Mapping[str, tuple[Any, str, str]]) -> tuple[recipes.Recipe | None, list[Fault]]:
    raw, place, host = given["recipe"]
    name, fault = read(BY_KEY["recipe"], raw, place, host)
    if fault or not name:
        return None, [fault] if fault else []
    try:
        parsed = recipes.parse(request.load_recipe(name), name)
    except (LookupError, ValueError) as error:
        words = str(error.args[0] if error.args else error)
        return None, [Fault(place, f"{show(name)} ({words})", "a recipe", "Name a recipe or the path of one", host)]
    except ConfigurationError as error:
        return None, list(error.faults)
    allowed, fault = read(BY_KEY["recipe_allow"], *given["recipe_allow"])
    overrides = {key: value for key, (value, _place, _host) in given.items() if not _absent(value)}
    resolved, faults = parsed.resolve(overrides, allowed, place)
    return resolved, faults + ([fault] if fault else [])
