# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The place of a replica in the gateways' rotation: what its supervisor knows, told to those who ask. An edge."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from . import admission, drained
from .admission import Standing
from .door import Door
from .door_request import AGENT, READY, Asked, http_answer
from .engine import Engine
from .health_look import HealthLook
from .hostpaths import HostPaths
from .progress import Sample
from .proof import Prover
from .spec import Health, Spec
from .state import SERVING, Run, State
from .told import Told
from .watch import clock


class Rotation:
    """Of rank 0. It reads what the supervisor decides, and decides nothing.

    :param place: where gateways ask
    :param proven: the run that an earlier supervisor has proven
    :param changed: called when there is something new to write
    """

    def __init__(
        self,
        spec: Spec,
        place: Health,
        paths: HostPaths,
        engine: Engine,
        proven: Run | None,
        changed: Callable[[], None],
    ) -> None:
        self._flag = paths.drain
        self._health = HealthLook(engine)
        self._prover = Prover(engine, spec.served_model_name, proven, changed)
        self._door = Door(place.address, place.port, self.answer, changed)
        self._told = Told(clock())
        self._standing = Standing(spec.replica)
        self._is_open = False

    def know(self, state: State, reason: str, pressure: str, sample: Sample | None) -> None:
        """Take what the supervisor knows now. The door opens with the first of it.

        :param reason: why the replica is in its phase, or what it waits for
        :param pressure: that a host of the replica is short of memory, in words
        :param sample: the last look at the engine's metrics
        """
        run = state.run if state.phase == SERVING else None
        self._prover.want(run)
        self._standing = Standing(
            replica=self._standing.replica,
            phase=state.phase,
            reason=reason,
            proven=run is not None and self._prover.proven() == run,
            failure=self._prover.failure(),
            pressure=pressure,
            running=sample.running if sample is not None else None,
            waiting=sample.waiting if sample is not None else None,
        )
        if not self._is_open:
            self._is_open = True
            self._prover.begin()
            self._door.begin()

    def shown(self) -> dict[str, Any]:
        """The same for the live state."""
        flag, trouble = self._drained(), self._trouble()
        return {
            "ready": not trouble,
            "not_ready": trouble,
            "draining": asdict(flag) if flag is not None else None,
            "door": self._door.error,
        }

    def words(self) -> str:
        """What keeps a replica that serves out of rotation; empty when nothing does."""
        trouble = self._trouble() if self._standing.phase == SERVING else ""
        return "; ".join(part for part in (self._door.error, trouble) if part)

    def hand_on(self) -> None:
        """Leave the door open to the program that takes over in this process."""
        self._door.hand_on()

    def proven(self) -> Run | None:
        """The run that has generated."""
        return self._prover.proven()

    def answer(self, asked: Asked, address: str) -> bytes:
        """Answer a question at the door."""
        standing, flag = self._standing, self._drained()
        if asked.what == AGENT:
            self._told.note(address, flag is not None, clock())
            return admission.agent_line(standing, flag).encode() + b"\n"
        if asked.what == READY:
            health = self._health.trouble() if standing.could_serve else ""
            if asked.new:
                self._told.note(address, flag is not None, clock())
            told = self._told.shown(flag is not None, clock())
            return http_answer(*admission.answer(standing, health, flag, told, asked.new))
        return http_answer(asked.status, {"error": "ask for GET /ready or GET /ready?new=1"})

    def _trouble(self) -> str:
        return admission.not_ready(self._standing, self._health.lately())

    def _drained(self) -> drained.Drained | None:
        return drained.read(self._flag, self._standing.replica, time.time())
