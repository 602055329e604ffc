# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a supervisor costs while its replica serves: CPU as a share of one core, and memory.

Two real supervisors of one replica talk over loopback. Docker and the engine only pretend, in this process, whose CPU
does not count. The result is printed and appended to benchmarks/RESULTS.md.
"""

from __future__ import annotations

import argparse
import datetime
import os
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.report.table import table
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.build import build
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.supervisor.fake_host import FakeHost

RESULTS = Path(__file__).with_name("RESULTS.md")
HEADER = ("rank", "seconds", "CPU % of a core", "RSS MB")
ADDRESSES = ("127.0.0.1", "127.0.0.2")
PORT = 29400
LIMITS = {
    "memory_floor": 6 * 1024**3,
    "hung_after": 120,
    "start_timeout": 60,
    "stop_timeout": 5,
    "memory_wait": 60,
    "peer_timeout": 5,
    "restart_limit": 3,
    "restart_window": 600,
}
# Seconds until the pair must serve, and for it to become calm afterwards.
SERVES_WITHIN = 60.0
CALM = 5.0


def spec(rank: int) -> Mapping[str, Any]:
    """The supervision spec of one rank of the pair."""
    return {
        "container": f"r{rank}",
        "deployment": "cost",
        "replica": "cost-0",
        "generation": "0123456789ab",
        "rank": rank,
        "world_size": 2,
        "address": ADDRESSES[rank],
        "group_port": PORT,
        "peers": [{"rank": 1 - rank, "address": ADDRESSES[1 - rank]}],
        "api": "engine" if rank == 0 else "",
        "memory_share": 0.7,
        "limits": LIMITS,
    }


def cpu_seconds(pid: int) -> float:
    """User and system time of a process and of the children that it has waited for."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return sum(int(field) for field in fields[11:15]) / os.sysconf("SC_CLK_TCK")


def resident_mb(pid: int) -> float:
    """Resident memory of a process in MB (10^6 bytes)."""
    pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def wait_until_serving(hosts: list[FakeHost]) -> None:
    until = time.monotonic() + SERVES_WITHIN
    while not all(host.live().get("phase") == "serving" for host in hosts):
        if time.monotonic() > until:
            sys.exit("\n".join(host.journal() for host in hosts))
        time.sleep(0.2)


def measure(folder: Path, seconds: float) -> list[tuple[str, ...]]:
    """One line of the result for each rank."""
    program = folder / "supervisor.pyz"
    program.write_bytes(build())
    hosts = [FakeHost(folder / str(rank), program, spec(rank), []) for rank in (0, 1)]
    try:
        for host in hosts:
            host.start()
        wait_until_serving(hosts)
        time.sleep(CALM)
        pids = [host.process.pid for host in hosts if host.process is not None]
        start, before = time.monotonic(), [cpu_seconds(pid) for pid in pids]
        time.sleep(seconds)
        took = time.monotonic() - start
        return [
            (
                str(rank),
                f"{took:.0f}",
                f"{100 * (cpu_seconds(pid) - before[rank]) / took:.2f}",
                f"{resident_mb(pid):.1f}",
            )
            for rank, pid in enumerate(pids)
        ]
    finally:
        for host in hosts:
            host.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0)
    options = parser.parse_args()
    # Under /tmp whatever TMPDIR says: the path of a Unix socket is short.
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        rows = measure(Path(folder), options.seconds)
    lines = "\n".join(table(HEADER, rows))
    print(lines)
    today = datetime.datetime.now(tz=datetime.timezone.utc).date()
    with RESULTS.open("a", encoding="utf-8") as file:
        file.write("\n## A supervisor while its replica serves\n\nThe aim is under 0.5 % of one core and 30 MB.\n")
        file.write(f"\n### {today}, {os.cpu_count()} cores\n\n```text\n{lines}\n```\n")


if __name__ == "__main__":
    main()
