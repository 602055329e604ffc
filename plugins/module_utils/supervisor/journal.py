# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""change.json: what a change that is not committed has done on a host, written before it is done."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from .hostpaths import HostPaths, write_whole

BEGUN = "begun"
COMMITTING = "committing"
REVERTING = "reverting"

# Seconds that a word of rank 0 lasts as a sign that the new replica lives.
HEARD_FOR = 30


@dataclass(frozen=True)
class Displaced:
    """A rank of ours that makes room.

    :ivar name: its container
    :ivar kept_as: the container's name until the change is committed
    :ivar id: Docker's id of the container: names move, ids do not
    :ivar was_enabled: whether its unit starts at boot
    :ivar was_active: whether its unit was active
    :ivar was_running: whether the container ran
    :ivar spec: its supervision spec; None when it had none
    :ivar container_changed: whether it must be kept under another name; false when the new rank uses the same container
    :ivar keep_running: whether it is not even stopped
    """

    name: str
    kept_as: str
    id: str
    was_enabled: bool
    was_active: bool
    was_running: bool
    spec: dict[str, Any] | None
    container_changed: bool
    keep_running: bool = False


@dataclass(frozen=True)
class Change:
    """The content of change.json.

    :ivar run: id of the run that makes the change
    :ivar by: ``user@controller``
    :ivar started: Unix seconds
    :ivar deadline: Unix seconds; a change that is not committed by then is taken back by the host itself
    :ivar new: name of the new rank's container
    :ivar phase: BEGUN, COMMITTING or REVERTING
    :ivar stop_asked: Unix seconds when containers without a unit were asked to stop; 0 when they were not
    """

    run: str
    by: str
    started: float
    deadline: float
    new: str
    displaced: tuple[Displaced, ...] = ()
    phase: str = BEGUN
    stop_asked: float = 0


def parse(text: str) -> Change:
    """Read change.json.

    :raises ValueError: when it is not one
    """
    try:
        data = json.loads(text)
        return Change(**{**data, "displaced": tuple(Displaced(**entry) for entry in data["displaced"])})
    except (TypeError, KeyError) as error:
        raise ValueError(f"not a journal of a change: {error}") from error


def read(paths: HostPaths) -> Change | None:
    """The change in progress on this host, or None.

    :raises ValueError: when the file is not one
    """
    try:
        return parse(paths.change.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None


def write(paths: HostPaths, change: Change) -> None:
    """Write the journal as a whole."""
    write_whole(paths.change, (json.dumps(asdict(change), indent=2, sort_keys=True) + "\n").encode())


def expired(change: Change, now: float, locked: bool, live: dict[str, Any] | None) -> bool:
    """Say whether the run that made the change has to be taken for dead.

    Only rank 0's host is looked at while an engine loads. The hosts of the other ranks live as long as they hear rank 0
    of the new replica: when rank 0's host takes its part back, they hear it no more and do the same.

    :param locked: whether the host has a lock: it is held as long as there is a change, and a reboot takes it away
    :param live: live state of the new rank, if there is any
    """
    if not locked:
        return True
    if now < change.deadline:
        return False
    heard = ((live or {}).get("peers") or {}).get("0") or {}
    return (live or {}).get("phase") in ("down", "stopped") or now - float(heard.get("heard") or 0) > HEARD_FOR
