# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Action plugin ``fabric_test_plan``: plans a fabric test on the controller, from what the hosts have said."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible.plugins.action import ActionBase

from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_test import plan
from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_test.all_gather import Choice
from ansible_collections.dgxspark.serving.plugins.module_utils.faults import ConfigurationError
from ansible_collections.dgxspark.serving.plugins.module_utils.variables import BY_NAME, read
from ansible_collections.dgxspark.serving.plugins.plugin_utils.host_variables import variable


class ActionModule(ActionBase):
    """The thin edge around :func:`plan.make`."""

    TRANSFERS_FILES = False
    _requires_connection = False

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        _validation, options = self.validate_argument_spec(
            argument_spec={
                "result_variable": {"type": "str", "required": True},
                "plan": {"type": "dict", "required": True},
                "pairs": {"type": "str", "default": "auto"},
                "seconds": {"type": "int", "default": 5},
                "streams": {"type": "int", "default": 8},
                "buffer": {"type": "bytes", "default": "1G"},
                "backend": {"type": "str", "choices": ["nccl", "gloo"], "default": "nccl"},
                "image": {"type": "str", "default": ""},
                "disturb": {"type": "bool", "default": False},
            }
        )
        task_vars = task_vars or {}
        hostvars = task_vars["hostvars"]
        looks = {
            host: look
            for host in task_vars["ansible_play_hosts"]
            if "tools" in (look := hostvars[host].get(options["result_variable"]) or {})
        }
        serving = options["plan"]
        ranks = serving.get("ranks") or {}
        choice = Choice(
            image={host: options["image"] or _image(ranks.get(host)) for host in looks},
            ranks=ranks,
            gid_indices={host: _gid_index(hostvars[host]) for host in looks},
            transport=_transport(hostvars, looks),
            backend=options["backend"],
            buffer=options["buffer"],
        )
        wish = plan.Wish(options["pairs"], options["seconds"], options["streams"], options["disturb"])
        replicas = [replica["hosts"] for replica in serving.get("replicas") or []]
        links = {host: variable(hostvars[host], "fabric_links") for host in looks}
        try:
            made = plan.make(links, looks, replicas, wish, choice)
        except (ConfigurationError, RuntimeError) as error:
            return {**result, "failed": True, "msg": str(error)}
        return {**result, "changed": False, **made, "looks": looks, "notes": _notes(serving)}


def _image(rank: Mapping[str, Any] | None) -> str:
    return str(rank["container"]["image"]) if rank else ""


def _gid_index(host_variables: Mapping[str, Any]) -> int | None:
    name = "fabric_gid_index"
    index: int | None = read(BY_NAME[name], variable(host_variables, name), name)[0]
    return index


def _transport(hostvars: Mapping[str, Any], looks: Mapping[str, Any]) -> str:
    name = "serving_transport"
    first = next(iter(looks), None)
    return str(read(BY_NAME[name], variable(hostvars[first], name) if first else None, name)[0])


def _notes(serving: Mapping[str, Any]) -> list[str]:
    """What a user must know of a deployment that could not be planned; the playbook lets it pass."""
    if "ranks" in serving or "msg" not in serving:
        return []
    return [
        "The deployment could not be planned, so its replicas and its image are not known to the test.",
        *str(serving.get("msg", "")).splitlines()[1:],
    ]
