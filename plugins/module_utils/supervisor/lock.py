# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who is changing a host now: one run of a playbook at a time."""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from .hostpaths import HostPaths, write_whole

FREE = "free"
MINE = "mine"
HELD = "held"
STALE = "stale"

# Seconds without a sign after which a run counts as dead.
DEFAULT_LEASE = 180


@dataclass(frozen=True)
class Lock:
    """The content of lock.json.

    :ivar run: id of the run of ansible-playbook
    :ivar by: ``user@controller``
    :ivar pid: process id of ansible-playbook on the controller
    :ivar started: Unix seconds
    :ivar seen: Unix seconds of its last sign of life
    """

    run: str
    by: str
    pid: int
    started: float
    seen: float


def parse(text: str) -> Lock | None:
    """Read lock.json; None when it is not one, for a file cut short by a power loss must not lock a host for ever."""
    try:
        data = json.loads(text)
        return Lock(str(data["run"]), str(data["by"]), int(data["pid"]), float(data["started"]), float(data["seen"]))
    except (ValueError, KeyError, TypeError):
        return None


def judge(lock: Lock | None, run: str, now: float, lease: float, dead_run: str = "", change_lives: bool = False) -> str:
    """Say whether ``run`` may change the host: FREE, MINE, STALE (it may) or HELD (it may not).

    :param lease: seconds without a sign after which the holder counts as dead
    :param dead_run: a run that is known to have ended; its lock is stale at once
    :param change_lives: whether a change by the holder is alive on this host: hosts of the other ranks are not looked
        at while rank 0 loads, so that their ``seen`` alone says nothing
    """
    if lock is None:
        return FREE
    if lock.run == run:
        return MINE
    if lock.run == dead_run:
        return STALE
    # A clock that was set back must not make a lock last: a sign from the future is no sign.
    if not change_lives and not 0 <= now - lock.seen < lease:
        return STALE
    return HELD


def words(lock: Lock, now: float, lease: float) -> str:
    """What a user is told who has to wait for another run."""
    since = time.strftime("%H:%M", time.localtime(lock.started))
    return (
        f"another run of dgxspark.serving by {lock.by} is changing this host since {since} "
        f"(last sign {max(0, now - lock.seen):.0f} s ago); nothing was changed. "
        f"Wait for it, or run again after {lease:.0f} s if it is dead."
    )


def read(paths: HostPaths) -> Lock | None:
    """The lock on this host, or None."""
    try:
        return parse(paths.lock.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None


@contextmanager
def guarded(paths: HostPaths) -> Iterator[None]:
    """Keep others from reading and writing the lock or the journal meanwhile; short work only."""
    with exclusive(paths.guard):
        yield


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Hold a file's lock meanwhile."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def take(
    paths: HostPaths, wanted: Lock, lease: float, dead_run: str = "", change_lives: bool = False
) -> tuple[str, Lock | None]:
    """Take the lock, or give a sign of life when it is ours already.

    :param wanted: the lock as it should be; its ``seen`` is now
    :returns: what :func:`judge` said, and the lock that was found
    """
    with guarded(paths):
        found = read(paths)
        verdict = judge(found, wanted.run, wanted.seen, lease, dead_run, change_lives)
        if verdict != HELD:
            started = found.started if found is not None and verdict == MINE else wanted.started
            write_whole(paths.lock, json.dumps({**asdict(wanted), "started": started}).encode())
    return verdict, found


def release(paths: HostPaths, run: str) -> None:
    """Give the lock back if this run has it."""
    with guarded(paths):
        found = read(paths)
        if found is not None and found.run == run:
            paths.lock.unlink()
