# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A host that pretends: systemd's units and Docker's containers in memory, and a power cut at any command."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.host import REVERT_UNIT, Host
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.hostpaths import HostPaths


class PowerCut(Exception):
    """The process ended here."""


@dataclass
class Box:
    """A container."""

    name: str
    running: bool
    ours: bool = True


@dataclass
class PretendedHost:
    """Answers the commands that :class:`Host` runs.

    :ivar units: state of each rank's unit, by the container's name
    :ivar cut_at: number of the command at which the process ends; 0 for never
    :ivar cut_late: whether that command is still carried out
    """

    root: Path
    boxes: dict[str, Box] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)
    enabled: set[str] = field(default_factory=set)
    timer: bool = False
    stale_unit_file: bool = False
    commands: list[str] = field(default_factory=list)
    cut_at: int = 0
    cut_late: bool = False
    now: float = 1000.0

    def host(self) -> Host:
        return Host(HostPaths(self.root), self.run, lambda: self.now)

    def add(self, identity: str, name: str, running: bool = True, ours: bool = True) -> None:
        self.boxes[identity] = Box(name, running, ours)

    def snapshot(self) -> dict[str, Any]:
        """All that a user would miss."""
        paths = HostPaths(self.root)
        return {
            "boxes": {identity: (box.name, box.running, box.ours) for identity, box in self.boxes.items()},
            "units": {name: state for name, state in self.units.items() if state == "active"},
            "enabled": set(self.enabled),
            "specs": {path.name: path.read_bytes() for path in sorted(paths.specs.glob("*.json"))},
            "change": paths.change.exists(),
            "timer": self.timer,
        }

    def run(self, argv: Sequence[str]) -> tuple[int, str, str]:
        self.commands.append(" ".join(argv))
        cut = self.cut_at == len(self.commands)
        if cut and not self.cut_late:
            raise PowerCut
        answer = self._systemd(argv) if argv[0] != "docker" else self._docker(list(argv[2:]))
        if cut:
            raise PowerCut
        return answer

    def _systemd(self, argv: Sequence[str]) -> tuple[int, str, str]:
        if argv[0] == "systemd-run":
            self.timer = True
            return 0, "", ""
        if argv[0] == "journalctl":
            return 0, "no such spec\n", ""
        verb, unit = argv[1], argv[-1]
        if unit == f"{REVERT_UNIT}.timer":
            state = "active" if self.timer else "inactive"
            self.timer = self.timer and verb != "stop"
            return 0, state, ""
        name = unit.removeprefix("dgxspark-replica@").removesuffix(".service")
        return getattr(self, "_" + verb.replace("-", "_"))(name)

    def _is_active(self, name: str) -> tuple[int, str, str]:
        state = self.units.get(name, "inactive")
        if state == "deactivating":
            self.units[name] = "inactive"
            self._set(name, False)
        return 0, state + "\n", ""

    def _is_enabled(self, name: str) -> tuple[int, str, str]:
        return 0, "enabled\n" if name in self.enabled else "disabled\n", ""

    def _enable(self, name: str) -> tuple[int, str, str]:
        self.enabled.add(name)
        return 0, "", ""

    def _disable(self, name: str) -> tuple[int, str, str]:
        self.enabled.discard(name)
        return 0, "", ""

    def _stop(self, name: str) -> tuple[int, str, str]:
        self.units[name] = "deactivating"
        return 0, "", ""

    def _start(self, name: str) -> tuple[int, str, str]:
        if not HostPaths(self.root).spec(name).exists():
            return 1, "", "Job failed"
        self.units[name] = "active"
        self._set(name, True)
        return 0, "", ""

    def _reload(self, name: str) -> tuple[int, str, str]:
        assert self.units[name] == "active"
        return 0, "", ""

    def _reset_failed(self, name: str) -> tuple[int, str, str]:
        return 0, "", name

    def _show(self, name: str) -> tuple[int, str, str]:
        return 0, "yes\n" if self.stale_unit_file else "no\n", name

    def _daemon_reload(self, name: str) -> tuple[int, str, str]:
        assert not any(box.running and box.ours for box in self.boxes.values()), name
        self.stale_unit_file = False
        return 0, "", ""

    def _set(self, name: str, running: bool) -> None:
        for box in self.boxes.values():
            if box.name == name:
                box.running = running

    def _find(self, text: str) -> str | None:
        return next((identity for identity, box in self.boxes.items() if text in (identity, box.name)), None)

    def _docker(self, argv: list[str]) -> tuple[int, str, str]:
        verb, rest = argv[0], argv[1:]
        identity = self._find(rest[0] if verb == "rename" else rest[-1])
        if identity is None:
            return 1, "[]\n", "Error response from daemon: No such container"
        box = self.boxes[identity]
        if verb == "inspect":
            labels = {"dgxspark.serving.deployment": "x"} if box.ours else {}
            state = {"Running": box.running}
            entry = {"Id": identity, "Name": f"/{box.name}", "State": state, "Config": {"Labels": labels}}
            return 0, json.dumps([entry]), ""
        if verb == "rename":
            if self._find(rest[1]):
                return 1, "", "Conflict. The container name is already in use"
            box.name = rest[1]
        elif verb == "rm":
            del self.boxes[identity]
        elif verb == "start":
            box.running = True
        elif verb in ("stop", "kill"):
            box.running = False
        return 0, "", ""
