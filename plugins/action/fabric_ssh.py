# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Action plugin ``fabric_ssh``: gives a host the public keys of its peers, from what they have said of themselves."""

from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase

from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_setup import links
from ansible_collections.dgxspark.serving.plugins.plugin_utils.fabric_hosts import fabric_links

MODULE = "dgxspark.serving.fabric_ssh"
OWN = "__fabric_own"


class ActionModule(ActionBase):
    """One round trip; public halves alone pass through here."""

    TRANSFERS_FILES = False

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        task_vars = task_vars or {}
        host = task_vars["inventory_hostname"]
        arguments = {**self._task.args, "host": host}
        if arguments["stage"] == "peers":
            known, _faults = fabric_links(task_vars, arguments.get("group", "sparks"))
            met = links.peers(host, known)
            own = {
                peer: task_vars["hostvars"][peer].get(OWN) or {} for peer in dict.fromkeys(one["host"] for one in met)
            }
            unknown = [peer for peer, said in own.items() if "host_keys" not in said]
            if unknown:
                msg = (
                    f"The keys of {', '.join(unknown)} are not known, for it is not in this run or has failed in it."
                    " Run without --limit."
                )
                return {**result, "failed": True, "msg": msg}
            arguments["peers"] = [
                {
                    "host": peer,
                    "addresses": [one["address"] for one in met if one["host"] == peer],
                    "public_key": said["public_key"],
                    "host_keys": said["host_keys"],
                }
                for peer, said in own.items()
            ]
        return {**result, **self._execute_module(module_name=MODULE, module_args=arguments, task_vars=task_vars)}
