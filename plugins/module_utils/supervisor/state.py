# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the group's decisions are made from and what they are: plain values without any I/O.

All times are seconds of one clock that neither jumps nor stops while the host sleeps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from .memory import Memory
from .messages import Message

# Orders of rank 0 for an epoch, in the order in which they follow each other.
STOP, START, SERVE, DOWN = "stop", "start", "serve", "down"
ORDERS = (STOP, START, SERVE, DOWN)

# Phases of one rank.
WAITING_FOR_PEERS, STOPPING, MEMORY, STARTING = "waiting-for-peers", "stopping", "memory", "starting"
LOADING, SERVING, BACKING_OFF, IS_DOWN, STOPPED = "loading", "serving", "backing-off", "down", "stopped"


@dataclass(frozen=True)
class Run:
    """One run of one container: a restart keeps the id and changes the time."""

    id: str
    started_at: str


@dataclass(frozen=True)
class Container:
    """:ivar status: ``unknown`` (Docker does not answer), ``missing``, ``stopped`` or ``running``"""

    status: str
    run: Run | None = None
    exit_code: int = 0
    oom_killed: bool = False


@dataclass(frozen=True)
class Heard:
    """The last message of a peer and when it came."""

    message: Message
    at: float


@dataclass(frozen=True)
class Seen:
    """All that a supervisor can see at one moment.

    :ivar job: what is being done to the container right now: ``start``, ``stop`` or ``evidence``; empty when nothing is
    :ivar start_error: what Docker said to the last start; empty when it went well
    :ivar peers: last message of this generation, by rank
    :ivar strangers: generation and time of the last message of another generation, by rank
    :ivar healthy: ``/health`` answered 200 after the start
    :ivar hung: why the engine counts as hung
    :ivar leaving: systemd asked the supervisor to end
    :ivar changing: a deployment that is not committed is under way on this host
    """

    now: float
    container: Container
    memory: Memory
    job: str = ""
    start_error: str = ""
    peers: Mapping[int, Heard] = field(default_factory=dict)
    strangers: Mapping[int, tuple[str, float]] = field(default_factory=dict)
    healthy: bool = False
    hung: str = ""
    leaving: bool = False
    changing: bool = False


@dataclass(frozen=True)
class Failure:
    """:ivar word: names the folder of the evidence; :ivar kill: there is no time for an orderly stop"""

    word: str
    reason: str
    kill: bool = False


@dataclass(frozen=True)
class LastRestart:
    """:ivar evidence: folder with the evidence; empty until it is known"""

    at: float
    reason: str
    evidence: str = ""


@dataclass
class State:
    """What a supervisor remembers of its group.

    :ivar epoch: number of the group's present attempt; grows, also over restarts of hosts
    :ivar failed: ranks other than 0: why this rank's run of the epoch ended; such a run is never started again
    :ivar run: the run that this supervisor started or adopted in this epoch
    :ivar start_asked: the start was asked for in this epoch
    :ivar failures: times of failures of the group, on rank 0
    :ivar not_before: back-off: no start before this time
    :ivar stopped_at: since when the container is known to be stopped
    :ivar up_since: start of this supervisor; before it nobody can have been heard
    :ivar host_restarted: the host has been restarted since the state was saved
    :ivar left: the supervisor ended because it was told to
    :ivar proven: the last run that has generated; nothing is decided by it
    """

    epoch: int = 0
    order: str = STOP
    order_since: float = 0.0
    phase: str = WAITING_FOR_PEERS
    since: float = 0.0
    reason: str = ""
    failed: str = ""
    run: Run | None = None
    start_asked: bool = False
    failures: tuple[float, ...] = ()
    not_before: float = 0.0
    stopped_at: float | None = None
    memory_back: bool = False
    stop_tries: int = 0
    stop_asked_at: float = 0.0
    restarts: int = 0
    last_restart: LastRestart | None = None
    up_since: float = 0.0
    host_restarted: bool = False
    leaving_since: float | None = None
    left: bool = False
    proven: Run | None = None

    @property
    def wants_run(self) -> bool:
        """Whether the container should run or be about to."""
        return self.order in (START, SERVE) and not self.failed


@dataclass(frozen=True)
class Start:
    """Start the container."""


@dataclass(frozen=True)
class Stop:
    """:ivar timeout: seconds for the engine's own end, before it is killed"""

    timeout: float


@dataclass(frozen=True)
class Kill:
    """Kill the container at once, whatever else is being done."""


@dataclass(frozen=True)
class SaveEvidence:
    """Save what can be seen, before the next action takes it away."""

    word: str
    reason: str


@dataclass(frozen=True)
class Exit:
    """End the supervisor."""


Action: TypeAlias = "Start | Stop | Kill | SaveEvidence | Exit"
