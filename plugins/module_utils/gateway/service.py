# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The gateway's units on its host: how they are, and small acts on them. An edge: it runs systemctl and journalctl."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from ansible_collections.dgxspark.serving.plugins.module_utils.facts import look
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.raw import MISSING, Output
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.unit_state import PROPERTIES, State, parse_state
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.host import Refused

# Runs a command.
Runner = Callable[[Sequence[str]], Output]

# Seconds for a command; a unit has to stop within TimeoutStopSec before it starts anew.
PATIENCE = 120.0
# Lines of a unit's journal in which the cause of a failure is looked for.
LINES = 60


def run(argv: Sequence[str]) -> Output:
    """Run a command in English."""
    return look.run(argv, PATIENCE)


class Service:
    """A unit.

    :param run: runs a command; tests give one that only pretends
    """

    def __init__(self, name: str, run: Runner = run) -> None:
        self.name = name
        self._run = run

    def state(self) -> State:
        """How it is now."""
        return parse_state(self._run(["systemctl", "show", "--timestamp=unix", "-p", PROPERTIES, self.name]).out)

    def enable(self, wanted: bool) -> None:
        """Let it start at boot, or not; without ``daemon-reload`` (field fault D08)."""
        self._must("enable" if wanted else "disable", "--no-reload")

    def start(self) -> None:
        """Start it."""
        self._run(["systemctl", "reset-failed", self.name])
        self._must("start")

    def restart(self) -> None:
        """Stop and start it."""
        self._run(["systemctl", "reset-failed", self.name])
        self._must("restart")

    def reload(self) -> None:
        """Have it read its files, while it goes on with what it does."""
        self._must("reload")

    def stop(self) -> None:
        """Stop it, and forget that it had failed."""
        self._must("stop")
        self._run(["systemctl", "reset-failed", self.name])

    def remove(self, path: Path) -> None:
        """Stop it for good.

        :param path: of its file
        """
        self.stop()
        self.enable(False)
        path.unlink(missing_ok=True)

    def said(self, since: float) -> str:
        """What it has said since then."""
        argv = ["journalctl", "--unit", self.name, f"--since=@{since:.0f}", "--lines", str(LINES)]
        return self._run([*argv, "--output", "cat", "--no-pager", "--quiet"]).out

    def warnings(self, lines: int, level: str) -> str:
        """Its last lines of this level or worse, one JSON each."""
        argv = ["journalctl", "--unit", self.name, "--priority", level, "--lines", str(lines)]
        return self._run([*argv, "--output", "json", "--no-pager", "--quiet"]).out

    def _must(self, verb: str, *options: str) -> None:
        done = self._run(["systemctl", verb, *options, self.name])
        if done.code:
            words = " ".join(done.err.split()) or f"code {done.code}"
            raise Refused(f"systemctl {verb} {self.name} failed: {words}.")


def containers(run: Runner = run) -> list[str] | None:
    """Names of the containers that run here, from which a ``daemon-reload`` could take the GPU; None when not known."""
    done = run(["docker", "ps", "--format", "{{.Names}}"])
    if done.code == MISSING:
        return []
    return done.out.split() if done.code == 0 else None


def read_units(run: Runner = run) -> None:
    """Let systemd read its units anew; the caller makes sure that no container runs (field fault D08)."""
    run(["systemctl", "daemon-reload"])


def children(pid: int, proc: Path = Path("/proc")) -> set[int]:
    """Processes that a process has made."""
    found = set()
    for entry in proc.iterdir():
        if entry.name.isdigit() and pid and _parent(entry) == pid:
            found.add(int(entry.name))
    return found


def _parent(process: Path) -> int:
    try:
        # The name of the program, in brackets, may hold anything.
        return int((process / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return 0  # gone meanwhile
