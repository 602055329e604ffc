# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The sampler of a host as work in the background: an edge.

Its progress is its own life sign, so that it needs no question: the lease ends it, and a lost connection does not.
"""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any, NoReturn

from ansible_collections.dgxspark.serving.plugins.module_utils.background.folder import JobFolder
from ansible_collections.dgxspark.serving.plugins.module_utils.background.status import FAILED, GONE, RUNNING
from ansible_collections.dgxspark.serving.plugins.module_utils.background.work import Progress, WorkFailed, run_job
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.sampler import lines, sampling

ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
# Seconds that it has for its first sample, and for its last one.
START, END = 5.0, 10.0
STEP = 0.05
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

    def start(self, seconds: float) -> str:
        """Have it sample for so long from now; samples of an earlier part of the run are kept.

        :returns: why it does not; empty when it does
        """
        if self.running:
            self._let(seconds)
            # It may have been about to end.
            time.sleep(STEP)
            if self.running:
                return ""
        kept, work, folder = self._text(), _work(self._folder.path, seconds), self._folder
        try:
            run_job(_Start(folder.path.name), lambda progress: work(progress, kept))
        except _Begun as answer:
            if str(answer):
                return str(answer)
        until = time.monotonic() + START
        while self.running and '"sample"' not in self._text(len(kept.encode())) and time.monotonic() < until:
            time.sleep(STEP)
        status = folder.read()
        return status.error if status and status.state == FAILED else ""

    def stop(self, host: str) -> dict[str, Any] | None:
        """End it.

        :returns: SNAPSHOTS; None when there was no sampler
        """
        folder = self._folder
        if self.running:
            self._let(0)
            until = time.monotonic() + END
            while self.running and time.monotonic() < until:
                time.sleep(STEP)
        text, status = self._text(), folder.read()
        folder.end()
        if not text and status is None:
            return None
        found = lines.snapshots(host, text)
        if status is not None and status.state == RUNNING:
            found["errors"].append(STUCK)
        elif status is not None and status.state == FAILED:
            found["errors"].append(DIED if status.error == GONE else status.error)
        return found

    def _let(self, seconds: float) -> None:
        """Write a lease."""
        part = self._folder.path / "lease.part"
        part.write_text(f"{seconds}", encoding="ascii")
        part.replace(self._folder.path / sampling.LEASE)

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
