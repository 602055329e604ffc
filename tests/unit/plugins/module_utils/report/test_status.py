# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The status table."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.report.status import status


def rank(**changes: Any) -> dict[str, Any]:
    return {
        "name": "dgxspark-tp1-0-r0",
        "replica": "tp1-0",
        "status": "running",
        "exit_code": 0,
        "oom_killed": False,
        "api": "http://127.0.0.1:8000",
        "health": 200,
        "served": ["qwen"],
        **changes,
    }


@pytest.mark.parametrize(
    ("result", "word", "says"),
    [
        ({"containers": [rank()]}, "running", "/health answers 200, serves qwen"),
        ({"containers": [rank(status="exited", exit_code=0)]}, "exited", "exit code 0"),
        (
            {"containers": [rank(status="exited", exit_code=137, oom_killed=True)]},
            "exited",
            "exit code 137, killed for lack of memory",
        ),
        ({"containers": [rank(status="created")]}, "created", ""),
        (
            {"containers": [rank(health=None, served=None)]},
            "running",
            "http://127.0.0.1:8000 does not answer: still loading, or hung",
        ),
        ({"containers": [rank(health=503, served=None)]}, "running", "/health answers 503"),
        ({"containers": [rank(served=None)]}, "running", "/health answers 200, /v1/models does not"),
        ({"containers": [rank(api="", health=None, served=None)]}, "running", "rank without an API"),
        ({"containers": []}, "absent", "no engine of dgxspark.serving is on this host"),
        ({"unreachable": True, "msg": "Connection\ntimed out"}, "unreachable", "Connection timed out"),
        ({"msg": "Docker does not answer"}, "unknown", "Docker does not answer"),
    ],
)
def test_rows(result: dict[str, Any], word: str, says: str) -> None:
    [_header, _line, row] = status({"spark1": result})
    assert row.split()[0] == "spark1"
    assert word in row
    assert row.endswith(says)
