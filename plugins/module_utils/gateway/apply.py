# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Have the gateway of a host as wanted, or as it was. An edge: it writes files and starts units."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ansible_collections.dgxspark.serving.plugins.module_utils.gateway import account, answering, decide, units
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.decide import Due, Here, Wanted
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.folder import Folder
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.places import Places
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.service import (
    Runner,
    Service,
    children,
    containers,
    read_units,
    run,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.unit_state import cause
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.host import Refused
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.hostpaths import write_whole

# Seconds until the front answers.
FRONT_SECONDS = 20.0


@dataclass(frozen=True)
class Router:
    """The program behind the front, where there is one.

    :ivar port: of loopback, where it listens
    :ivar alone: whether it works without the front and its replicas; then it starts first, and has to listen in time
    :ivar seconds: until it listens
    """

    port: int
    alone: bool
    seconds: float


class Gateway:
    """The gateway of a host.

    :param run: runs a command; tests give one that only pretends
    """

    def __init__(self, places: Places | None = None, run: Runner = run) -> None:
        self.places = places or Places()
        self.folder = Folder(self.places, run)
        self.services = {name: Service(name, run) for name in decide.UNITS}
        self.run = run

    def look(self) -> Here:
        """How it is."""
        return Here(
            user=account.exists(),
            files=self.folder.content(),
            units=self._units(),
            states={name: service.state() for name, service in self.services.items()},
            listen=self.folder.record().get("listen", {}),
            containers=containers(self.run),
        )

    def _units(self) -> dict[str, str]:
        paths = {name: self.places.unit(name) for name in decide.UNITS}
        return {name: path.read_text(encoding="utf-8") for name, path in paths.items() if path.exists()}

    def change(
        self, here: Here, wanted: Wanted, due: Due, check: Sequence[Sequence[str]], router: Router | None
    ) -> None:
        """Do what is due.

        :raises Refused: when the new one does not work; what was there before is back then
        """
        if not here.user:
            account.make(self.run)
        if due.files:
            self._stage(wanted, check)
        began = time.time()
        try:
            if due.files:
                self.folder.go_live()
            for name in due.write:
                write_whole(self.places.unit(name), wanted.units[name].encode())
            if due.take_up:
                read_units(self.run)
            for name in due.enable:
                self.services[name].enable(True)
            self._work(due.acts, wanted.listen, router, began)
        except (Refused, OSError) as error:
            raise Refused(f"{error} {self._back(here, due)}") from error
        for name in due.leaving:
            self.services[name].remove(self.places.unit(name))

    def _stage(self, wanted: Wanted, check: Sequence[Sequence[str]]) -> None:
        try:
            self.folder.stage(wanted.files, account.group())
            self.folder.check(check)
        except (Refused, OSError):
            self.folder.drop_staged()
            raise

    def _work(self, acts: Mapping[str, str], listen: Mapping[str, object], router: Router | None, began: float) -> None:
        """Start units, or have them start anew or read their files, and wait until they work."""
        steps: list[tuple[str, Callable[[], bool], float, bool]] = [
            (units.FRONT, lambda: answering.answers(listen), FRONT_SECONDS, True)
        ]
        if router:
            step = (units.ROUTER, lambda: answering.listens(router.port), router.seconds, router.alone)
            steps.insert(0 if router.alone else 1, step)
        for name, works, seconds, must in steps:
            if name in acts:
                service = self.services[name]
                before = children(service.state().pid) if acts[name] == decide.RELOAD else None
                try:
                    getattr(service, acts[name])()
                except Refused as error:
                    raise Refused(f"{error} It says: {cause(service.said(began))}.") from error
                answering.until(service, works, seconds, began, before, must)
        if units.ROUTER in acts:
            answering.settle(listen, FRONT_SECONDS)

    def _back(self, here: Here, due: Due) -> str:
        """Bring back what was; how that went, in words."""
        began = time.time()
        was_up = {name: state.active in decide.UP for name, state in here.states.items()}
        try:
            if due.files and not self.places.staged.exists():
                self.folder.go_back(to_previous=bool(here.files))
            self.folder.drop_staged()
            for name in due.write:
                if name in here.units:
                    write_whole(self.places.unit(name), here.units[name].encode())
                else:
                    self.services[name].remove(self.places.unit(name))
            for name in due.enable:
                if name in here.units:
                    self.services[name].enable(False)
            if due.take_up:
                read_units(self.run)
            for name, act in due.acts.items():
                if name in here.units and was_up[name]:
                    # A reload that the program did not like has left the old configuration in place.
                    getattr(self.services[name], act)()
                elif name in here.units:
                    self.services[name].stop()
            if was_up[units.FRONT] and here.listen:
                front = self.services[units.FRONT]
                answering.until(front, lambda: answering.answers(here.listen), FRONT_SECONDS, began)
                return "The gateway that was there before answers again."
            if not here.user:
                account.remove(self.run)
        except (Refused, OSError) as error:
            return f"What was there before could not be brought back: {error}"
        return "The host is as it was before."
