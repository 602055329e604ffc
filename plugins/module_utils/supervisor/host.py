# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The host that a change works on, by the commands of systemd and Docker: an edge, it runs processes."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .hostpaths import HostPaths, unit_name, write_whole

# Runs a command; gives its code, standard output and standard error.
Runner = Callable[[Sequence[str]], tuple[int, str, str]]

OURS = "dgxspark.serving.deployment"
REVERT_UNIT = "dgxspark-serving-revert"
# Seconds between two looks of the host at a change whose lease is over.
REVERT_EVERY = 30
# States of a unit in which something is still there to be stopped.
UP = ("active", "activating", "reloading")
GOING = ("deactivating",)


class Refused(Exception):
    """A change that cannot go on; ``str()`` is the text for the user."""


def run_process(argv: Sequence[str]) -> tuple[int, str, str]:
    """Run a command in English and give its code, standard output and standard error."""
    done = subprocess.run(
        list(argv),
        check=False,
        capture_output=True,
        text=True,
        errors="replace",
        stdin=subprocess.DEVNULL,
        env={**os.environ, "LC_ALL": "C.UTF-8"},
    )
    return done.returncode, done.stdout, done.stderr


@dataclass(frozen=True)
class Seen:
    """A container as Docker shows it."""

    id: str
    name: str
    running: bool
    ours: bool


class Host:
    """Small acts on a host, each of which may be done twice.

    :param run: runs a command; tests give one that only pretends
    :param clock: Unix seconds
    """

    def __init__(
        self, paths: HostPaths | None = None, run: Runner = run_process, clock: Callable[[], float] = time.time
    ) -> None:
        self.paths = paths or HostPaths()
        self.run = run
        self.now = clock

    # Files

    def put(self, path: Any, content: bytes) -> bool:
        """Write a file unless it is so already; says whether it was written."""
        if self.read(path) == content:
            return False
        write_whole(path, content)
        return True

    def read(self, path: Any) -> bytes | None:
        """A file's content; None when there is none."""
        try:
            return path.read_bytes()
        except FileNotFoundError:
            return None

    def read_json(self, path: Any) -> dict[str, Any] | None:
        """A JSON object from a file; None when there is none, or none that can be read."""
        try:
            data = json.loads(self.read(path) or b"null")
        except ValueError:
            return None
        return data if isinstance(data, dict) else None

    # Units

    def unit_state(self, name: str) -> str:
        """The state of a rank's unit: ``active``, ``inactive``, ``failed``, ``activating``, ``deactivating`` ..."""
        return self.run(["systemctl", "is-active", unit_name(name)])[1].strip() or "inactive"

    def enabled(self, name: str) -> bool:
        """Whether a rank's unit starts at boot."""
        return self.run(["systemctl", "is-enabled", unit_name(name)])[1].strip() == "enabled"

    def enable(self, name: str, wanted: bool) -> bool:
        """Let a rank's unit start at boot or not; says whether that is a change.

        Without ``daemon-reload``: that takes the GPU from the containers that run (field fault D08).
        """
        if self.enabled(name) == wanted:
            return False
        self._systemctl("enable" if wanted else "disable", "--no-reload", unit_name(name))
        return True

    def start_unit(self, name: str, wait: bool) -> None:
        """Start a rank's unit.

        :param wait: whether to wait until its supervisor says that it is there
        :raises Refused: when it does not start, with the last lines of its journal
        """
        unit = unit_name(name)
        self.run(["systemctl", "reset-failed", unit])
        code, _out, err = self.run(["systemctl", "start", *([] if wait else ["--no-block"]), unit])
        if code:
            log = self.run(["journalctl", "--unit", unit, "--lines", "5", "--output", "cat", "--no-pager"])[1]
            said = " | ".join(line.strip() for line in log.splitlines() if line.strip()) or " ".join(err.split())
            raise Refused(f"{unit} did not start: {said}. Read more with: journalctl -u {unit}")

    def reload_unit(self, name: str) -> None:
        """Let a supervisor start anew in place; the engine is not touched."""
        self._systemctl("reload", unit_name(name))

    def stop_unit(self, name: str) -> bool:
        """Ask a rank's unit to stop if it is up; says whether it is still there."""
        state = self.unit_state(name)
        if state in UP:
            self._systemctl("stop", "--no-block", unit_name(name))
        return state in UP or state in GOING

    def take_up_unit_file(self, name: str) -> None:
        """Let systemd read a changed unit file; only while no engine of ours runs (field fault D08)."""
        stale = self.run(["systemctl", "show", "--property", "NeedDaemonReload", "--value", unit_name(name)])[1]
        if stale.strip() == "yes":
            self._systemctl("daemon-reload")

    def arm_revert(self, seconds: float) -> None:
        """Let the host look at the change by itself after so many seconds, and then again and again."""
        self.disarm_revert()
        self._must(
            [
                "systemd-run",
                f"--unit={REVERT_UNIT}",
                "--description=Take back a change of dgxspark.serving that nobody finishes",
                "--collect",
                f"--on-active={max(1, round(seconds))}",
                f"--on-unit-inactive={REVERT_EVERY}",
                "--timer-property=AccuracySec=1s",
                "python3",
                str(self.paths.program),
                "revert",
            ]
        )

    def disarm_revert(self) -> None:
        """End the host's own looks at the change."""
        if self.revert_armed():
            self._systemctl("stop", f"{REVERT_UNIT}.timer")

    def revert_armed(self) -> bool:
        """Whether the host looks at the change by itself."""
        return self.run(["systemctl", "is-active", f"{REVERT_UNIT}.timer"])[1].strip() == "active"

    # Containers

    def container(self, id_or_name: str) -> Seen | None:
        """A container, or None when there is none."""
        code, out, err = self.run(["docker", "container", "inspect", id_or_name])
        if code and "no such container" not in err.lower():
            raise Refused(f"Docker does not answer: {' '.join(err.split())}. Start it with: systemctl start docker")
        for entry in json.loads(out or "[]"):
            labels = entry["Config"].get("Labels") or {}
            return Seen(entry["Id"], entry["Name"].removeprefix("/"), entry["State"]["Running"], OURS in labels)
        return None

    def rename(self, container: str, name: str) -> None:
        self._must(["docker", "container", "rename", container, name])

    def remove(self, container: str) -> None:
        """Remove a container, running or not."""
        if self.container(container) is not None:
            self._must(["docker", "container", "rm", "--force", container])

    def start(self, container: str) -> None:
        self._must(["docker", "container", "start", container])

    def signal(self, container: str, signal: str) -> None:
        """Send a signal; a container that ended meanwhile is no fault."""
        self.run(["docker", "container", "kill", "--signal", signal, container])

    def _systemctl(self, *arguments: str) -> None:
        self._must(["systemctl", *arguments])

    def _must(self, argv: Sequence[str]) -> None:
        code, out, err = self.run(argv)
        if code:
            raise Refused(f"'{' '.join(argv)}' failed with code {code}: {' '.join((err or out).split())}.")
