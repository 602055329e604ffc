# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is done to a container, one after the other."""

from __future__ import annotations

import threading

from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.jobs import Jobs

LIMIT = 60.0  # seconds until a wait counts as failed


def test_jobs_are_done_in_order_and_a_stop_is_named_before_evidence() -> None:
    finished = threading.Semaphore(0)
    go_on = threading.Event()
    done: list[str] = []

    def save() -> None:
        go_on.wait(LIMIT)
        done.append("evidence")

    jobs = Jobs(finished.release)
    assert jobs.doing() == ""
    jobs.add("evidence", save)
    assert jobs.doing() == "evidence"
    jobs.add("stop", lambda: done.append("stop"))
    assert jobs.doing() == "stop"
    go_on.set()
    assert finished.acquire(timeout=LIMIT)
    assert finished.acquire(timeout=LIMIT)
    assert done == ["evidence", "stop"]
    assert jobs.doing() == ""
