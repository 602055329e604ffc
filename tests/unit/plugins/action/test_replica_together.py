# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A host goes on only with all that share its fate."""

from __future__ import annotations

from typing import Any
from unittest.mock import MagicMock

import pytest

from ansible_collections.dgxspark.serving.plugins.action import replica_together


def run(results: dict[str, Any]) -> dict[str, Any]:
    arguments = {"hosts": ["s1", "s2"], "result_variable": "made"}
    task = MagicMock(args=arguments, check_mode=False, async_val=0)
    plugin = replica_together.ActionModule(task, MagicMock(), MagicMock(), MagicMock(), MagicMock(), MagicMock())
    hostvars = {host: {"made": result} if result is not None else {} for host, result in results.items()}
    return plugin.run(task_vars={"hostvars": hostvars})


def test_all_succeeded() -> None:
    assert not run({"s1": {"changed": True}, "s2": {"skipped": True}}).get("failed")


@pytest.mark.parametrize("other", [None, {"failed": True}, {"unreachable": True}])
def test_one_that_did_not_keeps_the_others_back(other: dict[str, Any] | None) -> None:
    result = run({"s1": {"changed": True}, "s2": other})
    assert (result["failed"], result["lame"], result["msg"]) == (True, ["s2"], "It did not succeed on s2.")
