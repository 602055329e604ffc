# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When a replica is out of rotation and idle, and when it is back: what is still waited for. Pure.

All times are seconds of one clock of the replica's host.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.told import HEARD

# Seconds for which no request may be there: one may be on its way from a gateway.
IDLE = 1.0
# Phases in which a supervisor waits for people.
GIVEN_UP = ("down", "stopped")


@dataclass(frozen=True)
class Look:
    """One look at a replica.

    :ivar supervised: its supervisor runs
    :ivar status: of ``GET /ready``; 0 when nobody answered
    :ivar door: the content of that answer
    :ivar closed: why the supervisor says that its door is not open
    :ivar engine_answers: something listens at the engine's port
    :ivar running: requests; None when the engine does not say
    """

    now: float
    supervised: bool = True
    status: int = 0
    door: Mapping[str, Any] | None = None
    closed: str = ""
    engine_answers: bool = True
    running: int | None = None
    waiting: int | None = None


@dataclass(frozen=True)
class Since:
    """What earlier looks of the same wait have seen.

    :ivar told: since when all gateways know; None when they do not yet
    :ivar idle: since when no request is there; None when one is
    """

    told: float | None = None
    idle: float | None = None


def until_drained(look: Look, since: Since, settle: float, if_asked: bool = False) -> tuple[str, Since]:
    """What is waited for until a replica whose flag is set is idle, or nothing.

    :param settle: seconds to wait for an engine that does not say how many requests it has
    :param if_asked: wait for nothing where no gateway asks
    """
    words = _until_told(look)
    if words:
        return words, Since()
    since = replace(since, told=look.now if since.told is None else since.told)
    if not look.engine_answers or (if_asked and _nobody_asks(look)):
        return "", since
    if look.running is None or look.waiting is None:
        # Told, or it would have been returned above.
        is_over = look.now - (since.told or 0.0) >= settle
        words = f"the engine does not say how many requests run, so {settle:g} s are waited"
        return "" if is_over else words, replace(since, idle=None)
    if look.running + look.waiting:
        return requests(look.running, look.waiting), replace(since, idle=None)
    since = replace(since, idle=look.now if since.idle is None else since.idle)
    return "" if look.now - (since.idle or 0.0) >= IDLE else requests(0, 0), since


def until_back(look: Look) -> str:
    """What is waited for until a replica whose flag is gone gets requests again, or nothing.

    Nothing is waited for where no engine is going to run.
    """
    if look.door is not None and look.door.get("phase") in GIVEN_UP:
        return ""
    words = _until_told(look)
    if words or look.door is None or look.status == 200:
        return words
    return f"not ready: {look.door.get('reason') or look.door.get('phase')}"


def requests(running: int, waiting: int) -> str:
    """How many requests there are, in words."""
    words = f"{running} request{'' if running == 1 else 's'} running"
    return f"{words}, {waiting} waiting" if waiting else words


def _nobody_asks(look: Look) -> bool:
    """Whether no gateway knows of drains: nginx goes on sending, and waiting for that to end would be in vain."""
    told = (look.door or {}).get("told")
    return told is not None and not told.get("drain") and not told.get("waiting")


def _until_told(look: Look) -> str:
    if look.door is None:
        return (look.closed or "its supervisor does not answer") if look.supervised else ""
    told = look.door.get("told") or {}
    if told.get("waiting"):
        return f"the gateway at {', '.join(told['waiting'])} does not know of it yet"
    if float(told.get("listening", HEARD)) < HEARD:
        return "gateways may not have asked yet"
    return ""
