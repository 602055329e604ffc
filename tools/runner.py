# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run steps side by side: a log for each, lines that show that it lives, a table at the end."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.child import Child
from tools.lanes import Step, next_step

SAY_EVERY = 15.0  # seconds between two "still running" lines of one step
TAIL_LINES = 200
LAST_BYTES = 4096
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
Say = Callable[[str], None]


@dataclass(frozen=True)
class Result:
    """How a step ended: exit code (None = ended by us after its limit), seconds, and where its output is."""

    name: str
    code: int | None
    seconds: float
    log: Path

    @property
    def passed(self) -> bool:
        """Say whether the step went well."""
        return self.code == 0

    @property
    def verdict(self) -> str:
        """Return the word for the table."""
        if self.code is None:
            return "TIMED OUT"
        return "passed" if self.passed else f"FAILED ({self.code})"


@dataclass
class Running:
    """A step that runs."""

    step: Step
    child: Child
    log: Path
    began: float
    said: float


def log_name(step_name: str) -> str:
    """Return the file name of a step's log."""
    return re.sub(r"[^a-z0-9]+", "-", step_name.lower()).strip("-") + ".log"


def last_line(text: str, width: int = 120) -> str:
    """Return the last line with anything on it, without terminal colours, cut to a width."""
    lines = [line.strip() for line in ESCAPES.sub("", text).replace("\r", "\n").splitlines()]
    filled = [line for line in lines if line]
    return filled[-1][:width] if filled else "(no output yet)"


def tail(text: str, lines: int = TAIL_LINES) -> str:
    """Return the last lines of a text."""
    return "\n".join(text.splitlines()[-lines:])


def table(results: Sequence[Result]) -> str:
    """Return the final table and, as its last line, the count."""
    width = max((len(result.name) for result in results), default=0)
    rows = [f"{result.name:<{width}}  {result.verdict:<12}{result.seconds:7.1f} s" for result in results]
    failed = sum(not result.passed for result in results)
    return "\n".join([*rows, f"{len(results) - failed} passed, {failed} failed"])


def _end_of(path: Path) -> str:
    """Return the last bytes of a log as text."""
    with path.open("rb") as stream:
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(0, size - LAST_BYTES))
        return stream.read().decode(errors="replace")


class Runner:
    """Runs steps in a folder with an environment, and keeps their results."""

    def __init__(self, folder: Path, logs: Path, environment: Mapping[str, str], say: Say) -> None:
        """Take where to run, where logs go, and how to speak."""
        self._folder = folder
        self._logs = logs
        self._environment = environment
        self._say = say
        self._running: list[Running] = []
        self.results: list[Result] = []

    def run(self, steps: Sequence[Step]) -> None:
        """Run all steps, each whether or not others fail; whatever is raised, no child outlives this call."""
        self._logs.mkdir(parents=True, exist_ok=True)
        pending = list(steps)
        try:
            while pending or self._running:
                while step := next_step(pending, [running.step for running in self._running]):
                    pending.remove(step)
                    self._start(step)
                time.sleep(0.2)
                for running in list(self._running):
                    self._look(running)
        finally:
            for running in self._running:
                running.child.stop()
            self._running.clear()

    def _start(self, step: Step) -> None:
        """Start one step."""
        log = self._logs / log_name(step.name)
        self._say(f"start   {step.name}")
        with log.open("wb") as output:
            child = Child(step.argv, self._folder, self._environment, output)
        now = time.monotonic()
        self._running.append(Running(step, child, log, now, now))

    def _look(self, running: Running) -> None:
        """See whether a step has ended or hangs, and say that it lives when it is time for that."""
        now = time.monotonic()
        seconds = now - running.began
        code = running.child.poll()
        if code is None and seconds <= running.step.limit:
            if now - running.said >= SAY_EVERY:
                running.said = now
                self._say(f"running {running.step.name}, {seconds:.0f} s: {last_line(_end_of(running.log))}")
            return
        running.child.stop()
        self._running.remove(running)
        result = Result(running.step.name, code, seconds, running.log)
        self.results.append(result)
        self._say(f"end     {result.name}: {result.verdict} after {seconds:.1f} s")
        if not result.passed:
            self._say(f"the last lines of {running.log}:")
            self._say(tail(running.log.read_text(encoding="utf-8", errors="replace")))
