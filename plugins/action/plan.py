# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Action plugin ``plan``: reads inventory and variables on the controller and makes the plan from them."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleError
from ansible.plugins.action import ActionBase
from ansible.utils.vars import load_extra_vars

from ansible_collections.dgxspark.serving.plugins.module_utils import plan
from ansible_collections.dgxspark.serving.plugins.module_utils.faults import ConfigurationError
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.wish import KEYS
from ansible_collections.dgxspark.serving.plugins.module_utils.request import Request
from ansible_collections.dgxspark.serving.plugins.module_utils.variables import BY_NAME, BY_SHORT
from ansible_collections.dgxspark.serving.plugins.plugin_utils.host_variables import variable

COLLECTION = Path(__file__).resolve().parents[2]
ROLES = COLLECTION / "roles"
RECIPES = COLLECTION / "recipes"
SUFFIXES = (".yaml", ".yml")
# Names whose values the plan reads; of all others it wants to know only that they are there.
READ = {*BY_NAME, *BY_SHORT, KEYS, "ansible_host"}


class ActionModule(ActionBase):
    """The thin edge around :func:`plan.make`."""

    TRANSFERS_FILES = False
    _requires_connection = False

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        _validation, options = self.validate_argument_spec(
            argument_spec={
                "group": {"type": "str", "default": "sparks"},
                "deployment_name": {"type": "str", "default": "main"},
                "world_size": {"type": "int", "default": 0},
            }
        )
        task_vars = task_vars or {}
        hosts = list(task_vars["groups"].get(options["group"], []))
        variables = {host: _variables(task_vars["hostvars"][host]) for host in hosts}
        request = Request(
            group=options["group"],
            hosts=hosts,
            variables=variables,
            extra=self._extra(variables[hosts[0]] if hosts else {}),
            role_variables=self._role_variables(),
            deployment_name=options["deployment_name"],
            world_size=options["world_size"],
            limit=task_vars.get("ansible_play_hosts_all"),
            # Each replica of a deployment asks for its recipe.
            load_recipe=functools.cache(self._load_recipe),
        )
        try:
            return {**result, "changed": False, **plan.make(request)}
        except ConfigurationError as error:
            return {**result, "failed": True, "msg": str(error)}

    def _extra(self, variables: Mapping[str, Any]) -> dict[str, Any]:
        """What was given with ``-e``, templated like any variable."""
        return {name: variables.get(name) for name in load_extra_vars(self._loader)}

    def _load_recipe(self, name: str) -> Mapping[str, Any]:
        """Read a recipe: a path (from where the user is, or absolute), or the name of one of ours."""
        is_path = name.endswith(SUFFIXES) or "/" in name
        path = Path(name).expanduser() if is_path else RECIPES / f"{name}{SUFFIXES[0]}"
        if not path.is_file():
            known = ", ".join(sorted(file.stem for file in RECIPES.glob(f"*{SUFFIXES[0]}")))
            raise LookupError(f"there is no such file; recipes of this collection: {known}")
        try:
            document = self._loader.load(path.read_text(encoding="utf-8"), file_name=str(path))
        except AnsibleError as error:
            raise ValueError("it is not YAML: " + " ".join(str(error).split())[:200]) from error
        if not isinstance(document, Mapping):
            raise ValueError("it is not a mapping")
        return document

    def _role_variables(self) -> list[str]:
        names: list[str] = []
        for path in sorted(ROLES.glob("*/meta/argument_specs.yml")):
            specs = self._loader.load_from_file(str(path))["argument_specs"]
            for entry_point in specs.values():
                names += entry_point.get("options", {})
        return names


def _variables(host_variables: Mapping[str, Any]) -> dict[str, Any]:
    """All variable names of a host; values only of those that the plan reads, for templating costs time."""
    found: dict[str, Any] = {}
    for name in host_variables:
        found[name] = variable(host_variables, name) if name in READ else None
    return found
