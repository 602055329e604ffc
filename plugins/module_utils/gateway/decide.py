# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What has to be done to have the gateway of a host as wanted. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.gateway import units
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.places import RECORD
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.unit_state import State

UNITS = (units.FRONT, units.ROUTER)
START, RELOAD, RESTART = "start", "reload", "restart"
UP = ("active", "reloading")


@dataclass(frozen=True)
class Content:
    """A file's content, secrets in it, and its mode."""

    data: bytes = field(repr=False)
    mode: int


@dataclass(frozen=True)
class Wanted:
    """The gateway that is wanted.

    :ivar files: by name, below the gateway's folder
    :ivar units: texts by name
    :ivar listen: ``address``, ``port`` and ``tls`` of the front
    """

    files: Mapping[str, Content]
    units: Mapping[str, str]
    listen: Mapping[str, Any]


@dataclass(frozen=True)
class Here:
    """What is on the host.

    :ivar user: whether there is the gateway's user
    :ivar units: texts of the units that are there
    :ivar states: of all units
    :ivar listen: where the front listens; empty when that is not known
    :ivar containers: that run; None when Docker does not say
    """

    user: bool
    files: Mapping[str, Content]
    units: Mapping[str, str]
    states: Mapping[str, State]
    listen: Mapping[str, Any]
    containers: Sequence[str] | None


@dataclass
class Due:
    """What has to be done.

    :ivar reasons: why, in words; empty when all is as wanted
    :ivar files: names of files that are new, changed or gone
    :ivar write: units whose text has to be written
    :ivar acts: for each unit that must do something what
    :ivar enable: units that are to start at boot, and do not
    :ivar leaving: units that are to go
    :ivar take_up: whether systemd has to read its units
    :ivar later: what has to wait, in words; empty when nothing has
    """

    reasons: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    write: list[str] = field(default_factory=list)
    acts: dict[str, str] = field(default_factory=dict)
    enable: list[str] = field(default_factory=list)
    leaving: list[str] = field(default_factory=list)
    take_up: bool = False
    later: str = ""


def decide(here: Here, wanted: Wanted) -> Due:
    """Hold what is there against what is wanted."""
    names = sorted({*here.files, *wanted.files})
    due = Due(files=[name for name in names if here.files.get(name) != wanted.files.get(name)])
    if not here.user:
        due.reasons.append(f"there is no user {units.USER}")
    # The record of what was installed changes with the rest.
    named = [name for name in due.files if name != RECORD] or due.files
    due.reasons += [f"{name} is {_how(name, here, wanted)}" for name in named]
    for name, text in wanted.units.items():
        _unit(name, text, here, wanted, due)
    due.leaving = [
        name for name in UNITS if name not in wanted.units and (name in here.units or here.states[name].active in UP)
    ]
    due.reasons += [f"{name} is not wanted any more" for name in due.leaving]
    return due


def _how(name: str, here: Here, wanted: Wanted) -> str:
    if name not in here.files:
        return "new"
    return "changed" if name in wanted.files else "gone"


def _unit(name: str, text: str, here: Here, wanted: Wanted, due: Due) -> None:
    state = here.states[name]
    old = here.units.get(name)
    if old != text:
        due.write.append(name)
        due.reasons.append(f"{name} is {'new' if old is None else 'changed'}")
    if not state.enabled:
        due.enable.append(name)
        due.reasons.append(f"{name} does not start at boot")
    # systemd's own NeedDaemonReload says yes of all units once one was enabled without a reload.
    stale = old is not None and old != text
    take_up = stale and here.containers == []
    if take_up:
        due.take_up = True
    elif stale:
        users = ", ".join(here.containers) if here.containers else "containers that Docker does not tell of"
        due.later = (
            f"systemd takes up the new {name} at the next start of the host:"
            f" reading it now can take the GPU from {users}"
        )
    act = _act(name, here, wanted, due, take_up)
    if state.active not in UP:
        due.reasons.append(f"{name} is {state.active}")
        act = RESTART if state.active == "activating" else START
    if act:
        due.acts[name] = act


def _act(name: str, here: Here, wanted: Wanted, due: Due, take_up: bool) -> str:
    """What a unit that is up has to do; empty for nothing."""
    is_router = name == units.ROUTER
    files = [file for file in due.files if units.is_routers(file) == is_router]
    if take_up or (is_router and files):
        return RESTART
    if not is_router and (units.START in files or dict(here.listen) != dict(wanted.listen)):
        return RESTART
    return RELOAD if files else ""
