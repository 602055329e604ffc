# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A program in a process group of its own, so that all that it starts can be ended with it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

GRACE = 20.0  # seconds that a group gets after SIGTERM: enough for Molecule or pytest to take its hosts down


class Child:
    """A running program; its output goes to a file, or to ours."""

    def __init__(
        self,
        argv: Sequence[str],
        folder: Path,
        environment: Mapping[str, str] | None = None,
        output: IO[bytes] | None = None,
    ) -> None:
        """Start the program; raises FileNotFoundError when there is none of this name."""
        self._process = subprocess.Popen(
            argv,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT if output else None,
            start_new_session=True,
        )

    def poll(self) -> int | None:
        """Return the exit code, or None while the program runs."""
        return self._process.poll()

    def wait(self) -> int:
        """Wait for the program and return its exit code."""
        return self._process.wait()

    def stop(self, grace: float = GRACE) -> None:
        """End the program, and what is left of its group: SIGTERM, up to `grace` seconds, SIGKILL."""
        if self._process.poll() is None:
            self._signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(grace)
        self._signal(signal.SIGKILL)
        self._process.wait()

    def _signal(self, number: signal.Signals) -> None:
        """Send a signal to the whole group, if there is anybody left in it."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)
