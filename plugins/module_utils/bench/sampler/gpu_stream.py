# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""nvidia-smi as one long-lived process that says a line each second: an edge.

Starting it costs some hundred milliseconds of CPU, which a sample a second cannot pay. A driver that hangs must not
hold up the samples: its lines are taken when they are there, and missed when they are not.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.sampler import parse, throttle

# The last ones are for drivers that do not know the field of the first.
COMMANDS = tuple(
    (
        "nvidia-smi",
        f"--query-gpu={','.join((*parse.GPU_FIELDS.values(), *more))}",
        "--format=csv,noheader,nounits",
        "-lms",
        "1000",
    )
    for more in (*((field,) for field in throttle.FIELDS), ())
)
# What it says instead of all figures when it does not know one of the fields.
UNKNOWN_FIELD = "is not a valid field to query"
# Seconds after which what it said is too old, after which it counts as hung, and until it is tried again.
STALE = 3.0
HUNG = 15.0
AGAIN = 60.0
# What it may say in one go before it is taken to be something else.
MOST = 65536


class GpuStream:
    """The GPU as nvidia-smi sees it.

    :param tell: told in a sentence what is wrong, once for each thing
    :param commands: the first is begun with; one that asks for a field that is not known gives way to the next
    """

    def __init__(
        self,
        tell: Callable[[str], None],
        commands: Sequence[Sequence[str]] = COMMANDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._tell, self._clock = tell, clock
        self._command, *self._others = commands
        self._process: subprocess.Popen[bytes] | None = None
        self._rest = b""
        self._line = ""
        self._heard = self._next_try = clock()
        self._cpu_before = 0.0
        self._start()

    def sample(self) -> dict[str, Any]:
        """What it said last; all None when that is too long ago."""
        now = self._clock()
        if self._process is None and now >= self._next_try:
            self._start()
        if self._process is not None:
            self._listen(now)
        return parse.gpu(self._line) if self._line and now - self._heard <= STALE else parse.nothing_of_gpu()

    def cpu_seconds(self) -> float:
        """CPU time of all its processes so far."""
        return self._cpu_before + (_cpu_seconds(self._process.pid) if self._process else 0.0)

    def close(self) -> None:
        """End it."""
        process, self._process = self._process, None
        if process is None:
            return
        self._cpu_before += _cpu_seconds(process.pid)
        with suppress(OSError):
            process.kill()
        # One that hangs in the kernel does not even die: it is left to itself.
        with suppress(subprocess.TimeoutExpired):
            process.wait(0.5)
        if process.stdout is not None:
            process.stdout.close()

    def _start(self) -> None:
        self._heard, self._rest, self._line = self._clock(), b"", ""
        try:
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
            )
        except OSError as error:
            self._fail(f"nvidia-smi cannot be started ({error.strerror}): nothing is known of the GPU.")
            return
        if self._process.stdout is not None:
            os.set_blocking(self._process.stdout.fileno(), False)

    def _listen(self, now: float) -> None:
        process = self._process
        if process is None or process.stdout is None:
            return
        try:
            said: bytes | None = os.read(process.stdout.fileno(), MOST)
        except BlockingIOError:
            said = None
        except OSError:
            said = b""
        if said:
            lines = (self._rest + said).split(b"\n")
            self._rest = lines.pop()[-MOST:]
            lines = [line for line in lines if line.strip()]
            if lines:
                self._line, self._heard = lines[-1].decode(errors="replace").strip(), now
                if UNKNOWN_FIELD in self._line and self._others:
                    self.close()
                    self._command = self._others.pop(0)
                    self._start()
                elif "," not in self._line:
                    self._fail(f"nvidia-smi says {self._line!r} instead of figures: nothing is known of the GPU.")
        elif said == b"":
            code = process.poll()
            how = "closed its output" if code is None else f"ended with status {code}"
            self._fail(f"nvidia-smi {how}: nothing more is known of the GPU.")
        elif now - self._heard > HUNG:
            self._fail(f"nvidia-smi has said nothing for {HUNG:.0f} s: nothing more is known of the GPU.")

    def _fail(self, sentence: str) -> None:
        self._tell(f"{sentence} Run nvidia-smi on the host, and see dmesg for what the driver says.")
        self.close()
        self._line = ""
        self._next_try = self._clock() + AGAIN


def _cpu_seconds(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, IndexError, ValueError):
        return 0.0
