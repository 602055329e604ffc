# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A change on a host, in small steps: each may be done twice, and a crash between any two of them loses nothing.

What is going to be done is written to the journal first. Each function makes one pass and says what it waits for; the
caller calls again.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from . import journal, lock
from .host import Host, Refused
from .journal import Change, Displaced

# Seconds between two passes.
PAUSE = 0.5
# Seconds that an engine without a supervisor gets to end when a host takes its change back.
STOP_TIMEOUT = 60
# Folders beside ours in which other roles keep what their own undo needs.
OTHERS = ("host", "fabric")


@dataclass(frozen=True)
class Files:
    """What the new rank needs on the host, by content."""

    program: bytes
    ray_rank: bytes
    unit: bytes
    spec: bytes


@dataclass(frozen=True)
class Present:
    """A rank of ours on the host that makes room.

    :ivar container_changed: whether its container must be kept under another name for the time being
    :ivar keep_running: whether it is the new rank itself, which goes on as it is with new limits
    """

    name: str
    id: str
    running: bool
    container_changed: bool
    keep_running: bool = False


@dataclass(frozen=True)
class Request:
    """A change as a run wants it.

    :ivar lease: seconds without a sign of the run after which the host takes the change back
    :ivar stop_timeout: seconds that an engine without a supervisor gets to end
    """

    run: str
    by: str
    lease: float
    new: str
    files: Files
    stop_timeout: float


def begin(host: Host, request: Request, present: Sequence[Present]) -> str:
    """Make room for a new rank: old ones stop and are kept under another name.

    :param present: ranks to displace; read in the first pass only, later ones go by the journal
    :returns: what is waited for; empty when the room is made
    :raises Refused: when another run's change is there, or a command fails
    """
    with lock.exclusive(host.paths.work_guard):
        return _begin(host, request, present)


def _begin(host: Host, request: Request, present: Sequence[Present]) -> str:
    change = journal.read(host.paths)
    if change is None:
        # The timer needs the program.
        host.put(host.paths.program, request.files.program)
        change = _record(host, request, present)
        journal.write(host.paths, change)
    _mine(change, request.run)
    if not host.revert_armed():
        host.arm_revert(request.lease)
    leaving = [rank for rank in change.displaced if not rank.keep_running]
    waiting = _stop(host, change, leaving, request.stop_timeout)
    if waiting:
        return waiting
    # Backwards, so that "x-previous" of a change whose journal was lost makes room for "x".
    for rank in sorted(leaving, key=lambda rank: rank.name, reverse=True):
        seen = host.container(rank.id) if rank.container_changed else None
        if seen is not None and seen.name == rank.name:
            host.rename(rank.id, rank.kept_as)
    host.put(host.paths.program, request.files.program)
    if write_files(host, request) and len(leaving) < len(change.displaced):
        host.reload_unit(request.new)
    if len(leaving) == len(change.displaced):
        host.take_up_unit_file(request.new)
    return ""


def write_files(host: Host, request: Request) -> bool:
    """Write what the rank needs; says whether its supervisor has to start anew to see it."""
    files, paths = request.files, host.paths
    changed = [host.put(paths.program, files.program), host.put(paths.spec(request.new), files.spec)]
    host.put(paths.ray_rank, files.ray_rank)
    host.put(paths.unit, files.unit)
    return any(changed)


def start(host: Host, run: str, name: str) -> bool:
    """Start the new rank's supervisor, now and at each boot; says whether that is a change.

    :raises Refused: when the host has taken the change back meanwhile, or the unit does not start
    """
    change = journal.read(host.paths)
    if change is not None:
        _mine(change, run)
    elif host.unit_state(name) != "active":
        raise Refused(
            f"the change to {name} is not there any more, since this host had no sign of the run for its whole lease "
            "and took the change back. Deploy again."
        )
    changed = host.enable(name, True)
    if host.unit_state(name) != "active":
        host.start_unit(name, wait=True)
        changed = True
    return changed


def commit(host: Host, run: str) -> bool:
    """Keep the new rank and remove what made room for it; says whether that is a change."""
    with lock.exclusive(host.paths.work_guard):
        change = journal.read(host.paths)
        if change is not None:
            _mine(change, run)
            _finish(host, change)
    lock.release(host.paths, run)
    return change is not None


def revert(host: Host) -> str:
    """Bring back what was, whoever began the change; a change that is being committed is finished instead.

    :returns: what is waited for; empty when there is no change any more
    """
    with lock.exclusive(host.paths.work_guard):
        return _revert(host)


def _revert(host: Host) -> str:
    change = journal.read(host.paths)
    if change is None:
        return ""
    if change.phase == journal.COMMITTING:
        _finish(host, change)
        lock.release(host.paths, change.run)
        return ""
    if change.phase != journal.REVERTING:
        change = _note(host, change, phase=journal.REVERTING, stop_asked=0)
    old = {rank.name: rank for rank in change.displaced}
    ids = {rank.id for rank in change.displaced}
    same = old.get(change.new)
    standing = host.container(change.new)
    # Nothing of the new rank is there yet when the old container still has its name, or has it again.
    in_place = same is not None and same.container_changed and standing is not None and standing.id == same.id
    if not in_place and not (same is not None and same.keep_running) and host.stop_unit(change.new):
        return f"{change.new} stops"
    if standing is not None and standing.ours and standing.id not in ids:
        host.remove(standing.id)
    for rank in sorted(change.displaced, key=lambda rank: rank.name):
        seen = host.container(rank.id)
        if seen is not None and seen.name == rank.kept_as != rank.name:
            host.rename(rank.id, rank.name)
    if same is None:
        host.enable(change.new, False)
        # Evidence of its failure stays.
        for path in (host.paths.spec(change.new), host.paths.live(change.new), host.paths.state(change.new)):
            path.unlink(missing_ok=True)
    for rank in change.displaced:
        _restore(host, rank)
    _close(host)
    lock.release(host.paths, change.run)
    return ""


def expired(host: Host) -> bool:
    """Whether there is a change on the host whose run has to be taken for dead."""
    change = journal.read(host.paths)
    return change is not None and journal.expired(
        change, host.now(), lock.read(host.paths) is not None, host.read_json(host.paths.live(change.new))
    )


def revert_if_expired(host: Host) -> bool:
    """What the host's timer does: take a change back whose run is dead. Says whether it did.

    Not for a supervisor: this stops units, and its own may be one of them.
    """
    if not expired(host):
        if journal.read(host.paths) is None:
            host.disarm_revert()
        return False
    while revert(host):
        time.sleep(PAUSE)
    return True


def ask_revert_if_expired(host: Host) -> bool:
    """What a supervisor does when it starts: have a timer look, for a reboot takes it away. Says whether it did."""
    change = journal.read(host.paths)
    if change is None or (host.revert_armed() and not expired(host)):
        return False
    host.arm_revert(1 if expired(host) else change.deadline - host.now())
    return True


def remove(host: Host, ranks: Iterable[tuple[str, str]], stop_timeout: float, evidence: bool) -> str:
    """Stop and remove ranks, with their files.

    :param ranks: name of each, and the id of its container, or nothing where only files are left
    :param evidence: whether to remove what was saved of failures, too
    :returns: what is waited for; empty when all is gone
    """
    ranks = list(ranks)
    going = [name for name, _container in ranks if host.stop_unit(name)]
    if going:
        return f"{', '.join(going)} stops"
    for name, container in ranks:
        seen = host.container(container) if container else None
        if seen is not None and seen.running:
            # Docker itself keeps the time between the two signals.
            host.run(["docker", "container", "stop", "--time", str(round(stop_timeout)), container])
        if seen is not None:
            host.remove(container)
        host.enable(name, False)
        _forget(host, name, evidence)
        # What is put here next is not to be kept out for what was here before.
        host.paths.drain.unlink(missing_ok=True)
    return ""


def shared_paths(host: Host) -> list[Path]:
    """What all ranks of a host share, as far as it is there; the other roles' files beside it are not ours."""
    paths = host.paths
    states = paths.states.iterdir() if paths.states.is_dir() else ()
    mine = [path for path in states if path.name not in OTHERS]
    return [path for path in (paths.program, paths.ray_rank.parent, paths.specs, *mine, paths.unit) if path.exists()]


def remove_shared(host: Host) -> None:
    """Remove what all ranks of a host share, once there is none any more."""
    paths = host.paths
    for path in shared_paths(host):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
    for folder in (paths.library, paths.specs.parent, paths.states):
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
    # The lock is in it, so that it goes last.
    shutil.rmtree(paths.run, ignore_errors=True)


def _record(host: Host, request: Request, present: Sequence[Present]) -> Change:
    displaced = [
        Displaced(
            name=rank.name,
            kept_as=f"{rank.name}-previous" if rank.container_changed else rank.name,
            id=rank.id,
            was_enabled=host.enabled(rank.name),
            was_active=host.unit_state(rank.name) in ("active", "activating", "reloading"),
            was_running=rank.running,
            spec=host.read_json(host.paths.spec(rank.name)),
            container_changed=rank.container_changed,
            keep_running=rank.keep_running,
        )
        for rank in present
    ]
    now = host.now()
    return Change(request.run, request.by, now, now + request.lease, request.new, tuple(displaced))


def _mine(change: Change, run: str) -> None:
    if change.run != run:
        raise Refused(f"{interrupted(change)}. Wait until this host has taken it back, and deploy again.")
    if change.phase == journal.REVERTING:
        raise Refused(
            f"the change to {change.new} is being taken back, since this host had no sign of the run for its whole "
            "lease. Deploy again."
        )


def interrupted(change: Change) -> str:
    """A change that somebody left, in words without their full stop."""
    since = time.strftime("%H:%M", time.localtime(change.started))
    return f"a change to {change.new} that {change.by} began at {since} is not finished"


def _stop(host: Host, change: Change, leaving: Sequence[Displaced], stop_timeout: float) -> str:
    """Stop ranks; units first, then containers that none of them stopped. Returns what is waited for."""
    going = [rank.name for rank in leaving if host.stop_unit(rank.name)]
    if going:
        return f"{', '.join(going)} stops"
    left = [rank for rank in leaving if (seen := host.container(rank.id)) is not None and seen.running]
    if not left:
        return ""
    if not change.stop_asked:
        _note(host, change, stop_asked=host.now())
    over = change.stop_asked and host.now() - change.stop_asked > stop_timeout
    if over or not change.stop_asked:
        for rank in left:
            host.signal(rank.id, "SIGKILL" if over else "SIGTERM")
    return f"{', '.join(rank.name for rank in left)} stops"


def _note(host: Host, change: Change, **values: Any) -> Change:
    """Write to the journal how far it is, without losing a sign of life that came meanwhile."""
    with lock.guarded(host.paths):
        noted = replace(journal.read(host.paths) or change, **values)
        journal.write(host.paths, noted)
    return noted


def _restore(host: Host, rank: Displaced) -> None:
    """Give a displaced rank its files, its place at boot, and its life back."""
    path = host.paths.spec(rank.name)
    changed = False
    if rank.spec is None:
        path.unlink(missing_ok=True)
    else:
        changed = host.put(path, spec_text(rank.spec))
    host.enable(rank.name, rank.was_enabled)
    if rank.keep_running:
        if changed:
            host.reload_unit(rank.name)
    elif rank.was_active:
        host.start_unit(rank.name, wait=False)
    elif rank.was_running and host.container(rank.id) is not None:
        host.start(rank.id)


def _finish(host: Host, change: Change) -> None:
    """Remove what made room. The journal says so first: from here on there is no way back."""
    _note(host, change, phase=journal.COMMITTING)
    for rank in change.displaced:
        if rank.name != change.new:
            host.enable(rank.name, False)
            _forget(host, rank.name, evidence=True)
        if rank.container_changed:
            host.remove(rank.id)
    _close(host)


def _forget(host: Host, name: str, evidence: bool) -> None:
    for path in (host.paths.spec(name), host.paths.live(name), host.paths.state(name)):
        path.unlink(missing_ok=True)
    if evidence:
        shutil.rmtree(host.paths.state_folder(name), ignore_errors=True)


def _close(host: Host) -> None:
    """The change is over. The journal goes first: a timer without one does nothing."""
    with lock.guarded(host.paths):
        host.paths.change.unlink(missing_ok=True)
    host.disarm_revert()


def spec_text(spec: dict[str, Any]) -> bytes:
    """A supervision spec as it lies on a host."""
    return (json.dumps(spec, indent=2, sort_keys=True) + "\n").encode()
