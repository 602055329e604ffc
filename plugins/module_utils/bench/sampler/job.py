# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The sampler of a host as work in the background: an edge.

Its progress is its own life sign, so that it needs no question: the lease ends it, and a lost connection does not.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

from ansible_collections.dgxspark.serving.plugins.module_utils.background.folder import JobFolder
from ansible_collections.dgxspark.serving.plugins.module_utils.background.status import FAILED, GONE, RUNNING
from ansible_collections.dgxspark.serving.plugins.module_utils.background.work import Progress, WorkFailed, run_job
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.sampler import lines, sampling, standing

ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
# Seconds that it has for its first sample, and for its last one.
START, END = 5.0, 10.0
STEP = 0.05
# What was so before the run, beside the samples.
BEFORE = "before.json"
DIED = "The sampler ended without a word, as when it is killed or the host was started anew: its samples end there."
STUCK = f"The sampler did not end within {END:.0f} s and was killed: its last sample may be old."


class _Begun(Exception):
    """The process is there; or, with words, is not."""


class _Start:
    """The module as work in the background wants it: a start that waits for nothing."""

    def __init__(self, name: str) -> None:
        self.params: dict[str, Any] = {"job_stage": "start", "job_id": name, "job_wait": 0.0}
        self.check_mode = False

    def exit_json(self, **result: Any) -> NoReturn:
        raise _Begun

    def fail_json(self, msg: str, **result: Any) -> NoReturn:
        raise _Begun(msg)


class SamplerJob:
    """The sampler of one run on this host.

    :param run: names the run
    """

    def __init__(self, run: str) -> None:
        self._folder = JobFolder(f"sampler-{run}")

    @property
    def running(self) -> bool:
        """Whether it samples."""
        return self._folder.alive()

    def start(self, seconds: float, look: Callable[[], Mapping[str, Any]] = dict) -> str:
        """Have it sample for so long from now; samples of an earlier part of the run are kept.

        :param look: what is so before the run; called unless an earlier part has it already
        :returns: why it does not; empty when it does
        """
        if self.running:
            self._let(seconds)
            # It may have been about to end.
            time.sleep(STEP)
            if self.running:
                return ""
        kept, work, folder = self._text(), _work(self._folder.path, seconds), self._folder
        # Work that begins has an empty folder.
        before = self._before() or look()
        try:
            run_job(_Start(folder.path.name), lambda progress: work(progress, kept))
        except _Begun as answer:
            if str(answer):
                return str(answer)
        with suppress(OSError):
            (folder.path / BEFORE).write_text(standing.encoded(before), encoding="utf-8")
        until = time.monotonic() + START
        while self.running and '"sample"' not in self._text(len(kept.encode())) and time.monotonic() < until:
            time.sleep(STEP)
        status = folder.read()
        return status.error if status and status.state == FAILED else ""

    def stop(self, host: str, look: Callable[[], Mapping[str, Any]] = dict) -> dict[str, Any] | None:
        """End it; what it has seen stays until it is forgotten, as the report may not come to be written.

        :param look: what is so after the run; called when there was a sampler
        :returns: SNAPSHOTS; None when there was no sampler
        """
        folder = self._folder
        if self.running:
            self._let(0)
            until = time.monotonic() + END
            while self.running and time.monotonic() < until:
                time.sleep(STEP)
        text, status, before = self._text(), folder.read(), self._before()
        if not text and status is None:
            return None
        folder.end()
        self._keep(text, before)
        found = {**lines.snapshots(host, text), **standing.both(before, look())}
        if status is not None and status.state == RUNNING:
            found["errors"].append(STUCK)
        elif status is not None and status.state == FAILED:
            found["errors"].append(DIED if status.error == GONE else status.error)
        return found

    def forget(self) -> None:
        """End it and remove what it has seen."""
        self._folder.end()

    def _keep(self, text: str, before: Mapping[str, Any] | None) -> None:
        """Lay down what a sampler that ended has seen: one that is started for the same run goes on with it."""
        with suppress(OSError):
            self._folder.make()
            (self._folder.path / sampling.SAMPLES).write_text(text, encoding="utf-8")
            if before is not None:
                (self._folder.path / BEFORE).write_text(standing.encoded(before), encoding="utf-8")

    def _let(self, seconds: float) -> None:
        """Write a lease."""
        part = self._folder.path / "lease.part"
        part.write_text(f"{seconds}", encoding="ascii")
        part.replace(self._folder.path / sampling.LEASE)

    def _before(self) -> dict[str, Any] | None:
        """What was so before the run, if it was kept."""
        try:
            return standing.decoded((self._folder.path / BEFORE).read_text(encoding="utf-8"))
        except OSError:
            return None

    def _text(self, start: int = 0) -> str:
        """What it has written, from some byte on."""
        try:
            with open(self._folder.path / sampling.SAMPLES, "rb") as file:
                file.seek(start)
                return file.read().decode(errors="replace")
        except OSError:
            return ""


def _work(folder: Path, seconds: float) -> Any:
    """What the process does."""

    def work(progress: Progress, kept: str) -> dict[str, Any]:
        try:
            (folder / sampling.LEASE).write_text(f"{seconds}", encoding="ascii")
            if kept:
                # Its last line may be half of one.
                (folder / sampling.SAMPLES).write_text(f"{kept}\n", encoding="utf-8")
            return sampling.run(folder, lambda count: progress.tell(count, 0, "sampling"))
        except OSError as error:
            raise WorkFailed(f"The sampler cannot write to {folder}: {error.strerror}. Make room there.") from error

    return work
