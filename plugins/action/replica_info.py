# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Action plugin ``replica_info``: tells the module which files of this collection a host should have."""

from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase

from ansible_collections.dgxspark.serving.plugins.module_utils.rank_state import sha256
from ansible_collections.dgxspark.serving.plugins.plugin_utils import rank_files

MODULE = "dgxspark.serving.replica_info"


class ActionModule(ActionBase):
    """One round trip."""

    TRANSFERS_FILES = False

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        arguments = dict(self._task.args)
        if arguments.get("rank"):
            files = rank_files.rank_files()
            arguments["digests"] = {name: sha256(content) for name, content in vars(files).items()}
        return {**result, **self._execute_module(module_name=MODULE, module_args=arguments, task_vars=task_vars)}
