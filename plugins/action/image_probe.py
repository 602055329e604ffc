# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Action plugin ``image_probe``: says that the image is asked, for an engine may take half a minute to be imported."""

from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

MODULE = "dgxspark.serving.image_probe"


class ActionModule(ActionBase):
    """One round trip."""

    TRANSFERS_FILES = False

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        host = (task_vars or {}).get("inventory_hostname", "")
        image = self._task.args.get("image", "")
        Display().display(
            f"{host}: asking image {image} whether it takes the engine's command line; this can take a minute"
        )
        return {**result, **self._execute_module(module_name=MODULE, task_vars=task_vars)}
