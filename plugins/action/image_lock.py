# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Action plugin ``image_lock``: writes down on the controller which image each name stands for."""

from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase

from ansible_collections.dgxspark.serving.plugins.module_utils.images import lock, spread
from ansible_collections.dgxspark.serving.plugins.plugin_utils.lock_file import (
    LockFileError,
    read_lock_file,
    write_lock_file,
)


class ActionModule(ActionBase):
    """Asked twice: which hosts have to say more, and then, once for all, to write."""

    TRANSFERS_FILES = False
    _requires_connection = False

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        _validation, options = self.validate_argument_spec(
            argument_spec={
                "path": {"type": "str", "required": True},
                "plan": {"type": "dict", "required": True},
                "update": {"type": "bool", "default": False},
                "state": {"type": "str", "choices": ["looked", "written"], "required": True},
                "info_variable": {"type": "str", "default": ""},
            }
        )
        task_vars = task_vars or {}
        alive = task_vars["ansible_play_hosts"]
        wanted = {host: rank["container"]["image"] for host, rank in options["plan"]["ranks"].items() if host in alive}
        try:
            locks = read_lock_file(options["path"])
            missing = {
                name: hosts[0]
                for name, hosts in spread.by_image(wanted).items()
                if options["update"] or name not in locks
            }
            if options["state"] == "looked":
                ask = task_vars["inventory_hostname"] in missing.values()
                return {**result, "changed": False, "ask": ask, "missing": sorted(missing)}
            after = dict(locks)
            for name, host in missing.items():
                info = task_vars["hostvars"][host].get(options["info_variable"]) or {}
                if info.get("image"):
                    after[name] = lock.entry(info["image"], {**info["versions"]})
            lines = {name: lock.changes(locks.get(name), entry) for name, entry in after.items()}
            changed = after != locks
            if changed and not self._task.check_mode:
                write_lock_file(options["path"], after)
        except LockFileError as error:
            return {**result, "failed": True, "msg": str(error)}
        return {**result, "changed": changed, "changes": lines}
