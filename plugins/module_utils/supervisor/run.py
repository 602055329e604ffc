# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The supervisor of one rank: looks, lets `decide` decide, and does what it says. An edge."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

from . import evidence, journal
from .decide import begin, message, step, waiting_for
from .docker_socket import Docker
from .engine import Engine
from .fabric_socket import FabricSocket
from .host_memory import HostMemory
from .hostpaths import HostPaths, write_whole
from .jobs import Jobs
from .live import NOWHERE, live_state, read_saved, saved_text
from .messages import Message
from .notify import Notifier
from .progress import Progress
from .rotation import Rotation
from .said import say
from .spec import Spec, SpecError, parse
from .state import SERVE, Exit, Heard, Kill, SaveEvidence, Seen, Start, State, Stop
from .watch import ContainerWatch, EngineWatch, clock

# Seconds between two turns without any news, and so between two datagrams.
TICK = 1.0
# Seconds between two writings of the live state without any news.
WRITE = 2.0
# Microseconds that systemd is asked to wait on while the engine stops.
LEAVE_MORE = 30_000_000
# A turn settles after a few steps; more would be a fault, and must not take a core.
STEPS = 8


class Supervisor:
    """:param container: name of the rank's container, which names its spec, too"""

    def __init__(self, paths: HostPaths, container: str) -> None:
        self.paths = paths
        self.spec = read_spec(paths, container)
        self._news = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self.docker = Docker(str(paths.root / "var/run/docker.sock"))
        self.fabric = FabricSocket(self.spec)
        self.notifier = Notifier()
        self.jobs = Jobs(self._wake)
        self.container = ContainerWatch(self.docker, container, self._wake)
        engine = Engine(self.spec.api, self.spec.key_file) if self.spec.api else None
        self.engine = EngineWatch(engine, self._wake) if engine is not None else None
        self.peers: dict[int, Heard] = {}
        self.strangers: dict[int, tuple[str, float]] = {}
        self.leaving = self.reloading = self.ended = False
        self.start_error = ""
        self.bind_error = ""
        self.boot = (paths.root / "proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        self.memory = HostMemory(paths.root, self.spec.limits.memory_floor, clock())
        self.state = self._begin()
        self.rotation: Rotation | None = None
        if engine is not None and self.spec.health is not None:
            self.rotation = Rotation(self.spec, self.spec.health, paths, engine, self.state.proven, self._wake)
        # The engine may be running: the first turn must know.
        self.container.look()
        self._saved: State | None = None
        self._said: Message | None = None
        self._shown: tuple[Any, ...] = ()
        self._told = ""
        self._next_write = 0.0

    # The loop

    def run(self) -> None:
        """Supervise until systemd ends it or wants it to start anew."""
        signals = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP}
        for number in signals:
            signal.signal(number, self._on_signal)
        # They were held back while a new program took over.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, signals)
        threading.excepthook = end_at_once
        self.container.begin()
        if self.engine is not None:
            self.engine.begin()
        with selectors.DefaultSelector() as selector:
            selector.register(self._news, selectors.EVENT_READ)
            next_tick = clock()
            while not self.ended:
                self._bind(selector)
                selector.select(max(0.0, next_tick - clock()))
                with contextlib.suppress(BlockingIOError):
                    os.eventfd_read(self._news)
                self._hear()
                due = clock() >= next_tick
                if due:
                    next_tick = clock() + TICK
                    self.memory.look(clock())
                self._turn(due)
                if self.reloading and not self.jobs.doing():
                    self._start_anew()

    def _turn(self, due: bool) -> None:
        """Decide until there is nothing more to decide; then say it, write it and tell it."""
        for _number in range(STEPS):
            seen = self._seen()
            state, actions = step(self.spec, self.state, seen)
            settled = state == self.state
            self.state = state
            for action in actions:
                self._do(action)
            if self.engine is not None:
                self.engine.watch(state.run if state.wants_run else None, state.order == SERVE)
            if settled or self.ended:
                break
        shortage = self._shortage()
        if self.rotation is not None:
            reason = self.state.failed or self.state.reason or waiting_for(self.spec, self.state, seen)
            self.rotation.know(self.state, reason, shortage, self._progress().sample)
            self.state.proven = self.rotation.proven()
        offset = time.time() - clock()
        # First on the disk, then on the wire: an epoch that was told is never told again after a restart.
        if self.state != self._saved:
            self._saved = replace(self.state)
            text = saved_text(self.spec, self.state, self.boot, offset)
            self._write(self.paths.state(self.spec.container), text)
        told = replace(message(self.spec, self.state), pressure=bool(self.memory.pressure.words))
        news = told != self._said
        if news or due or self.ended:
            self.fabric.say(told)
            self._said = told
        rotation = self._rotation(shortage)
        peers = sorted((rank, heard.message.phase) for rank, heard in self.peers.items())
        shown = (seen.container.status, rotation, *peers)
        if news or shown != self._shown or self.ended or clock() >= self._next_write:
            self._shown = shown
            self._write_live(seen, rotation, offset)
        if due or news:
            self._tell()

    def _seen(self) -> Seen:
        return Seen(
            now=clock(),
            # The order matters: a job that ends between the two would hide that its container is not looked at yet.
            job=self.jobs.doing(),
            container=self.container.container(),
            memory=self.memory.memory,
            start_error=self.start_error,
            peers=self.peers,
            strangers=self.strangers,
            healthy=self.engine is not None and self.engine.healthy(self.state.run),
            hung=self._progress().hung(self.spec.limits.hung_after),
            leaving=self.leaving,
            changing=self._changing(),
        )

    # What is decided

    def _do(self, action: Any) -> None:
        name = self.spec.container
        if isinstance(action, Start):
            self.start_error = ""
            self.jobs.add("start", self._start)
        elif isinstance(action, Stop):
            self.jobs.add("stop", lambda: self._stop(action.timeout))
        elif isinstance(action, Kill):
            threading.Thread(target=self.docker.kill, args=(name,), name="kill", daemon=True).start()
        elif isinstance(action, SaveEvidence):
            self._save_evidence(action)
        elif isinstance(action, Exit):
            self.ended = True

    def _start(self) -> None:
        self.start_error = self.docker.start(self.spec.container)
        self.container.look()

    def _stop(self, timeout: float) -> None:
        self.docker.stop(self.spec.container, timeout)
        self.container.look()

    def _save_evidence(self, action: SaveEvidence) -> None:
        name, now = self.spec.container, time.time()
        folder = evidence.folder_of(self.paths, name, action.word, now)
        if self.state.last_restart is not None:
            self.state.last_restart = replace(self.state.last_restart, evidence=str(folder))
        why = {
            "container": name,
            "replica": self.spec.replica,
            "rank": self.spec.rank,
            # What ended is the epoch that was told so far.
            "epoch": self._said.epoch if self._said is not None else self.state.epoch,
            "word": action.word,
            "reason": action.reason,
            "at": now,
            "peers": {rank: repr(heard.message) for rank, heard in self.peers.items()},
        }
        say(f"{action.reason}; evidence in {folder}")
        self.jobs.add("evidence", lambda: self._collect(action.word, why, now))

    def _collect(self, word: str, why: dict[str, Any], now: float) -> None:
        evidence.collect(self.paths, self.docker, self.spec.container, word, why, now)

    def _start_anew(self) -> None:
        """Take over the new program and spec in this very process; the container runs on and is adopted."""
        self.reloading = False
        try:
            read_spec(self.paths, self.spec.container)
        except SpecError as error:
            say(f"the spec is not taken over: {error}")
            return
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT, signal.SIGHUP})
        say("starts anew with the program and spec that are there now")
        if self.rotation is not None:
            self.rotation.hand_on()
        os.execv(sys.executable, sys.orig_argv)

    # Edges

    def _begin(self) -> State:
        offset = time.time() - clock()
        try:
            text = self.paths.state(self.spec.container).read_text(encoding="utf-8")
        except OSError:
            text = ""
        saved, host_restarted = read_saved(text, self.spec, self.boot, offset)
        return begin(self.spec, saved, clock(), host_restarted)

    def _bind(self, selector: selectors.BaseSelector) -> None:
        if self.spec.world_size == 1 or self.fabric.socket is not None:
            return
        error = self.fabric.bind()
        if self.fabric.socket is not None:
            selector.register(self.fabric.socket, selectors.EVENT_READ)
        elif error != self.bind_error:
            say(error)
        self.bind_error = error

    def _hear(self) -> None:
        now = clock()
        for told in self.fabric.hear():
            if told.generation == self.spec.generation:
                self.peers[told.rank] = Heard(told, now)
            else:
                self.strangers[told.rank] = (told.generation, now)

    def _progress(self) -> Progress:
        return self.engine.progress() if self.engine is not None else Progress()

    def _shortage(self) -> str:
        """That a host of the replica is short of memory, in words."""
        ranks = [f"rank {rank}" for rank, heard in sorted(self.peers.items()) if heard.message.pressure]
        peers = f"the host of {', '.join(ranks)} is short of memory" if ranks else ""
        return "; ".join(part for part in (self.memory.pressure.words, peers) if part)

    def _rotation(self, shortage: str) -> dict[str, Any]:
        place = self.rotation.shown() if self.rotation is not None else NOWHERE
        return {**place, "pressure": bool(shortage)}

    def _changing(self) -> bool:
        """Whether a deployment of this rank is not committed yet."""
        try:
            change = journal.read(self.paths)
        except (ValueError, OSError):
            return False
        return change is not None and change.new == self.spec.container and change.phase == journal.BEGUN

    def _write_live(self, seen: Seen, rotation: dict[str, Any], offset: float) -> None:
        self._next_write = clock() + WRITE
        words = (
            self.bind_error,
            waiting_for(self.spec, self.state, seen),
            self.rotation.words() if self.rotation is not None else "",
        )
        content = live_state(
            self.spec,
            self.state,
            self.peers,
            self.memory.memory,
            self._progress(),
            "; ".join(part for part in words if part),
            rotation,
            os.getpid(),
            offset,
            clock(),
        )
        self._write(self.paths.live(self.spec.container), json.dumps(content) + "\n")

    def _write(self, path: Path, text: str) -> None:
        """Write a state file. A full disk must not end the supervision."""
        try:
            write_whole(path, text.encode())
        except OSError as error:
            say(f"{path} cannot be written: {error.strerror}")

    def _tell(self) -> None:
        state = self.state
        text = f"{state.phase}, epoch {state.epoch}"
        reason = state.failed or state.reason
        if reason:
            text += f": {reason}"
        if text != self._told:
            self._told = text
            say(text)
        self.notifier.tell("READY=1", f"STATUS={text}", "WATCHDOG=1")
        if self.leaving:
            # An engine may take longer to stop than the unit file can know.
            self.notifier.tell(f"EXTEND_TIMEOUT_USEC={LEAVE_MORE}")

    def _wake(self) -> None:
        os.eventfd_write(self._news, 1)

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        if number == signal.SIGHUP:
            self.reloading = True
        else:
            self.leaving = True
        self._wake()


def end_at_once(failed: threading.ExceptHookArgs) -> None:
    """A thread that ended would leave the rank unwatched; the supervisor that systemd starts next adopts the engine."""
    threading.__excepthook__(failed)
    os._exit(70)


def read_spec(paths: HostPaths, container: str) -> Spec:
    """The spec of a rank.

    :raises SpecError: it is not there or not sound
    """
    path = paths.spec(container)
    try:
        return parse(path.read_bytes())
    except OSError as error:
        raise SpecError(f"{path} cannot be read ({error.strerror}); deploy again") from error
