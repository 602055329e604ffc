# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which run of ansible-playbook this is."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from dataclasses import replace

from ansible_collections.dgxspark.serving.plugins.plugin_utils import this_run


def _worker(queue: multiprocessing.Queue) -> None:
    this_run.this_run.cache_clear()
    queue.put(this_run.this_run())


def test_workers_are_of_their_parents_run() -> None:
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    worker = context.Process(target=_worker, args=(queue,))
    worker.start()
    seen = queue.get(timeout=60)
    worker.join()
    assert seen.pid == os.getpid()
    this_run.this_run.cache_clear()
    assert seen == this_run.this_run()


def test_a_run_that_is_over_is_told_from_one_that_lives_and_from_another_controllers() -> None:
    mine = this_run.this_run()
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    other = {"by": mine.by, "pid": child.pid, "run": this_run.run_id(mine.by, child.pid, this_run.started(child.pid))}
    assert not mine.is_certainly_over(other)
    child.communicate()
    assert mine.is_certainly_over(other)
    assert not replace(mine, by="ann@laptop").is_certainly_over(other)


def test_a_process_id_that_is_used_again_is_another_run() -> None:
    mine = this_run.this_run()
    assert mine.is_certainly_over(
        {"by": mine.by, "pid": os.getpid(), "run": this_run.run_id(mine.by, os.getpid(), "1")}
    )
