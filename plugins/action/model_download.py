# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Action plugin ``model_download``: reads the token here, and follows the module's work on the host."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.utils.display import Display

from ansible_collections.dgxspark.serving.plugins.module_utils.download.token import of_file
from ansible_collections.dgxspark.serving.plugins.plugin_utils.followed import FollowedAction


class ActionModule(FollowedAction):
    """Follows the module."""

    MODULE = "dgxspark.serving.model_download"

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        for note in result.get("notes", []):
            Display().warning(f"{(task_vars or {})['inventory_hostname']}: {note}")
        return result

    def what(self, arguments: dict[str, Any]) -> str:
        if arguments.get("state") == "completed":
            return f"completing {arguments['model']} from {arguments['base']}"
        return f"downloading {arguments['model']}"

    def arguments(self, task_vars: dict[str, Any]) -> dict[str, Any]:
        arguments = super().arguments(task_vars)
        name = arguments.pop("token_file", None)
        if not name:
            return arguments
        path = Path(self._loader.path_dwim(name))
        try:
            return {**arguments, "token": of_file(path.read_text(encoding="utf-8"))}
        except (OSError, ValueError) as error:
            found = error.strerror if isinstance(error, OSError) else "no token in it"
            raise AnsibleActionFail(
                f"model_token_file is {name}, found {found} on the controller,"
                " wanted a file that holds a token of the hub and nothing else."
            ) from None
