# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One run at a time changes a host."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor import lock
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.hostpaths import HostPaths

HELD = lock.Lock("run-1", "ann@laptop", 4242, 100.0, 172.0)


@pytest.mark.parametrize(
    ("found", "run", "now", "dead_run", "lives", "expected"),
    [
        (None, "run-2", 180.0, "", False, lock.FREE),
        (HELD, "run-1", 9999.0, "", False, lock.MINE),
        (HELD, "run-2", 180.0, "", False, lock.HELD),
        (HELD, "run-2", 180.0, "run-1", False, lock.STALE),
        (HELD, "run-2", 180.0, "run-0", False, lock.HELD),
        (HELD, "run-2", 352.0, "", False, lock.STALE),
        (HELD, "run-2", 352.0, "", True, lock.HELD),
        (HELD, "run-2", 171.0, "", False, lock.STALE),
    ],
    ids=["free", "mine", "held", "dead", "another one died", "silent", "its rank 0 is heard", "clock set back"],
)
def test_judge(found: lock.Lock | None, run: str, now: float, dead_run: str, lives: bool, expected: str) -> None:
    assert lock.judge(found, run, now, 180, dead_run, lives) == expected


def test_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    held = lock.Lock("run-1", "ann@laptop", 4242, 12 * 3600 + 60.0, 12 * 3600 + 172.0)
    assert lock.words(held, 12 * 3600 + 180.0, 180) == (
        "another run of dgxspark.serving by ann@laptop is changing this host since 12:01 (last sign 8 s ago); "
        "nothing was changed. Wait for it, or run again after 180 s if it is dead."
    )


def test_take_and_release(tmp_path: Path) -> None:
    paths = HostPaths(tmp_path)
    mine = lock.Lock("run-2", "bob@desk", 7, 180.0, 180.0)
    assert lock.take(paths, HELD, 180) == (lock.FREE, None)
    assert lock.take(paths, mine, 180) == (lock.HELD, HELD)
    lock.release(paths, "run-2")
    assert lock.read(paths) == HELD
    again = lock.Lock("run-1", "ann@laptop", 4242, 190.0, 190.0)
    assert lock.take(paths, again, 180)[0] == lock.MINE
    assert lock.read(paths) == lock.Lock("run-1", "ann@laptop", 4242, 100.0, 190.0)
    lock.release(paths, "run-1")
    assert lock.take(paths, mine, 180)[0] == lock.FREE


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"run": "x"}', "null"])
def test_a_lock_cut_short_locks_nobody_out(tmp_path: Path, text: str) -> None:
    paths = HostPaths(tmp_path)
    paths.run.mkdir(parents=True)
    paths.lock.write_text(text, encoding="utf-8")
    assert lock.read(paths) is None
