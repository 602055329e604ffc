# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Samples of a host, once a second, into a file: an edge.

It runs in a process of its own that the benchmark leaves alone. A file beside its own, the lease, says for how long:
its text is seconds from when it was written, 0 to end after one more sample. It is looked at for each sample.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.sampler import lines
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.sampler.container_files import ContainerFiles
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.sampler.gpu_stream import GpuStream
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.sampler.kernel_files import KernelFiles

SAMPLES, LEASE = "samples.jsonl", "lease"
# Seconds that the first sample waits for what is slow to answer first: Docker, nvidia-smi.
FIRST = 1.5
STEP = 0.1


class Host:
    """What is sampled.

    :param root: ``/`` on a host
    :param tell: told in a sentence what cannot be looked at
    """

    def __init__(self, root: Path, tell: Callable[[str], None]) -> None:
        self._kernel, self._gpu = KernelFiles(root), GpuStream(tell)
        self._containers = ContainerFiles(root, tell)

    def sample(self) -> dict[str, Any]:
        """One sample."""
        return {
            "t": round(time.time(), 3),
            **self._kernel.sample(),
            "gpu": self._gpu.sample(),
            "containers": self._containers.sample(),
        }

    def first_sample(self) -> dict[str, Any]:
        """One sample that has the GPU and the containers too, if they answer soon."""
        until = time.monotonic() + FIRST
        self._containers.sample()
        self._containers.wait(FIRST)
        while (found := self.sample())["gpu"]["util_pct"] is None and time.monotonic() < until:
            time.sleep(STEP)
        return found

    def cpu_seconds(self) -> float:
        """CPU time of this process and of nvidia-smi so far."""
        return time.process_time() + self._gpu.cpu_seconds()

    def close(self) -> None:
        """End what runs for it."""
        self._gpu.close()
        self._containers.close()
        self._kernel.close()


class Lease:
    """Until when to sample.

    :param path: where it is written
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._changed = 0
        self._until = 0.0

    def ended(self, now: float) -> bool:
        """Whether it is over. A file that cannot be read, as when its folder was removed, ends it too."""
        try:
            changed = self._path.stat().st_mtime_ns
            if changed != self._changed:
                seconds = float(self._path.read_text(encoding="ascii"))
                self._until, self._changed = now + seconds, changed
        except (OSError, ValueError):
            return True
        return now >= self._until


def run(folder: Path, moved: Callable[[int], None], root: Path = Path("/")) -> dict[str, Any]:
    """Sample until the lease is over.

    :param folder: of the lease, and of the file to write
    :param moved: told the number of samples, so that others see that it is at it
    """
    lease, begin, count = Lease(folder / LEASE), time.monotonic(), 0
    with open(folder / SAMPLES, "a", encoding="utf-8", buffering=1) as file:
        told: set[str] = set()

        def tell(sentence: str) -> None:
            if sentence not in told:
                told.add(sentence)
                file.write(lines.error_line(sentence))

        host = Host(root, tell)
        try:
            cpu, over = host.cpu_seconds(), False
            sample = host.first_sample()
            due = time.monotonic()
            while True:
                # Also the last one is taken after the lease was seen to be over.
                file.write(lines.sample_line(sample))
                count += 1
                moved(count)
                if over:
                    break
                due = max(due + lines.interval_after(count), time.monotonic())
                over = _wait(due, lease)
                sample = host.sample()
            file.write(lines.end_line(host.cpu_seconds() - cpu, time.monotonic() - begin))
        finally:
            host.close()
    return {"samples": count}


def _wait(due: float, lease: Lease) -> bool:
    """Wait until then; whether the lease is over, which is looked for each second at least."""
    while True:
        now = time.monotonic()
        if lease.ended(now):
            return True
        if now >= due:
            return False
        time.sleep(min(due - now, lines.INTERVAL))
