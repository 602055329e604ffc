# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A replica in pretended time: the real decisions of each rank, over containers, links and disks that only pretend.

What happens is written down in ``story``, in order: ``r1 start``, ``r0 stop 3``, ``r1 kill``, ``r0 evidence ended``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.decide import begin, message, step
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.live import read_saved, saved_text
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.memory import GIB, Memory
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.messages import Message
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.spec import Limits, Spec
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.state import (
    Container,
    Exit,
    Heard,
    Kill,
    Run,
    SaveEvidence,
    Seen,
    Start,
    State,
    Stop,
)

LIMITS = {
    "memory_floor": 6 * GIB,
    "hung_after": 120,
    "start_timeout": 600,
    "stop_timeout": 60,
    "memory_wait": 120,
    "peer_timeout": 5,
    "restart_limit": 3,
    "restart_window": 600,
}
# Seconds of pretended time between two looks.
TURN = 0.25
# Unix time less the pretended clock.
OFFSET = 1_700_000_000.0


@dataclass
class Host:
    """One host: what is on it, and what its supervisor sees.

    :ivar supervised: whether its supervisor runs
    :ivar lingers: seconds for which the engine ignores the wish to end
    :ivar refuses: what Docker says to a start
    :ivar job: name of what is done to the container, and when it is done
    """

    spec: Spec
    memory: Memory = field(default_factory=lambda: Memory(120 * GIB, 110 * GIB))
    exists: bool = True
    running: bool = False
    exit_code: int = 0
    starts: int = 0
    docker_answers: bool = True
    lingers: float = 0.0
    refuses: str = ""
    start_error: str = ""
    job: tuple[str, float] | None = None
    healthy: bool = True
    hung: str = ""
    changing: bool = False
    boot: int = 1
    disk: str = ""
    supervised: bool = False
    leaving: bool = False
    state: State = field(default_factory=State)
    peers: dict[int, Heard] = field(default_factory=dict)
    strangers: dict[int, tuple[str, float]] = field(default_factory=dict)
    said: Message | None = None
    said_at: float = 0.0
    # The epoch in which the container was started last.
    started_in: int = 0

    @property
    def name(self) -> str:
        return f"r{self.spec.rank}"

    def container(self) -> Container:
        if not self.docker_answers:
            return Container("unknown")
        if not self.exists:
            return Container("missing")
        status = "running" if self.running else "stopped"
        return Container(status, Run("id", str(self.starts)), self.exit_code)


class Group:
    """:ivar now: pretended seconds
    :ivar cut: ranks whose link is down
    """

    def __init__(self, world_size: int = 2, **limits: float) -> None:
        self.now = 1000.0
        self.story: list[str] = []
        self.cut: set[int] = set()
        self.hosts = [Host(make_spec(rank, world_size, **limits)) for rank in range(world_size)]

    # What people and faults do

    def boot(self, *ranks: int) -> None:
        """Start supervisors; of all ranks when none is named."""
        for host in [self.hosts[rank] for rank in ranks] or self.hosts:
            saved, host_restarted = read_saved(host.disk, host.spec, str(host.boot), OFFSET)
            host.state = begin(host.spec, saved, self.now, host_restarted)
            host.supervised, host.leaving, host.said, host.job, host.start_error = True, False, None, None, ""
            host.peers, host.strangers = {}, {}

    def power_off(self, rank: int) -> None:
        host = self.hosts[rank]
        host.supervised, host.running, host.exit_code, host.job = False, False, 255, None
        host.boot += 1

    def crash_supervisor(self, rank: int) -> None:
        self.hosts[rank].supervised, self.hosts[rank].job = False, None

    def end(self, rank: int, code: int = 0) -> None:
        """The engine of a rank ends by itself."""
        self.hosts[rank].running, self.hosts[rank].exit_code = False, code

    def start_by_hand(self, rank: int) -> None:
        host = self.hosts[rank]
        host.starts += 1
        host.running = True

    # Time

    def run(self, seconds: float) -> None:
        until = self.now + seconds
        while self.now < until:
            self.turn()

    def run_until(self, condition: Callable[[], bool], within: float = 300.0) -> float:
        """Run until something is so; the seconds that it took. Fails when it does not become so."""
        start = self.now
        while not condition():
            self.turn()
            assert self.now - start < within, f"not within {within:g} s: {self.phases()} after {self.story}"
        return self.now - start

    def serve(self, within: float = 300.0) -> float:
        """Run until all ranks serve."""
        return self.run_until(self.serves, within)

    def serves(self) -> bool:
        epochs = {host.state.epoch for host in self.hosts} | {host.started_in for host in self.hosts}
        return set(self.phases()) == {"serving"} and len(epochs) == 1 and all(host.running for host in self.hosts)

    def phases(self) -> list[str]:
        return [host.state.phase if host.supervised else "-" for host in self.hosts]

    def turn(self) -> None:
        self.now += TURN
        for host in self.hosts:
            if host.supervised:
                self._turn_of(host)

    def _turn_of(self, host: Host) -> None:
        epoch = host.state.epoch
        for _number in range(8):
            if host.job is not None and self.now >= host.job[1]:
                self._finish(host)
            state, actions = step(host.spec, host.state, self._seen(host))
            settled, host.state = state == host.state, state
            for action in actions:
                self._do(host, action)
            if settled or not host.supervised:
                break
        else:
            raise AssertionError(f"{host.name} does not settle: {host.state}")
        assert host.state.epoch >= epoch, "epochs grow"
        host.disk = saved_text(host.spec, host.state, str(host.boot), OFFSET)
        told = message(host.spec, host.state)
        if told != host.said or self.now - host.said_at >= 1:
            self._say(host, told)

    def _seen(self, host: Host) -> Seen:
        return Seen(
            now=self.now,
            container=host.container(),
            memory=host.memory,
            job=host.job[0] if host.job else "",
            start_error=host.start_error,
            peers=dict(host.peers),
            strangers=host.strangers,
            healthy=host.healthy and host.running,
            hung=host.hung if host.running else "",
            leaving=host.leaving,
            changing=host.changing,
        )

    def _do(self, host: Host, action: object) -> None:
        if isinstance(action, Start):
            self.story.append(f"{host.name} start")
            self._check_start(host)
            host.start_error = ""
            host.job = ("start", self.now + 0.5)
        elif isinstance(action, Stop):
            self.story.append(f"{host.name} stop {action.timeout:g}")
            host.job = ("stop", self.now + min(host.lingers, action.timeout))
        elif isinstance(action, Kill):
            self.story.append(f"{host.name} kill")
            self.end(host.spec.rank, 137)
        elif isinstance(action, SaveEvidence):
            self.story.append(f"{host.name} evidence {action.word}")
        elif isinstance(action, Exit):
            self.story.append(f"{host.name} exit")
            host.supervised = False

    def _check_start(self, host: Host) -> None:
        """No rank starts into a group that is not of its epoch, and rank 0 starts last."""
        host.started_in = host.state.epoch
        assert not host.running
        if host.spec.rank == 0:
            for other in self.hosts[1:]:
                assert other.started_in <= host.state.epoch
                told = host.peers[other.spec.rank].message
                assert (told.epoch, told.phase) == (host.state.epoch, "loading")

    def _finish(self, host: Host) -> None:
        name, _until = host.job or ("", 0.0)
        host.job = None
        if name == "start":
            host.start_error = host.refuses if host.docker_answers else "connection refused"
            if not host.start_error:
                self.start_by_hand(host.spec.rank)
        elif host.docker_answers and host.running:
            self.end(host.spec.rank, 137)

    def _say(self, host: Host, told: Message) -> None:
        host.said, host.said_at = told, self.now
        for other in self.hosts:
            if other is host or not other.supervised or {host.spec.rank, other.spec.rank} & self.cut:
                continue
            if told.generation == other.spec.generation:
                other.peers[told.rank] = Heard(told, self.now)
            else:
                other.strangers[told.rank] = (told.generation, self.now)


def make_spec(rank: int, world_size: int = 2, generation: str = "0123456789ab", **limits: float) -> Spec:
    return Spec(
        container=f"dgxspark-big-0-r{rank}",
        deployment="big",
        replica="big-0",
        generation=generation,
        rank=rank,
        world_size=world_size,
        address=f"10.100.0.{rank + 1}" if world_size > 1 else "",
        group_port=29400,
        peers={other: f"10.100.0.{other + 1}" for other in range(world_size) if other != rank},
        api="http://127.0.0.1:8000" if rank == 0 else "",
        memory_share=0.7,
        limits=Limits(**{**LIMITS, **limits}),
    )
