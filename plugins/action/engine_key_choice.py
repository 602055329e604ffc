# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Action plugin ``engine_key_choice``: the one key that gateway and engines share, from what was read on all hosts."""

from __future__ import annotations

import secrets
from typing import Any

from ansible.plugins.action import ActionBase

from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.shared_key import choose

# Bytes of a new key.
LENGTH = 32


class ActionModule(ActionBase):
    """The thin edge around :func:`shared_key.choose`."""

    TRANSFERS_FILES = False
    _requires_connection = False

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        _validation, options = self.validate_argument_spec(
            argument_spec={
                "hosts": {"type": "list", "elements": "str", "required": True},
                "result_variable": {"type": "str", "required": True},
            }
        )
        task_vars = task_vars or {}
        here = [host for host in options["hosts"] if host in task_vars["ansible_play_hosts"]]
        read = {host: task_vars["hostvars"][host].get(options["result_variable"]) or {} for host in here}
        keys = {host: str(answer.get("key") or "") for host, answer in read.items()}
        choice = choose(options["hosts"], keys, secrets.token_urlsafe(LENGTH))
        return {
            **result,
            "changed": False,
            "key": choice.key,
            "lacking": list(choice.lacking),
            "problem": choice.problem,
        }
