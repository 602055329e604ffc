# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the sampler of a benchmark costs: CPU as a share of one core, and memory.

It samples this machine once a second as module benchmark_sampler has it do, in a process of its own. The lab's stand-in
for nvidia-smi, a Python program, is counted apart; where a real nvidia-smi is installed that one is. The result is
printed and appended to benchmarks/RESULTS.md.
"""

from __future__ import annotations

import argparse
import datetime
import os
import sys
import tempfile
import time
from pathlib import Path

from ansible_collections.dgxspark.serving.plugins.module_utils.background import folder as folders
from ansible_collections.dgxspark.serving.plugins.module_utils.background.folder import JobFolder
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.sampler.job import SamplerJob
from ansible_collections.dgxspark.serving.plugins.module_utils.report.table import table
from lab.programs import HOST_IMAGE

RESULTS = Path(__file__).with_name("RESULTS.md")
HEADER = ("process", "seconds", "samples", "CPU % of a core", "RSS MB")
RUN = "cost"


def cpu_seconds(pid: int) -> float:
    """User and system time of a process, without its children."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_mb(pid: int) -> float:
    """Resident memory of a process in MB (10^6 bytes)."""
    pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def child_of(pid: int) -> int:
    """The only child of a process."""
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()[0])


def put_stand_in_on_path(folder: Path) -> None:
    """Have the lab's nvidia-smi, as a host of the lab runs it."""
    program = folder / "nvidia-smi"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -SE {HOST_IMAGE / "nvidia_smi.py"} "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    os.environ["PATH"] = f"{os.environ['PATH']}:{folder}"


def measure(seconds: float) -> list[tuple[str, ...]]:
    """A line of the result for the sampler and one for nvidia-smi."""
    job = SamplerJob(RUN)
    if trouble := job.start(seconds + 60):
        sys.exit(trouble)
    pid = int((JobFolder(f"sampler-{RUN}").path / "lock").read_text(encoding="ascii"))
    pids = {"sampler": pid, "nvidia-smi": child_of(pid)}
    start, before = time.monotonic(), {name: cpu_seconds(one) for name, one in pids.items()}
    time.sleep(seconds)
    took = time.monotonic() - start
    spent = {name: cpu_seconds(one) - before[name] for name, one in pids.items()}
    resident = {name: resident_mb(one) for name, one in pids.items()}
    found = job.stop("here")
    samples = len(found["samples"]) if found else 0
    return [
        (name, f"{took:.0f}", str(samples), f"{100 * spent[name] / took:.2f}", f"{resident[name]:.1f}") for name in pids
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=30.0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        put_stand_in_on_path(Path(folder))
        folders.jobs_root = lambda: Path(folder) / "jobs"
        rows = measure(options.seconds)
    lines = "\n".join(table(HEADER, rows))
    print(lines)
    today = datetime.datetime.now(tz=datetime.timezone.utc).date()
    with RESULTS.open("a", encoding="utf-8") as file:
        file.write("\n## A benchmark's sampler\n\nThe aim is under 1 % of one core.\n")
        file.write(f"\n### {today}, {os.cpu_count()} cores\n\n```text\n{lines}\n```\n")


if __name__ == "__main__":
    main()
