# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The life of a group as decisions: what was seen, and what this rank does about it. Pure.

Rank 0 coordinates. Each attempt to run the group has an epoch of its own, in which rank 0 orders in turn: stop (all
stop, wait for memory and say so), start (workers start, then rank 0), serve. A failure of any rank ends it for all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from . import budget
from .memory import gib, needed, under_floor
from .messages import Message
from .spec import Spec
from .state import (
    BACKING_OFF,
    DOWN,
    IS_DOWN,
    LOADING,
    MEMORY,
    ORDERS,
    SERVE,
    SERVING,
    START,
    STARTING,
    STOP,
    STOPPED,
    STOPPING,
    WAITING_FOR_PEERS,
    Action,
    Exit,
    Failure,
    Heard,
    Kill,
    LastRestart,
    SaveEvidence,
    Seen,
    Start,
    State,
    Stop,
)

# A broken group has nothing to save: seconds for an engine to end by itself before it is killed.
QUICK_STOP = 3.0
# Seconds between two tries to end a container that does not end.
STOP_AGAIN = 5.0
# Seconds that a deployment waits for peers that have never said a word, before it counts as failed.
PATIENCE = 60.0
# Seconds after which a supervisor that is told to end does so although Docker does not answer.
DOCKER_PATIENCE = 15.0


def begin(spec: Spec, saved: State | None, now: float, host_restarted: bool = False) -> State:
    """The state of a supervisor that has just started.

    A running container that ``saved`` names is adopted: the state goes on as it was, and a container that is found
    otherwise counts as a failure by the usual rules. What an operator or a deployment started afresh begins anew.

    :param saved: what an earlier supervisor of the same generation left, or only its epoch; None when there is nothing
    """
    next_epoch = 1 if spec.rank == 0 else 0
    if saved is None:
        return State(epoch=next_epoch, order_since=now, since=now, up_since=now)
    if saved.left or (saved.order == DOWN and host_restarted):
        fresh = State(epoch=saved.epoch + next_epoch, order_since=now, since=now, up_since=now)
        if spec.rank != 0 and saved.epoch:
            # Rank 0 may not know yet that this rank was away; a start of this rank alone would hang the group.
            fresh.failed = f"rank {spec.rank} was started anew"
        return fresh
    state = replace(saved, up_since=now, host_restarted=host_restarted)
    if state.wants_run and state.run is None:
        # Nobody knows what became of the start that was under way.
        state.order, state.order_since = STOP, now
        state.epoch += next_epoch
        state.failed = "" if spec.rank == 0 else "the supervisor was restarted during the start"
        state.start_asked = False
    return state


def step(spec: Spec, state: State, seen: Seen) -> tuple[State, list[Action]]:
    """The state after what was seen, and what to do now. The caller repeats it until the state stays as it is."""
    turn = _Turn(spec, replace(state), seen)
    turn.take()
    return turn.state, turn.actions


def message(spec: Spec, state: State) -> Message:
    """What to tell the peers. A rank that was told to end is ``stopped`` for them from then on."""
    return Message(
        replica=spec.replica,
        generation=spec.generation,
        rank=spec.rank,
        epoch=state.epoch,
        phase=state.phase if state.leaving_since is None else STOPPED,
        order=state.order if spec.rank == 0 else "",
        reason=state.reason if spec.rank == 0 else state.failed,
    )


def waiting_for(spec: Spec, state: State, seen: Seen) -> str:
    """What a rank waits for, in words for people; empty when it waits for nobody."""
    if seen.container.status == "unknown":
        return "Docker does not answer"
    if state.phase == MEMORY:
        enough = needed(seen.memory, spec.memory_share, spec.limits.memory_floor)
        return f"waits until {gib(enough)} of memory are available, {gib(seen.memory.available)} are"
    if state.phase not in (WAITING_FOR_PEERS, STARTING, LOADING) or not spec.peers:
        return ""
    words = []
    for rank in spec.peers if spec.rank == 0 else (0,):
        where = f"rank {rank} at {spec.peers[rank]}"
        heard = seen.peers.get(rank)
        if heard is None or seen.now - heard.at > spec.limits.peer_timeout:
            generation, at = seen.strangers.get(rank, ("", 0.0))
            other = bool(generation) and seen.now - at <= spec.limits.peer_timeout
            words.append(f"{where} (it is of another generation, {generation})" if other else f"{where} (silent)")
        elif state.phase == WAITING_FOR_PEERS:
            words.append(f"{where} ({heard.message.phase})")
    return "waits for " + ", ".join(words) if words else ""


class _Turn:
    """One step: works on a state of its own and gathers the actions."""

    def __init__(self, spec: Spec, state: State, seen: Seen) -> None:
        self.spec = spec
        self.state = state
        self.seen = seen
        self.actions: list[Action] = []

    def take(self) -> None:
        if self.seen.leaving and self.state.leaving_since is None:
            self._leave()
        if self.state.leaving_since is not None:
            self._go_out(self.state.leaving_since)
            return
        failure = self._own_trouble()
        if failure is not None:
            self._fail(failure)
        if self.spec.rank == 0:
            self._coordinate()
        else:
            self._follow()
        if self.state.wants_run:
            self._run()
        else:
            self._stay_stopped()

    # The rank's own container.

    def _own_trouble(self) -> Failure | None:
        """What is wrong with the container of a rank that should run."""
        state, seen, container = self.state, self.seen, self.seen.container
        if not state.wants_run:
            return None
        floor = under_floor(seen.memory, self.spec.limits.memory_floor)
        if floor and (container.status == "running" or (container.status == "unknown" and state.run is not None)):
            return Failure("memory-floor", floor, kill=True)
        if seen.job or container.status == "unknown":
            return None
        if container.status == "missing":
            return Failure("no-container", self._missing())
        if state.run is None and not state.start_asked:
            if container.status == "running":
                return Failure("foreign-start", f"container {self.spec.container} was started by somebody else")
            return None
        if seen.start_error and state.run is None:
            return Failure("start-refused", f"Docker cannot start {self.spec.container}: {seen.start_error}")
        if container.status == "stopped":
            return Failure("ended", self._ended())
        if state.run is None:
            state.run = container.run
        elif container.run != state.run:
            return Failure("foreign-restart", f"container {self.spec.container} was restarted by somebody else")
        return None

    def _missing(self) -> str:
        return f"there is no container {self.spec.container}; deploy again"

    def _ended(self) -> str:
        """An engine that ends is a failure whatever its exit code: with a dead peer it ends with 0."""
        if self.state.host_restarted:
            return "the host was restarted"
        memory = ", killed for lack of memory" if self.seen.container.oom_killed else ""
        return f"the engine ended with exit code {self.seen.container.exit_code}{memory}"

    # The end of an epoch.

    def _fail(self, failure: Failure) -> None:
        if failure.kill:
            self.actions.append(Kill())
        self.actions.append(SaveEvidence(failure.word, failure.reason))
        self.state.last_restart = LastRestart(self.seen.now, failure.reason)
        if self.spec.rank == 0:
            self._end_epoch(failure)
        else:
            self.state.failed = failure.reason
            self.state.restarts += 1
            self._order(STOP)

    def _end_epoch(self, failure: Failure) -> None:
        """Rank 0: stop all and try again, if the budget allows it."""
        state, limits = self.state, self.spec.limits
        state.failures = (*budget.within(state.failures, self.seen.now, limits.restart_window), self.seen.now)
        state.epoch += 1
        state.reason = failure.reason
        if failure.word == "no-container" or self.seen.changing:
            self._order(DOWN)
        elif budget.spent(state.failures, limits.restart_limit):
            state.reason += (
                f"; {len(state.failures)} failures within {limits.restart_window:.0f} s use up the budget of "
                f"{limits.restart_limit} restarts, so the replica stays down"
            )
            self._order(DOWN)
        else:
            state.not_before = self.seen.now + budget.delay(state.failures)
            state.restarts += 1
            self._order(STOP)

    def _regroup(self, reason: str) -> None:
        """Rank 0: stop all and start again when all are there, without a failure."""
        self.state.epoch += 1
        self.state.reason = reason
        self._order(STOP)

    def _order(self, order: str) -> None:
        state = self.state
        state.order, state.order_since, state.host_restarted = order, self.seen.now, False
        if order in (STOP, DOWN):
            state.run, state.start_asked, state.stop_tries = None, False, 0

    # Rank 0.

    def _coordinate(self) -> None:
        state = self.state
        highest = max((heard.message.epoch for heard in self._fresh()), default=0)
        if highest > state.epoch:
            # The state of this host was lost; the peers know of later attempts.
            state.epoch = highest
            self._regroup(state.reason)
        left = next((heard.message.rank for heard in self._fresh() if self._has_left(heard)), None)
        if left is not None:
            state.failures, state.restarts, state.not_before = (), 0, 0.0
            reason = f"rank {left} at {self.spec.peers[left]} was stopped"
            state.last_restart = LastRestart(self.seen.now, reason)
            self._regroup(reason)
        if state.wants_run:
            failure = next(self._group_trouble(), None)
            if failure is not None:
                self._fail(failure)
            elif state.order == START and state.run is not None and self.seen.healthy:
                self._order(SERVE)
        elif state.order == STOP:
            self._wait_for_ranks()

    def _fresh(self) -> list[Heard]:
        return [
            heard for heard in self.seen.peers.values() if self.seen.now - heard.at <= self.spec.limits.peer_timeout
        ]

    def _has_left(self, heard: Heard) -> bool:
        """Whether a peer was stopped by its operator since the last order, which must have been more than to stop."""
        return heard.message.phase == STOPPED and heard.at > self.state.order_since and self.state.order != STOP

    def _group_trouble(self) -> Iterator[Failure]:
        """What is wrong with a group that starts or serves, as rank 0 sees it."""
        state, now, limits = self.state, self.seen.now, self.spec.limits
        for rank, address in self.spec.peers.items():
            heard = self.seen.peers.get(rank)
            lost = self._lost(rank)
            if lost:
                yield Failure("peer-lost", lost)
            elif heard is not None and heard.message.epoch == state.epoch and heard.message.reason:
                yield Failure("peer-failed", f"rank {rank} at {address}: {heard.message.reason}")
        if state.order == SERVE and self.seen.hung:
            yield Failure("hung", self.seen.hung)
        if state.order == START and now - state.order_since > limits.start_timeout:
            yield Failure("start-timeout", f"the engine is not ready {limits.start_timeout:.0f} s after its start")

    def _lost(self, rank: int) -> str:
        """Why a peer counts as lost, or nothing."""
        heard = self.seen.peers.get(rank)
        silent = self.seen.now - max(heard.at if heard else 0.0, self.state.up_since)
        if silent <= self.spec.limits.peer_timeout:
            return ""
        generation, at = self.seen.strangers.get(rank, ("", 0.0))
        if generation and self.seen.now - at <= self.spec.limits.peer_timeout:
            return f"rank {rank} at {self.spec.peers[rank]} is of another generation ({generation}); deploy again"
        return f"no word from rank {rank} at {self.spec.peers[rank]} for {silent:.0f} s"

    def _wait_for_ranks(self) -> None:
        """Order the start when all ranks are stopped and have their memory back."""
        state, now = self.state, self.seen.now
        ready = state.phase in (WAITING_FOR_PEERS, BACKING_OFF) and state.memory_back
        for rank, address in self.spec.peers.items():
            heard = self.seen.peers.get(rank)
            if heard is None or now - heard.at > self.spec.limits.peer_timeout:
                ready = False
                if self.seen.changing and now - state.order_since > PATIENCE:
                    state.epoch += 1
                    state.reason = self._lost(rank) or f"no word from rank {rank} at {address}"
                    self._order(DOWN)
                    return
                continue
            told = heard.message
            if told.epoch == state.epoch and told.phase == IS_DOWN and told.reason:
                state.epoch += 1
                state.reason = f"rank {rank} at {address}: {told.reason}"
                self._order(DOWN)
                return
            if told.epoch == state.epoch and told.phase == WAITING_FOR_PEERS and told.reason:
                # It failed in an epoch that this rank does not remember as failed.
                self._regroup(state.reason)
                return
            ready = ready and told.epoch == state.epoch and told.phase == WAITING_FOR_PEERS
        if ready and now >= state.not_before:
            self._order(START)

    # Ranks other than 0.

    def _follow(self) -> None:
        """Take the orders of rank 0."""
        state = self.state
        lost = self._lost(0)
        if lost:
            if state.wants_run:
                self._fail(Failure("peer-lost", lost))
            return
        heard = self.seen.peers.get(0)
        if heard is None or heard.message.order not in ORDERS:
            return
        told = heard.message
        if told.epoch > state.epoch:
            if state.wants_run:
                # Rank 0 has a reason, unless it was stopped and its last message was lost.
                state.last_restart = LastRestart(self.seen.now, told.reason or "rank 0 was started anew")
                if told.reason and told.phase != STOPPED:
                    self.actions.append(SaveEvidence("group-failed", told.reason))
                    state.restarts += 1
            state.epoch, state.failed, state.reason = told.epoch, "", told.reason
            if told.order in (START, SERVE):
                # It was not stopped in this epoch, so what it may run belongs to another one.
                state.failed = f"this rank runs nothing of epoch {told.epoch}"
            self._order(DOWN if told.order == DOWN else STOP)
        elif (
            told.epoch == state.epoch
            and (told.order == DOWN or not state.failed)
            and ORDERS.index(told.order) > ORDERS.index(state.order)
        ):
            state.reason = told.reason
            self._order(told.order)

    # What each order means for the container.

    def _run(self) -> None:
        """Have the container run."""
        state = self.state
        state.memory_back, state.stopped_at = False, None
        if state.order == SERVE and state.run is not None:
            state.reason = ""
            self._phase(SERVING)
        elif state.run is not None:
            self._phase(LOADING)
        else:
            self._phase(STARTING)
            may_start = self.spec.rank != 0 or all(self._runs(rank) for rank in self.spec.peers)
            if may_start and not state.start_asked and not self.seen.job and self.seen.container.status == "stopped":
                state.start_asked = True
                self.actions.append(Start())

    def _runs(self, rank: int) -> bool:
        """Whether a worker has said that its container runs in this epoch: rank 0 starts last."""
        heard = self.seen.peers.get(rank)
        return (
            heard is not None and heard.message.epoch == self.state.epoch and heard.message.phase in (LOADING, SERVING)
        )

    def _stay_stopped(self) -> None:
        """Have the container stopped and, before the next start, its memory back."""
        state, seen = self.state, self.seen
        status = seen.container.status
        if status == "missing":
            state.reason = self._missing()
            if self.spec.rank != 0:
                state.failed = state.reason
            elif state.order != DOWN:
                state.epoch += 1
                self._order(DOWN)
            self._phase(IS_DOWN)
        elif status == "unknown":
            self._phase(STOPPING)
        elif status == "running":
            state.memory_back, state.stopped_at = False, None
            self._phase(STOPPING)
            self._end_container(QUICK_STOP)
        elif seen.job in ("start", "stop"):
            self._phase(STOPPING)
        else:
            self._after_stop()

    def _end_container(self, timeout: float) -> None:
        state, now = self.state, self.seen.now
        if self.seen.job in ("start", "stop") or (state.stop_tries and now - state.stop_asked_at < STOP_AGAIN):
            return
        self.actions.append(Kill() if state.stop_tries else Stop(timeout))
        state.stop_tries += 1
        state.stop_asked_at = now

    def _after_stop(self) -> None:
        state, now, limits = self.state, self.seen.now, self.spec.limits
        state.stop_tries = 0
        if state.stopped_at is None:
            state.stopped_at = now
        if state.order == DOWN:
            self._phase(IS_DOWN)
            return
        enough = needed(self.seen.memory, self.spec.memory_share, limits.memory_floor)
        if self.seen.memory.available >= enough or now - state.stopped_at >= limits.memory_wait:
            state.memory_back = True
        if not state.memory_back:
            self._phase(MEMORY)
        elif self.spec.rank == 0 and now < state.not_before:
            self._phase(BACKING_OFF)
        else:
            self._phase(WAITING_FOR_PEERS)

    def _phase(self, phase: str) -> None:
        if phase != self.state.phase:
            self.state.phase, self.state.since = phase, self.seen.now

    # The end of the supervisor.

    def _leave(self) -> None:
        """An operator stops this rank: no failure, and the peers hear of it at once."""
        state = self.state
        state.leaving_since = self.seen.now
        if self.spec.rank == 0:
            state.epoch += 1
        state.failed, state.reason = "", f"rank {self.spec.rank} was stopped"
        self._order(STOP)

    def _go_out(self, since: float) -> None:
        state, status = self.state, self.seen.container.status
        self._phase(STOPPING)
        if status == "running":
            self._end_container(self.spec.limits.stop_timeout)
            return
        gave_up = self.seen.now - since > self.spec.limits.stop_timeout + DOCKER_PATIENCE
        if (status == "unknown" and not gave_up) or self.seen.job in ("start", "stop"):
            return
        state.left = True
        self._phase(STOPPED)
        self.actions.append(Exit())
