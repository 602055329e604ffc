# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is shown before an image is asked."""

from __future__ import annotations

from typing import Any
from unittest.mock import MagicMock

import pytest

from ansible_collections.dgxspark.serving.plugins.action import image_probe


def test_it_says_what_it_is_about_before_it_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    task = MagicMock(args={"image": "acme/vllm:1"}, check_mode=False, async_val=0)
    plugin = image_probe.ActionModule(task, MagicMock(), MagicMock(), MagicMock(), MagicMock(), MagicMock())

    def execute(module_name: str, task_vars: Any) -> dict[str, Any]:
        order.append(module_name)
        return {"known": True}

    monkeypatch.setattr(plugin, "_execute_module", execute)
    monkeypatch.setattr(image_probe.Display, "display", lambda display, text: order.append(text))
    assert plugin.run(task_vars={"inventory_hostname": "spark1"})["known"]
    assert order == [
        "spark1: asking image acme/vllm:1 whether it takes the engine's command line; this can take a minute",
        "dgxspark.serving.image_probe",
    ]
