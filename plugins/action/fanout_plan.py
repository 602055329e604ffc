# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Action plugin ``fanout_plan``: lays the way from host to host, or says why there is none, before the first byte."""

from __future__ import annotations

import socket
from typing import Any

from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from ansible_collections.dgxspark.serving.plugins.module_utils.fanout import chain
from ansible_collections.dgxspark.serving.plugins.module_utils.sizes import size
from ansible_collections.dgxspark.serving.plugins.plugin_utils.fabric_hosts import fabric_links
from ansible_collections.dgxspark.serving.plugins.plugin_utils.host_variables import variable


class ActionModule(ActionBase):
    """The thin edge around :func:`chain.plan`, once for each thing that is copied."""

    TRANSFERS_FILES = False
    _requires_connection = False

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        _validation, options = self.validate_argument_spec(
            argument_spec={
                "offers": {"type": "dict", "required": True},
                "need_variable": {"type": "str", "required": True},
                "network": {"type": "str", "choices": ["fabric", "any"], "default": "fabric"},
                "group": {"type": "str", "default": "sparks"},
            }
        )
        task_vars = task_vars or {}
        hostvars, alive = task_vars["hostvars"], task_vars["ansible_play_hosts"]
        offers = {host: offer for host, offer in options["offers"].items() if host in alive}
        links, _faults = fabric_links(task_vars, options["group"])
        management = {host: _address(hostvars[host], host) for host in offers} if options["network"] == "any" else {}
        ways: dict[str, Any] = {}
        refused: dict[str, str] = {}
        for key in dict.fromkeys(offer["key"] for offer in offers.values()):
            hosts = [host for host, offer in offers.items() if offer["key"] == key]
            sources = [host for host in hosts if offers[host]["source"]]
            targets = [host for host in hosts if host not in sources]
            needs = {host: hostvars[host].get(options["need_variable"]) or {} for host in targets}
            faults = [f"{host}: {problem}" for host, need in needs.items() for problem in need.get("problems") or ()]
            if not sources:
                faults.append("the host that it was to come from has failed")
            else:
                found, more = chain.plan(sources[0], targets, links, management)
                faults += map(str, more)
            if faults:
                numbered = "\n".join(f"  {number}. {fault}" for number, fault in enumerate(faults, 1))
                words = f"{offers[hosts[0]]['what']} is not copied, and nothing was changed.\n{numbered}"
                refused.update(dict.fromkeys(hosts, words))
                continue
            ways.update(found)
            needed = sum(need.get("needed") or 0 for need in needs.values())
            way = ", ".join(targets)
            Display().display(f"Copying {offers[hosts[0]]['what']} from {sources[0]} to {way}: {size(needed)}.")
        return {**result, "changed": False, "ways": ways, "refused": refused}


def _address(variables: Any, host: str) -> str:
    """Where a host is reached from anywhere; a name is looked up here, for hosts need not know each other's."""
    name = str(variable(variables, "serving_address") or variable(variables, "ansible_host") or host)
    try:
        return str(socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)[0][4][0])
    except OSError:
        return name
