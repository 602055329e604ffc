# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Action plugin ``replica_turn``: from what was seen on all hosts, when and whether this host's replica is changed."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ansible.plugins.action import ActionBase

from ansible_collections.dgxspark.serving.plugins.module_utils.rollout import turns


class ActionModule(ActionBase):
    """The thin edge around :func:`rollout.turns`."""

    TRANSFERS_FILES = False
    _requires_connection = False

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        _validation, options = self.validate_argument_spec(
            argument_spec={
                "replicas": {"type": "list", "elements": "dict", "required": True},
                "info_variable": {"type": "str", "required": True},
            }
        )
        task_vars = task_vars or {}
        replicas = options["replicas"]
        hosts = [host for replica in replicas for host in replica["hosts"]]
        seen = {host: task_vars["hostvars"][host].get(options["info_variable"]) or {} for host in hosts}
        found = turns(replicas, seen, task_vars["ansible_play_hosts"])
        turn = found[task_vars["inventory_hostname"]]
        waves = 1 + max(other.wave for other in found.values())
        failed = {}
        if turn.problems:
            numbered = "\n".join(f"  {number}. {problem}." for number, problem in enumerate(turn.problems, 1))
            failed = {
                "failed": True,
                "msg": f"{task_vars['inventory_hostname']}: nothing was changed here.\n{numbered}",
            }
        return {**result, **failed, "changed": False, "waves": waves, **asdict(turn)}
