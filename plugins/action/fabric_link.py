# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Action plugin ``fabric_link``: gives a host its links and its peers, and keeps a change only if all have answered."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from ansible.plugins.action import ActionBase

from ansible_collections.dgxspark.serving.plugins.module_utils import fabric_setup
from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_setup import links
from ansible_collections.dgxspark.serving.plugins.module_utils.faults import ConfigurationError
from ansible_collections.dgxspark.serving.plugins.plugin_utils.fabric_hosts import fabric_links

MODULE = "dgxspark.serving.fabric_link"
APPLIED = "__fabric_applied"
CONFIRMED = "__fabric_confirmed"


class ActionModule(ActionBase):
    """Connects only for what has to be done on the host."""

    TRANSFERS_FILES = False

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        task_vars = task_vars or {}
        arguments = dict(self._task.args)
        if arguments["stage"] == "absent":
            return {**result, **self._execute_module(module_name=MODULE, module_args=arguments, task_vars=task_vars)}
        host = task_vars["inventory_hostname"]
        known, faults = fabric_links(task_vars, arguments.get("group", "sparks"))
        own_faults = [fault for fault in faults if fault.host == host]
        if own_faults:
            return {**result, "failed": True, "msg": str(ConfigurationError(own_faults))}
        if not any(known.values()):
            msg = "fabric_links is set for no host: write the QSFP interfaces of each host there, with their addresses."
            return {**result, "failed": True, "msg": msg}
        wrong = links.faults(host, known)
        if wrong:
            return {**result, "failed": True, "msg": " ".join(wrong)}
        if not known[host]:
            return {**result, "changed": False, "skipped": True, "skip_reason": "no fabric_links"}
        arguments |= {"links": known[host], "peers": links.peers(host, known)}
        if arguments["stage"] == "apply":
            arguments["program"] = (files(fabric_setup) / "revert.py").read_text(encoding="utf-8")
        elif not self._needed(arguments["stage"], task_vars):
            return {**result, "changed": False, "skipped": True, "skip_reason": "nothing has changed"}
        if arguments["stage"] == "keep":
            lame = self._unconfirmed(task_vars, {peer["host"] for peer in arguments["peers"]})
            if lame:
                msg = f"The change is not confirmed on {', '.join(lame)}, so that this host takes it back by itself."
                return {**result, "failed": True, "msg": msg}
        return {**result, **self._execute_module(module_name=MODULE, module_args=arguments, task_vars=task_vars)}

    def _needed(self, stage: str, task_vars: dict[str, Any]) -> bool:
        """Whether there is a change to ask about (of any host), or to keep (of this one)."""
        if task_vars.get("ansible_check_mode"):
            return False
        if stage == "keep":
            return bool((task_vars.get(APPLIED) or {}).get("changed"))
        hostvars = task_vars["hostvars"]
        return any((hostvars[host].get(APPLIED) or {}).get("changed") for host in task_vars["ansible_play_hosts_all"])

    def _unconfirmed(self, task_vars: dict[str, Any], peers: set[str]) -> list[str]:
        """The peers in this play that have failed, or not come as far as asking theirs."""
        hostvars = task_vars["hostvars"]
        seen = {host: hostvars[host].get(CONFIRMED) for host in task_vars["ansible_play_hosts_all"] if host in peers}
        return [host for host, answer in seen.items() if not answer or answer.get("failed") or "silent" not in answer]
